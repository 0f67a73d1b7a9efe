"""What samhw makes of some programs is what it made before: a digest of each text stands in `digests.txt`.

The files of a pass say what is right; these lines say that something is no longer as it was, in a second or
two, whatever no other test asks. If it is to be so, `pytest tests/golden --update` writes them anew, and
`python -m benchmarks.same_designs` shows what became of the cycles and the Verilog.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.cli.after import graph_text
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.cost.area import estimate_area
from samhw.cost.components import FAMILIES
from samhw.graph import HostOptions, OffChipLayout, Ports
from samhw.graph.numerics import value_type
from samhw.hls.emit import Options, emit
from samhw.targets.backends import run

FILE = Path(__file__).with_name("digests.txt")
EXAMPLES = Path(__file__).parents[2] / "examples"

DESIGNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "spmm": ("karate", "i32", {}),
    "spmv": ("auto", "fixed<16,8>", {"lanes": {"i": 2}}),
    "spmspm_kij": ("auto", "f8e4m3", {}),
    "sddmm": ("karate", "bf16", {"lanes": {"i": 2}}),
    "pruned_linear": ("auto", "f32", {}),
    "plus3": ("auto", "i8", {}),
    "mttkrp": ("auto", "i16", {}),
    "rgcn": ("auto", "f32", {}),
    "sparse_convolution": ("auto", "f32", {}),
    "gat": ("auto", "f32", {"fuse": "full"}),
    "gcn_softmax": ("auto", "f32", {"fuse": "none"}),
    "gpt3_block": ("auto", "f32", {}),
    "bigbird_attention": ("auto", "f32", {}),
    "message_passing.ein": ("auto", "f32", {}),
    "multi_head_attention.ein": ("auto", "f32", {}),
    "rotary.ein": ("auto", "f32", {}),
    "stacked_lstm.ein": ("auto", "f32", {}),
    "dilated_rnn.ein": ("auto", "fixed<20,10>", {}),
    "convolution.ein": ("auto", "f32", {}),
    "hypergraph.ein": ("auto", "f32", {}),
    "decay.ein": ("auto", "f32", {}),
    "compositing.ein": ("auto", "f32", {}),
    "ragged_product.ein": ("auto", "f32", {}),
}
"""Programs with their data, value type and schedule."""

COMMANDS = (
    "compile bigbird_attention --data auto --mlir -",
    "compile EXAMPLES/pytorch/models.py:selective_scan --after slice_steps",
    "compile EXAMPLES/mlir/transformer_block.mlir --after depths",
    "run sddmm --data karate --lanes i=2 --stats",
    "run spmv --data karate --schedule auto --json -",
    "compare spmv --data karate",
    "run gcn --data karate --memory ddr4 --clock 125MHz --energy --report OUT",
    "run spmm --data karate --lanes i=4 --deal i=ranges --json -",
    "run sddmm --data karate --trace OUT/tokens.vcd",
    "run EXAMPLES/nested/stacked_lstm.py:example --json -",
    "run EXAMPLES/mlir/transformer_block.mlir --fuse none --json -",
    "accuracy gcn --data karate",
    "accuracy spmv --data karate",
    "sweep EXAMPLES/sweep.toml -o OUT/points.csv --report OUT/page",
    "compile gcn --table --channels --data karate",
    "build spmv --data karate --target vitis-hls -o OUT",
    "build plus3 --data auto --target vitis-hls --on-chip none -o OUT",
    "build plus3 --data auto --target verilog -o OUT",
)
"""Of the command line: what they print, and write into the folder OUT."""

UNLIKE = (".v", ".journal")
"""Of files that another release of Yosys, or another run, writes in another way."""

OF: dict[str, tuple[str, ...]] = {
    "graph": tuple(DESIGNS),
    "hls": tuple(DESIGNS),
    "area": tuple(DESIGNS),
    "result": tuple(name for name in DESIGNS if name not in ("gpt3_block", "bigbird_attention")),
    "rtl": ("spmv", "ragged_product.ein", "plus3", "sddmm", "spmspm_kij"),
    "rtl off chip": ("plus3",),
    "command": COMMANDS,
}
"""What is made of which designs, since elaboration and long runs take seconds; and of which words."""

UNEQUAL = re.compile(
    r"[\d.,]+ m?s\b|\"seconds\": ?[\d.e-]+|\"(?:python|numpy|samhw|date)\": ?\"[^\"]*\"|samhw \d[\w.+]*"
    r"|\d{4}-\d\d-\d\dT[\d:+]+|(?:python|numpy) \d[\w.]+|\b[0-9a-f]{32}\b"
)
"""What is not the same in each run, or for other code: times, versions, and keys."""


@cache
def workload(name: str) -> Workload:
    program = str(EXAMPLES / name) if "." in name else name
    return bind_program(program, [DESIGNS[name][0]])


@cache
def compiled(name: str) -> Compiled:
    _, value, schedule = DESIGNS[name]
    return compile_workload(workload(name), Schedule(**schedule), value=value_type(value))


def graph(name: str) -> str:
    return graph_text(compiled(name))


def rtl(
    name: str, host: str = "axi4,interrupt,recovery,counters", layout: OffChipLayout | None = None
) -> str:
    """Amaranth's own text: Yosys takes longer for its Verilog."""
    from amaranth.back import rtlil

    from samhw.rtl.top import Top
    from samhw.rtl.verilog_platform import VerilogPlatform

    design, platform = compiled(name), VerilogPlatform("top")
    top = Top(
        design.design,
        design.arch,
        own_clock=True,
        host=HostOptions.parse(host),
        layout=layout,
    )
    text: str = rtlil.convert(top, name="top", platform=platform, emit_src=False)
    return text + platform.rtlil + platform.text


def rtl_off_chip(name: str) -> str:
    """With ports and masters for all arrays."""
    design = compiled(name)
    arrays = dict.fromkeys((memory.name for memory in design.design.memories), 0)
    return rtl(name, "axi4", OffChipLayout(design.design, design.arch, Ports(), arrays))


def hls(name: str) -> str:
    design = compiled(name)
    return json.dumps(emit(design.design, design.arch, Options(one_top=True)))


def area(name: str) -> str:
    design = compiled(name)
    return "\n".join(repr(estimate_area(design.design, design.arch, family)) for family in FAMILIES)


def result(name: str) -> str:
    """The values and the cycles of the simulator."""
    found = run(compiled(name), workload(name).tensors)
    values = {key: tensor.to_dense().tolist() for key, tensor in found.outputs.items()}
    return repr(([region.cycles for region in found.regions], values))


def command(words: str) -> str:
    with TemporaryDirectory() as folder:
        done = CliRunner().invoke(
            main, words.replace("EXAMPLES", str(EXAMPLES)).replace("OUT", folder).split()
        )
        assert done.exit_code == 0, done.output
        files = sorted(
            path for path in Path(folder).rglob("*") if path.is_file() and path.suffix not in UNLIKE
        )
        written = "".join(f"{path}\n{path.read_text('utf-8')}\n" for path in files)
        text = (done.output + written).replace(str(EXAMPLES), "EXAMPLES").replace(folder, "OUT")
        return UNEQUAL.sub("", text)


VIEWS: dict[str, Callable[[str], str]] = {
    "graph": graph,
    "rtl": rtl,
    "rtl off chip": rtl_off_chip,
    "hls": hls,
    "area": area,
    "result": result,
    "command": command,
}


def texts() -> list[tuple[str, str]]:
    """A view, and what it is of."""
    return [(view, name) for view, names in OF.items() for name in names]


@cache
def kept() -> dict[str, str]:
    lines = FILE.read_text("utf-8").splitlines() if FILE.exists() else []
    return {of: digest for digest, of in (line.split(" ", 1) for line in lines)}


def made_by(view: str) -> str:
    """What else has a part in a text, since another release may give another one: Amaranth finds the names of
    signals in Python's own code."""
    if view.startswith("rtl"):
        return f" (Python {sys.version_info[1]}, amaranth {version('amaranth')})"
    return f" (torch {version('torch').split('+')[0]})" if view == "command" else ""


@pytest.mark.parametrize(("view", "name"), texts(), ids=lambda word: word.replace(" ", "_"))
def test_it_is_as_it_was(view: str, name: str, request: pytest.FixtureRequest) -> None:
    text = VIEWS[view](name)
    digest, line = sha256(text.encode()).hexdigest()[:16], f"{view} {name}{made_by(view)}"
    if request.config.getoption("--update", False):
        others = {of: old for of, old in kept().items() if _without_packages(of) != f"{view} {name}"}
        _write(others | {line: digest})
    elif line in kept():
        assert digest == kept()[line], f"{view} {name} changed; if it is to, run pytest tests/golden --update"
    else:
        pytest.skip(f"no digest of {line}")


def test_each_digest_is_of_something() -> None:
    lines = {f"{view} {name}" for view, name in texts()}
    assert set(map(_without_packages, kept())) == lines


def _without_packages(line: str) -> str:
    return re.sub(r" \(\w+ [\d.]+.*\)$", "", line)


def _write(digests: dict[str, str]) -> None:
    FILE.write_text("".join(f"{digests[line]} {line}\n" for line in sorted(digests)), "utf-8")
    kept.cache_clear()
