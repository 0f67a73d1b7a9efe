"""Every primitive's C++ on random well-formed streams: the tokens that must come out."""

import subprocess
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given

from samhw.graph import Arch, Channel, Endpoint, Graph, Memory, MemoryRole, Node, StreamKind, Token
from samhw.graph.numerics import value_type
from samhw.hls import HlsProgram, HlsStream, MemoryPort
from samhw.hls.cpp import INDEX, value_class
from samhw.hls.library import library
from samhw.hls.lower import lower_node
from samhw.hls.program import Argument
from samhw.hls.region_builder import RegionBuilder
from samhw.targets.building.hls_tools import WARNED, compile_cpp
from tests.hls.vitis_in_software import BURSTS
from tests.support.nested import to_stream
from tests.support.strategies.drawn import drawn
from tests.support.stream_cases import CASES, Case
from tests.support.thorough import THOROUGH

EXAMPLES = 80 if THOROUGH else 12
ARCH = Arch()


@dataclass
class Bench:
    """Cases side by side in one design, each node with streams and memories of its own."""

    cases: list[Case]
    off_chip: bool = False
    """Words come and go in lines."""

    def __post_init__(self) -> None:
        self.nodes = [self.rename(k, case) for k, case in enumerate(self.cases)]
        self.graph = Graph(
            "bench",
            value_type("i32"),
            tuple(self.nodes),
            tuple(
                Channel(Endpoint(node.name, port.name), Endpoint(f"sink_{node.name}_{port.name}", "in"), 1, 1)
                for node in self.nodes
                for port in node.outputs
            ),
            tuple(
                Memory(
                    f"{name}_{k}",
                    "",
                    next(
                        case.node.spec.memories[param].array
                        for param, used in case.node.memories.items()
                        if used == name
                    ),
                    MemoryRole.INPUT if case.node.outputs else MemoryRole.OUTPUT,
                    max(len(words), 1),
                )
                for k, case in enumerate(self.cases)
                for name, words in case.memories.items()
            ),
            (),
            {f"{index}_{k}": n for k, case in enumerate(self.cases) for index, n in case.extents.items()},
        )
        uses = [(name, n.spec.memories[p]) for n in self.nodes for p, name in n.memories.items()]
        off_chip = [name for name, use in uses if self.off_chip and use.may_lie_off_chip]
        self.to = RegionBuilder(self.graph, ARCH, off_chip)
        for node in self.nodes:
            for port in node.inputs:
                type = (
                    INDEX
                    if port.stream.kind is not StreamKind.VAL
                    else value_class(self.graph.operand_type(node))
                )
                self.to.feeds[Endpoint(node.name, port.name)] = HlsStream(
                    f"in_{node.name}_{port.name}", type, 1
                )
            lower_node(self.to, node)

    @staticmethod
    def rename(k: int, case: Case) -> Node:
        named = case.node.memories.keys() | case.node.extents.keys() | case.node.repeats.keys()
        params = {key: f"{value}_{k}" if key in named else value for key, value in case.node.params.items()}
        return replace(case.node, name=f"n{k}", params={"value": value_type(case.value), **params})

    def output(self, k: int, port: str) -> HlsStream:
        """The stream that a node's output was given."""
        return self.to.feeds[Endpoint(f"sink_n{k}_{port}", "in")]

    def sources(self) -> dict[str, str]:
        """The C++ of the bench, which prints the tokens of each output, then the words of each memory."""
        to = self.to
        program = HlsProgram("bench", ARCH.index_bits, (to.region(),))
        headers = library([program], [self.graph])
        del headers["status.hpp"]  # It is for a whole design, with writers.
        headers.pop("bursts_csim.hpp", None)
        lines = [f'#include "{name}"' for name in headers]
        lines += ["#include <cstdio>", "using namespace samhw;"]
        lines += ["typedef traits<index_t>::memory index_word;"]
        lines += [f"const unsigned {name} = {k};" for k, name in enumerate(to.region().nodes)]
        lines += [f"const unsigned {p.words} = {p.memory.capacity};" for p in (*to.inputs, *to.outputs)]
        lines += [
            "template <typename T> void put(stream<T> &out) {",
            "    while (!out.empty()) { const token<T> t = out.read();",
            '        std::printf("%u:%lu ", t.kind.to_uint(), (unsigned long)t.payload.to_uint64()); }',
            '    std::printf("\\n");',
            "}",
            "int main() {",
        ]
        for k, case in enumerate(self.cases):
            for port, tokens in case.streams().items():
                stream = to.feeds[Endpoint(f"n{k}", port)]
                # As data, which compile in no time.
                data = ", ".join(f"{{{int(t.kind)}, {t.payload}u}}" for t in tokens)
                lines.append(f"    static const unsigned tokens_{stream.name}[][2] = {{{data}}};")
                lines.append(f'    stream<{stream.type}> {stream.name}("{stream.name}");')
                lines.append(f"    for (const auto &t : tokens_{stream.name})")
                lines.append(f"        {stream.name}.write(token<{stream.type}>(token_kind(t[0]), t[1]));")
        contents = {
            f"{name}_{k}": words for k, case in enumerate(self.cases) for name, words in case.memories.items()
        }
        for p in to.inputs:
            words = [int(w) for w in contents[p.memory.name]] or [0]
            lines.append(f"    alignas(64) {of_lines(p)} = {{{', '.join(f'{w}u' for w in words)}}};")
        lines += [f"    alignas(64) static {of_lines(p)};" for p in to.outputs]
        lines += [f"    index_t {name} = {self.graph.extents[index]};" for index, name in to.extents.items()]
        lines += [f"    index_t {name} = {self.graph.extents[repeat]};" for repeat, name in to.steps.items()]
        lines += [f'    stream<{s.type}> {s.name}("{s.name}");' for s in to.streams]
        lines += [f"    error_code {name};" for name in to.errors]
        lines += [f"    unsigned {name} = 0;" for name in (*to.begins.values(), *to.counts.values())]
        for process in to.processes:
            template = f"<{', '.join(process.template)}>" if process.template else ""
            arguments = ", ".join(map(argument_text, process.arguments))
            lines.append(f"    {process.function}{template}({arguments});")
        lines += [
            f"    put({self.output(k, p.name).name});"
            for k, case in enumerate(self.cases)
            for p in case.node.outputs
        ]
        written = {
            f"{name}_{k}": words for k, case in enumerate(self.cases) for name, words in case.written.items()
        }
        for p in to.outputs:
            # Off the chip nobody asks how many words there are.
            count = to.counts.get(p.name, f"unsigned({len(written[p.memory.name])})")
            lines.append(f"    for (unsigned n = 0; n != {count}; ++n)")
            lines.append(f'        std::printf("%u ", {p.name}[n].to_uint());')
            lines.append('    std::printf("\\n");')
        lines += [f"    if ({name} != 0) return 1;" for name in to.errors]
        return {**headers, **BURSTS, "main.cpp": "\n".join([*lines, "}"]) + "\n"}


def of_lines(port: MemoryPort) -> str:
    """The declaration of the words of a memory, which fill whole lines."""
    return f"{port.word} {port.name}[{-(-port.memory.capacity // 64) * 64}]"


def argument_text(argument: Argument) -> str:
    if isinstance(argument, str):
        return argument
    lines = isinstance(argument, MemoryPort) and argument.off_chip
    return f"reinterpret_cast<line_t *>({argument.name})" if lines else argument.name


def draw_cases(kind: str) -> list[Case]:
    """The same random cases each time."""
    cases: list[Case] = []

    @drawn(EXAMPLES, 1)
    @given(CASES[kind]())
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return cases


ENDING = ("repeat", "crd_hold", "locate", "pick", "intersect", "union", "alu", "arg", "top_k", "drop_crd")
"""Kinds whose loops hear of their end late."""


@dataclass
class EndsEarly(Case):
    """A case whose first stream has nothing but DONE, with an error from above or, with 0, none."""

    error: int = 0

    def streams(self) -> dict[str, list[Token]]:
        streams = super().streams()
        first = next(iter(streams))
        return {**streams, first: [Token(streams[first][-1].kind, self.error)]}


def text(tokens: list[Token]) -> str:
    return "".join(f"{int(t.kind)}:{t.payload} " for t in tokens)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_tokens(kind: str) -> None:
    assert_tokens(Bench(draw_cases(kind)))


@pytest.mark.slow
def test_tokens_off_chip() -> None:
    """All that read and write words, by lines."""
    cases = chain.from_iterable(draw_cases(kind)[: EXAMPLES // 3] for kind in CASES)
    assert_tokens(Bench([case for case in cases if case.node.memories], off_chip=True))


def assert_tokens(bench: Bench) -> None:
    program = compile_cpp(bench.sources(), ["main.cpp"], WARNED)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    lines = iter(done.stdout.splitlines())
    for case in bench.cases:
        for port in case.node.outputs:
            expected = to_stream(case.expected[port.name], port.stream.depth)
            assert next(lines) == text(expected), f"{case.node} {port.name} of {case}"
    for words in chain.from_iterable(case.written.values() for case in bench.cases):
        assert next(lines).split() == [str(np.uint32(word)) for word in words]
    assert next(lines, None) is None


@pytest.mark.slow
@pytest.mark.parametrize("error", [0, 0x123 << 4 | 1])
def test_an_early_end_is_an_error(error: int) -> None:
    """Each output ends with it, and no stream is read after its DONE."""
    cases = (
        next(case for case in draw_cases(kind) if all(len(tokens) > 1 for tokens in case.streams().values()))
        for kind in ENDING
    )
    bench = Bench([EndsEarly(**vars(case), error=error) for case in cases])
    done = subprocess.run(
        [compile_cpp(bench.sources(), ["main.cpp"], WARNED)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    lines = iter(done.stdout.splitlines())
    for k, case in enumerate(bench.cases):
        for port in case.node.outputs:
            assert next(lines).split()[-1] == f"3:{error or k << 4 | 4}", f"{case.node} {port.name}"
