"""The patterns that samhw knows, in the order of their priority, and a user's own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from samhw.choices.fuse.asked_regions import in_sequence
from samhw.choices.schedule import Schedule
from samhw.compiler.search.patterns.expression_shapes import (
    Found,
    Shape,
    Subject,
    access,
    anything,
    call,
    either,
    reduced,
)
from samhw.errors import InputError
from samhw.lang import Access, Expr, Program, Statement, accesses
from samhw.script import Script

__all__ = [
    "BUILT_IN",
    "Match",
    "PatternMatches",
    "Refused",
    "RunOrder",
    "StatementPattern",
    "find_patterns",
    "with_own_patterns",
]


class RunOrder:
    """The results of a program in groups, at first each by itself, in an order that the data flow permits.

    A new group changes that order from its first member to its last one alone (Pearce and Kelly, A Dynamic
    Topological Sort Algorithm for Directed Acyclic Graphs, JEA 11, 2006).
    """

    def __init__(self, program: Program):
        self._reads = {s.lhs.tensor: [access.tensor for access in s.needs] for s in program.statements}
        self._groups: list[Sequence[str]] = [[tensor] for tensor in self._reads]
        """Empty where another group has taken one in."""
        self._place = {tensor: n for n, tensor in enumerate(self._reads)}

    def unite(self, results: Sequence[str]) -> str | None:
        """Makes one group of results, which have to be whole groups. Where it could not run it changes
        nothing, and gives what one of them reads of another group that needs one of them."""
        own = {self._place[tensor] for tensor in results}
        span = range(min(own), max(own) + 1)
        behind: set[int] = set()
        for n in span:
            read = {self._place[r]: r for t in self._groups[n] for r in self._reads[t] if r in self._place}
            if n not in own:
                if not own.union(behind).isdisjoint(read):
                    behind.add(n)
            elif between := behind.intersection(read):
                return read[min(between)]
        groups = [self._groups[n] for n in span if n not in own | behind]
        groups += [results, *(self._groups[n] for n in sorted(behind))]
        groups += [()] * (len(span) - len(groups))
        for n, group in zip(span, groups, strict=True):
            self._groups[n] = group
            self._place |= dict.fromkeys(group, n)
        return None


@dataclass(frozen=True)
class Match:
    """What a pattern has matched: the context of its check too.

    Attributes:
        pattern: its name.
        program: the whole.
        statements: those that are matched, in the program's order; the last one is the root.
        parts: what the shape has given names.
    """

    pattern: str
    program: Program = field(repr=False)
    statements: tuple[Statement, ...]
    parts: Mapping[str, Expr]

    @property
    def results(self) -> tuple[str, ...]:
        """What its statements compute."""
        return tuple(statement.lhs.tensor for statement in self.statements)

    @property
    def uses_elsewhere(self) -> tuple[str, ...]:
        """The results, but for that of the root, that other statements of the program read too."""
        own = frozenset(self.results)
        return tuple(name for name in self.results[:-1] if not self.program.readers(name) <= own)

    @property
    def form(self) -> tuple[str, ...]:
        """Its statements, formats and extents, with numbers in the place of names: equal matches have the
        same."""
        numbers: dict[str, str] = {}

        def numbered(access: Access) -> Access:
            return Access(numbers.setdefault(access.tensor, f"t{len(numbers)}"), access.indices)

        found = []
        for statement in self.statements:
            indices = {index: f"i{n}" for n, index in enumerate(statement.indices)}
            found.append(str(statement.renamed(indices).with_accesses(numbered)))
        dimensions = self.program.dimensions
        for name in numbers:
            # A dimension without an extent is equal to itself alone.
            extents = [str(dimensions.extents[d] or d) for d in dimensions.of_tensor(name)]
            found.append(f"{self.program.tensors[name].format} {', '.join(extents)}")
        return tuple(found)


@dataclass(frozen=True)
class StatementPattern:
    """A shape with a name, and what a match of it gives.

    Attributes:
        name: as reports have it.
        shape: that of the right side of the last statement.
        check: given a match, why it is none; an empty text for one that is.
        schedule: given a match, fields of a schedule beside `fuse`, which has the match as a region.
    """

    name: str
    shape: Shape
    check: Callable[[Match], str] = lambda match: ""
    schedule: Callable[[Match], Mapping[str, Any]] = lambda match: {}


@dataclass(frozen=True)
class Refused:
    """A match that is not taken, and why."""

    match: Match
    why: str


@dataclass(frozen=True)
class PatternMatches:
    """What patterns have made of a program.

    Attributes:
        matches: in the program's order.
        refused: what was found, and not taken.
        schedule: the fields that the matches give together. Every match is a region, and so is every other
            statement.
    """

    matches: tuple[Match, ...]
    refused: tuple[Refused, ...]
    schedule: Mapping[str, Any]

    def equal_to(self, match: Match) -> Match | None:
        """The first match that is equal to this one, if that is another one."""
        alike = (m for m in self.matches if (m.pattern, m.form) == (match.pattern, match.form))
        first = next(alike, match)
        return None if first.results == match.results else first


def find_patterns(program: Program, patterns: Sequence[StatementPattern]) -> PatternMatches:
    """The matches of patterns in a program, and the schedule that they give.

    The order of patterns is their priority: the statements of a match are lost to all later patterns. A match
    may take in earlier ones of the same pattern, if it has them whole.

    Raises:
        InputError: for fields of a schedule that no schedule has, or that matches contradict each other in.
    """
    order = RunOrder(program)
    taken: dict[str, tuple[StatementPattern, Match]] = {}  # by each of its results
    refused: list[Refused] = []
    for pattern in patterns:
        for match in _matches(program, pattern):
            met = [taken[name] for name in match.results if name in taken]
            results = set(match.results)
            whole = all(other is pattern and results.issuperset(m.results) for other, m in met)
            why = pattern.check(match) if whole else f"'{met[0][0].name}' has some of its statements"
            if not why and (needed := order.unite(match.results)) is not None:
                why = f"it needs {needed}, which needs one of its statements"
            if why:
                refused.append(Refused(match, why))
            else:
                taken |= dict.fromkeys(match.results, (pattern, match))
    ends = {match.results[-1]: (pattern, match) for pattern, match in taken.values()}
    kept = [ends[s.lhs.tensor] for s in program.statements if s.lhs.tensor in ends]
    fields: dict[str, Any] = {}
    for pattern, match in kept:
        _merge(fields, pattern.schedule(match), match)
    matches = tuple(match for _, match in kept)
    return PatternMatches(matches, tuple(refused), {"fuse": _regions(program, matches), **fields})


def _matches(program: Program, pattern: StatementPattern) -> Iterator[Match]:
    """The first match of each statement's right side."""
    writers = {statement.lhs.tensor: statement for statement in program.statements}
    place = {tensor: n for n, tensor in enumerate(writers)}
    for root in program.statements:
        if isinstance(root.rhs, Access) and not root.reduction_indices:
            continue  # It is its operand, under another name or turned round.
        start = Found(results=frozenset([root.lhs.tensor]))
        found = next(pattern.shape.match(Subject(writers, root, root.rhs), start), None)
        if found is not None:
            statements = tuple(writers[name] for name in sorted(found.results, key=place.__getitem__))
            yield Match(pattern.name, program, statements, found.parts)


def _regions(program: Program, matches: Sequence[Match]) -> list[list[str]]:
    """The results of regions in the order in which they run: each match, and every other statement."""
    home = {name for match in matches for name in match.results}
    single = [(s,) for s in program.statements if s.lhs.tensor not in home]
    groups = [*(match.statements for match in matches), *single]
    sequence, _ = in_sequence(program, groups)
    return [[s.lhs.tensor for s in groups[n]] for n in sequence]


def _merge(fields: dict[str, Any], more: Mapping[str, Any], match: Match) -> None:
    """Adds the fields of one match to those of others."""
    if "fuse" in more:
        raise InputError(f"'{match.pattern}' gives 'fuse', but its match is the region; leave that out.")
    Schedule.from_fields(more)
    for name, value in more.items():
        before = fields.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            clash = [key for key in value if before.get(key, value[key]) != value[key]]
            fields[name] = {**before, **value}
        else:
            clash = [name] if name in fields and before != value else []
            fields[name] = value
        if clash:
            raise InputError(
                f"'{match.pattern}' gives '{name}' for {match.results[-1]} another value than a match before "
                f"it ({clash[0]}); make them agree."
            )


ACTIVATIONS = ("relu", "gelu", "silu", "sigmoid", "tanh")


def _softmax(scores: Shape) -> Shape:
    """exp(scores - max) / sum, or without the maximum."""
    shifted = call("-", scores, reduced("max", anything("scores")))
    exponential = call("exp", either(shifted, scores), name="exponential")
    return call("/", exponential, reduced("sum", anything("exponential")))


def _attention() -> Shape:
    """softmax(query key, scaled or not) value."""
    scaled = call("*", access("query"), anything("scale"))
    product = either(call("*", access("query"), access("key")), call("*", scaled, access("key")))
    scores = either(
        call("*", anything("scale"), reduced("sum", product), name="scores"),
        call("/", reduced("sum", product), anything("scale"), name="scores"),
        reduced("sum", product, name="scores"),
    )
    return reduced("sum", call("*", _softmax(scores), access("value")))


def _layer_norm() -> Shape:
    """(x - mean) / sqrt(variance + epsilon), with or without gain and bias."""
    mean = reduced("sum", _scaled(anything("x")))
    centred = call("-", anything("x"), mean, name="centred")
    square = call("*", anything("centred"), anything("centred"))
    variance = call("+", reduced("sum", _scaled(square)), anything("epsilon"))
    norm = either(
        call("*", centred, call("rsqrt", variance)),
        call("/", centred, call("sqrt", variance)),
    )
    scaled = call("*", norm, anything("gain"))
    return either(call("+", scaled, anything("bias")), scaled, norm)


def _scaled(shape: Shape) -> Shape:
    """Over the number of elements, or times its reciprocal."""
    count = anything("count")
    return either(call("/", shape, count), call("*", shape, count))


def _biased(name: str | None = None) -> Shape:
    """A sum of products, with a bias."""
    product = reduced("sum", call("*", access("input"), access("weight")))
    return call("+", product, access("bias"), name=name)


def _activated() -> Shape:
    """An activation of a sum of products with a bias."""
    return either(*(call(function, _biased()) for function in ACTIVATIONS))


def _residual() -> Shape:
    """A tensor, and a sum of products that follows from it, with a bias or without."""
    product = call("*", access("input"), access("weight"))
    branch = either(_biased("branch"), reduced("sum", product, name="branch"))
    return call("+", access("around"), branch)


def _follows(match: Match) -> str:
    """Why the branch of a residual does not follow from what goes around it."""
    writers = {statement.lhs.tensor: statement for statement in match.program.statements}
    (around,) = (read.tensor for read in accesses(match.parts["around"]))
    seen: set[str] = set()
    stack = [read.tensor for read in accesses(match.parts["branch"])]
    while stack:
        tensor = stack.pop()
        if tensor not in seen:
            seen.add(tensor)
            stack += [read.tensor for read in writers[tensor].reads] if tensor in writers else []
    return "" if around in seen else f"what is added to {around} does not follow from it"


def _is_inside(match: Match) -> str:
    """Why an intermediate would have to leave the region."""
    used = match.uses_elsewhere
    return f"other statements read {', '.join(used)}" if used else ""


BUILT_IN = (
    StatementPattern("attention", _attention(), _is_inside),
    StatementPattern("softmax", _softmax(anything("scores")), _is_inside),
    StatementPattern("layer norm", _layer_norm(), _is_inside),
    StatementPattern("residual", _residual(), _follows),
    StatementPattern("bias and activation", _activated(), _is_inside),
)


@contextmanager
def with_own_patterns(spec: str | None) -> Iterator[tuple[StatementPattern, ...]]:
    """The patterns of `file.py:NAME` ahead of the built-in ones, or these alone. Inside, the file's checks
    run as the file does.

    Raises:
        InputError: for a file or a name that is not there, what is not a pattern, and what fails in the file.
    """
    if not spec:
        yield BUILT_IN
        return
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"--patterns {spec}: name patterns in a Python file, as file.py:NAME.")
    script = Script(path)
    found = script.objects().get(name)
    own = found if isinstance(found, list | tuple) else [found]
    patterns = [pattern for pattern in own if isinstance(pattern, StatementPattern)]
    if not patterns or len(patterns) < len(own):
        raise InputError(
            f"--patterns {spec}: '{path}' has no '{name}' that is a StatementPattern, or a list of them."
        )
    with script.failing(), script.around():
        yield (*patterns, *BUILT_IN)
