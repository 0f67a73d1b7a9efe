"""What AMD's documents ask of a project, looked up in its text: this reads the emitted C++ and configurations
and knows nothing of what emitted them.

The documents are UG1399 (Vitis HLS), UG1448 (its messages) and UG1702 (the linker).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

Files = Mapping[str, str]

MOST_MASTERS = 15
"""Of a bank of memory (UG1702, Memory Information)."""

_SIMULATED = re.compile(r"^#ifdef SAMHW_CSIM\n(?:.*\n)*?(?:#else\n((?:.*\n)*?))?#endif\n", re.MULTILINE)
_LITERAL = re.compile(r"^(true|false|\d+)$")


@dataclass(frozen=True)
class Function:
    """A function of the library, or of the kernel's own files."""

    name: str
    parameters: tuple[str, ...]
    """Each with its type."""
    body: str


@dataclass(frozen=True)
class Call:
    """A process of a DATAFLOW region."""

    function: str
    arguments: tuple[str, ...]
    template: str = ""


def top_of(files: Files) -> str:
    """The name of a project's kernel."""
    (found,) = re.findall(r"^syn\.top=(\w+)$", files["hls_config.cfg"], re.MULTILINE)
    return str(found)


def synthesised(text: str) -> str:
    """C++ as synthesis reads it: without comments, and without what only C simulation has."""
    text = _SIMULATED.sub(lambda found: found[1] or "", text)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"\bSAMHW_MEMORY ", "", text)


def _within(text: str, begin: int, pair: str = "{}") -> int:
    """Where the bracket that opens at a place is closed."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if depth == 0:
            return place
    raise AssertionError(f"no {pair[1]} for {text[begin : begin + 60]!r}")


def split(text: str) -> tuple[str, ...]:
    """The parts of a list, whose commas may also be inside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


@cache
def functions(text: str) -> tuple[Function, ...]:
    """The functions of a text, those of classes among them."""
    found = []
    for name in re.finditer(r"\b(\w+)\(", text):
        end = _within(text, name.end() - 1, "()")
        opens = re.match(r"\s*(?:const\s*)?\{", text[end + 1 :])
        if opens and name[1] not in ("if", "for", "while", "switch"):
            begin = end + opens.end()
            body = text[begin + 1 : _within(text, begin)]
            found.append(Function(name[1], split(text[name.end() : end]), body))
    return tuple(found)


def sources(files: Files) -> dict[str, str]:
    """What is synthesised, by path."""
    return {
        path: synthesised(text)
        for path, text in files.items()
        if path.startswith("src/") and not path.endswith("csim.hpp")
    }


def _called(parameter: str) -> str:
    return re.findall(r"(\w+)(?:\[[^\]]*\])?$", parameter)[0]


class Directions:
    """Which of their parameters the functions of a project read and write."""

    def __init__(self, files: Files):
        self.found: dict[tuple[str, int], list[Function]] = {}
        for text in sources(files).values():
            for function in functions(text):
                self.found.setdefault((function.name, len(function.parameters)), []).append(function)

    def of(self, name: str, arguments: int, position: int) -> frozenset[str]:
        """`read`, `write`, or both, of a parameter."""
        overloads = self.found.get((name, arguments))
        assert overloads, f"there is no function {name} of {arguments} arguments"
        return frozenset().union(*(self._of(function, position) for function in overloads))

    def _of(self, function: Function, position: int) -> frozenset[str]:
        parameter = function.parameters[position]
        own, body = _called(parameter), function.body
        if parameter.startswith("const ") or not re.search(r"[&*\[]|burst_port", parameter):
            return frozenset({"read"})
        if not re.search(r"stream<|burst_port", parameter):
            passed = self._passed(function, own)
            return passed or frozenset({"write"})
        direct = {
            "read": rf"\b{own}\.(read|read_request|empty|read_nb)\(",
            "write": rf"\b{own}\.(write|write_request)\(",
        }
        here = frozenset(use for use, pattern in direct.items() if re.search(pattern, body))
        return here | self._passed(function, own)

    def _passed(self, function: Function, own: str) -> frozenset[str]:
        """What other functions do with a parameter that they get."""
        uses: set[str] = set()
        for call in re.finditer(r"\b(\w+)(?:<[^;(]*>)?\(", function.body):
            arguments = split(function.body[call.end() : _within(function.body, call.end() - 1, "()")])
            if own in arguments and (call[1], len(arguments)) in self.found:
                uses |= self.of(call[1], len(arguments), arguments.index(own))
        return frozenset(uses)


@dataclass(frozen=True)
class Region:
    """A DATAFLOW region: what it declares, by name with the type, and what it calls in order."""

    function: Function
    declared: Mapping[str, str]
    calls: tuple[Call, ...]


def regions(files: Files) -> dict[str, Region]:
    """The DATAFLOW regions of a project by the names of their functions.

    Raises:
        AssertionError: where the body of one is not canonical (UG1399, WYSIWYG Coding Style): declarations
            without an initialiser, and calls.
    """
    found = {}
    for text in sources(files).values():
        for function in functions(text):
            if "#pragma HLS DATAFLOW" in function.body:
                found[function.name] = _region(function)
    return found


def _region(function: Function) -> Region:
    declared: dict[str, str] = {}
    calls = []
    text = re.sub(r"^#pragma[^\n]*$", "", function.body, flags=re.MULTILINE)
    for statement in filter(None, (" ".join(s.split()) for s in text.split(";"))):
        if re.fullmatch(r"using namespace \w+", statement):
            continue
        if stream := re.fullmatch(r'(stream<.*>) (\w+)\("\2"\)', statement):
            declared[stream[2]] = stream[1]
        elif call := re.fullmatch(r"([\w:]+)(?:<(.*)>)?\((.*)\)", statement):
            arguments = split(call[3])
            for argument in arguments:
                assert re.fullmatch(r"\*?\w+", argument), f"{function.name}: {argument} is computed in a call"
            calls.append(Call(call[1].rpartition("::")[2], tuple(a.lstrip("*") for a in arguments), call[2]))
        else:
            plain = re.fullmatch(r"([\w:]+(?:<.*>)?) (\w+)((?:\[\w+\])?)", statement)
            assert plain, f"{function.name} has a statement that is not canonical: {statement}"
            assert plain[1] != "static", statement
            declared[plain[2]] = plain[1] + plain[3]
    return Region(function, declared, tuple(calls))


def check_canonical(files: Files) -> None:
    """Each channel of a DATAFLOW region has one writer, and one reader that is called later; so has each
    memory that the region gets, but for the order (UG1399, Canonical Body; UG1448, 214-169)."""
    directions = Directions(files)
    found = regions(files)
    assert found
    for name, region in found.items():
        uses: dict[str, list[str]] = {}
        for call in region.calls:
            for position, argument in enumerate(call.arguments):
                for use in sorted(directions.of(call.function, len(call.arguments), position)):
                    uses.setdefault(argument, []).append(use)
        scalars = {_called(p) for p in region.function.parameters if not re.search(r"[&*\[]|burst_port", p)}
        for parameter in uses.keys() - region.declared.keys() - scalars:
            calls = sum(parameter in call.arguments for call in region.calls)
            assert _LITERAL.match(parameter) or calls == 1, f"{name}: {parameter} has {uses[parameter]}"
        for channel in region.declared:
            assert uses[channel] == ["write", "read"], f"{name}: {channel} has {uses.get(channel)}"


def bundles(files: Files) -> dict[str, tuple[str, int]]:
    """The master and the depth of each port of a kernel."""
    text = files[f"src/{top_of(files)}.cpp"]
    found = re.findall(
        r"^#pragma HLS INTERFACE m_axi port=(\w+) .*bundle=(\w+) depth=(\d+)", text, re.MULTILINE
    )
    return {port: (bundle, int(depth)) for port, bundle, depth in found}


def pointers(files: Files) -> dict[str, str]:
    """The buffer that the testbench gives to each port."""
    top = top_of(files)
    (given,) = re.findall(rf"^    {top}\((.*)\);$", files[f"tb/{top}_test.cpp"], re.MULTILINE)
    (function,) = (f for f in functions(synthesised(files[f"src/{top}.cpp"])) if f.name == top)
    pairs = zip(map(_called, function.parameters), split(given), strict=True)
    return {name: word.removesuffix(".data()").lstrip("&") for name, word in pairs if word[-1] not in "]"}


Uses = list[tuple[int, str, str]]
"""Of each process of a region: its number, a parameter of the region that it has, and `read` or `write`."""


class Hierarchy:
    """The functions of a project's kernel, from the top one down to its DATAFLOW regions of processes."""

    def __init__(self, files: Files):
        texts = [text for path, text in sources(files).items() if path.endswith(".cpp")]
        self.own = {function.name: function for text in texts for function in functions(text)}
        self.regions = regions(files)

    def called(self, name: str, given: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
        """The functions with regions that one calls, with the ports that each gets by its parameters."""
        found = []
        for call in re.finditer(r"(?:\w+::)?(\w+)\(([^;{]*)\);", self.own[name].body):
            if call[1] in self.own and self._has_regions(call[1]):
                parameters = map(_called, self.own[call[1]].parameters)
                pairs = zip(parameters, split(call[2]), strict=True)
                found.append((call[1], {own: given[word] for own, word in pairs if word in given}))
        return found

    def _has_regions(self, name: str) -> bool:
        return name in self.regions or bool(self.called(name, {}))

    def leaves(self, name: str, given: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The regions of processes that a function runs, with their ports."""
        inner = self.called(name, given)
        if not inner:
            yield name, given
        for own, ports in inner:
            yield from self.leaves(own, ports)

    def at_once(
        self, name: str, given: Mapping[str, str], of: Mapping[str, Uses]
    ) -> Counter[tuple[str, str]]:
        """How many processes have each master at a time, to read or to write: those of a DATAFLOW region
        together, and otherwise those of one call after the other."""
        inner = self.called(name, given)
        if not inner:
            uses = ((n, given[own], use) for n, own, use in of[name] if own in given)
            masters = {(n, port, use) for n, port, use in uses}
            return Counter((port, use) for _, port, use in masters)
        found = Counter[tuple[str, str]]()
        for own, ports in inner:
            other = self.at_once(own, ports, of)
            found = found + other if name in self.regions else found | other
        return found


def _uses_of(files: Files, region: Region) -> Uses:
    directions = Directions(files)
    return [
        (number, argument, use)
        for number, process in enumerate(region.calls)
        for position, argument in enumerate(process.arguments)
        if argument not in region.declared and not _LITERAL.match(argument)
        for use in directions.of(process.function, len(process.arguments), position)
    ]


def port_uses(files: Files) -> Iterator[tuple[str, int, str, str]]:
    """Of each process that has a port of the kernel: the region, its number there, the port, and `read` or
    `write`."""
    hierarchy, ports = Hierarchy(files), {name: name for name in bundles(files)}
    for name, given in hierarchy.leaves(top_of(files), ports):
        for number, argument, use in _uses_of(files, hierarchy.regions[name]):
            if argument in given:
                yield name, number, given[argument], use


def check_masters(files: Files) -> None:
    """A master has one reader and one writer at a time. Where a memory is reached by several masters, and one
    writes, ALIAS names them (UG1399, pragma HLS alias): ports of different masters and of one depth, each
    once."""
    own, hierarchy = bundles(files), Hierarchy(files)
    masters = {port: master for port, (master, _) in own.items()}
    uses = {name: _uses_of(files, region) for name, region in hierarchy.regions.items()}
    at_once = hierarchy.at_once(top_of(files), masters, uses)
    assert not (many := [use for use, count in at_once.items() if count > 1]), many
    text = files[f"src/{top_of(files)}.cpp"]
    aliases = [
        ports.split(",")
        for ports in re.findall(r"^#pragma HLS ALIAS ports=(\S+) distance=0$", text, re.MULTILINE)
    ]
    assert len(aliases) == text.count("HLS ALIAS")
    for ports in aliases:
        assert len({own[port][0] for port in ports}) == len(ports) > 1
        assert len({own[port][1] for port in ports}) == 1
    assert max(Counter(port for ports in aliases for port in ports).values(), default=1) == 1
    given, written = pointers(files), {port for *_, port, use in port_uses(files) if use == "write"}
    for buffer in {given[port] for port in written}:
        ports = [port for port in own if given[port] == buffer]
        assert len({own[port][0] for port in ports}) == 1 or ports in aliases, f"{buffer} is {ports}"


def check_room(files: Files) -> None:
    """A master has room for all lines that one of its readers asks for before it reads the first: else a
    request waits for it, and with it the loop that would read (UG1399, Optimizing AXI System Performance).
    What is only written or only read has the least room for the other direction."""
    text, memory = files[f"src/{top_of(files)}.cpp"], files["src/samhw/memory.hpp"]
    directions = ("read", "write")
    numbers = r" ".join(rf"max_{use}_burst_length=(\d+) num_{use}_outstanding=(\d+)" for use in directions)
    room: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {}
    for bundle, *found in re.findall(rf"bundle=(\w+) depth=\d+ latency=1 {numbers}$", text, re.MULTILINE):
        a, b, c, d = map(int, found)
        assert room.setdefault(bundle, ((a, b), (c, d))) == ((a, b), (c, d)), f"{bundle} has two rooms"
    own, found = bundles(files), regions(files)
    assert room.keys() == {bundle for bundle, _ in own.values()} - {"gmem_status"}
    ahead = sum(int(re.findall(rf"{name} = (\d+);", memory)[0]) for name in ("longest_burst", "port_latency"))
    used = {(bundle, use): False for bundle in room for use in directions}
    for region, number, port, use in port_uses(files):
        bundle, depth = own[port]
        used[bundle, use] = True
        call = found[region].calls[number]
        if use == "read":
            due = int(call.template) if call.function == "line_read" else min(depth, ahead)
            longest, bursts = room[bundle][0]
            assert due <= longest * bursts, f"{port} asks for {due} lines, {bundle} holds {longest * bursts}"
    for (bundle, use), is_used in used.items():
        assert is_used or room[bundle][directions.index(use)] == (2, 1), f"{bundle} has room in vain: {use}"


def check_banks(files: Files) -> None:
    """No bank has too many masters, what is one buffer or has one master lies in one place, and every port is
    joined to a bank, or none is and all masters are few enough for the platform's default bank."""
    text, own, given = files["link.cfg"], bundles(files), pointers(files)
    joined = dict(re.findall(rf"^sp={top_of(files)}_1\.(\w+):(\w+\[\d+(?::\d+)?\])$", text, re.MULTILINE))
    assert len(joined) == text.count("sp=")
    if not joined:
        assert len({bundle for bundle, _ in own.values()}) <= MOST_MASTERS
        return
    assert joined.keys() == own.keys()
    masters: dict[str, set[str]] = {}
    for port, place in joined.items():
        first, _, last = place.partition("[")[2].rstrip("]").partition(":")
        for bank in range(int(first), int(last or first) + 1):
            masters.setdefault(f"{place.partition('[')[0]}[{bank}]", set()).add(own[port][0])
        for other in joined:
            if own[other][0] == own[port][0] or given[other] == given[port]:
                assert joined[other] == place, f"{port} and {other} are at {place} and {joined[other]}"
    assert max(map(len, masters.values())) <= MOST_MASTERS, masters


_LOOP = re.compile(r"\b(?:(for|while) \(|do \{)")


def check_loops(files: Files) -> None:
    """Each loop is unrolled, counts to a constant, or says how often it may run (UG1399, pragma HLS
    loop_tripcount). A loop that reads streams neither stops for one, which could keep tokens (UG1448,
    Pipeline Styles), nor asks for a style that is for functions alone."""
    for path, text in sources(files).items():
        constants = set(re.findall(r"\bconst unsigned (\w+)", text)) | {"i32"}
        for loop in _LOOP.finditer(text):
            if loop[1]:
                end = _within(text, loop.end() - 1, "()")
                head = text[loop.end() : end]
                rest = re.match(r"\s*\{", text[end + 1 :])
                begin = end + rest.end() if rest else end
            else:
                head, begin = "", loop.end() - 1
            if text[begin] != "{":
                # One statement, in a loop around it that is unrolled.
                assert _counts(head, constants), f"{path}: {loop[0]}{head})"
                continue
            body = text[begin + 1 : _within(text, begin)]
            pragmas = re.match(r"(?:\s*#pragma[^\n]*\n)*", body)
            assert pragmas
            assert not re.search("style=(flp|frp)", pragmas[0]), path
            if "LOOP_TRIPCOUNT" not in pragmas[0] and "UNROLL" not in pragmas[0]:
                assert _counts(head, constants), f"{path}: {loop[0]}{head})"
            if "PIPELINE" in pragmas[0]:
                read = set(re.findall(r"\b(\w+)\.read\(\)", body)) - {"memory"}
                polled = set(re.findall(r"\bready\((\w+)", body))
                assert read <= polled, f"{path}: a loop stops to read {read - polled}"


def _counts(head: str, constants: set[str]) -> bool:
    """Whether a loop counts to a constant."""
    found = re.match(r"\w+ \w+ = \w+; \w+ (?:<|!=) ([^;]+);", head)
    bound = found[1] if found else "variable"
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\w+(?:<[^>]*>)?::\w+", "", bound))
    return all(word.isupper() or word in constants for word in words)
