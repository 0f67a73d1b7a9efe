"""What every kind of primitive answers, apart from how it is simulated, built or synthesised: its spec,
which is the `SPEC` of its folder in `samhw.primitives`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, cast

from numpy.typing import NDArray

from samhw.errors import InputError, StreamError
from samhw.graph.numerics import REDUCTIONS, ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import MemoryUse, Param, Params, Role
from samhw.graph.spec.streams import Port
from samhw.primitives import folders, role

__all__ = [
    "MOST_JOINED",
    "MOST_LANES",
    "PORTS",
    "Distribution",
    "Extents",
    "Joined",
    "KeepsLevels",
    "Plain",
    "Ports",
    "Reduction",
    "Spec",
    "Words",
    "Work",
    "kinds",
    "spec_of",
    "too_shallow",
]

Ports = Sequence[Port]

InnerLatency = Literal["step", "memory", "locate"] | None

Words = Mapping[str, NDArray[Any]]
"""The words of memories, by name."""

Extents = Mapping[str, int]
"""Those of a run, by index."""

PORTS = 20
"""The most inputs, and the most outputs, of an actor."""

MOST_JOINED = PORTS // 2
"""The most streams that a node joins: each has a coordinate and a payload."""

MOST_LANES = 16
"""The most lanes that a node distributes to, or collects from; what has more is a tree of nodes."""

DEEPEST = 15
"""A stop's payload has a nibble for each end, so a stream has at most 15 levels."""

_LEVEL = re.compile(r"(.+)_([A-Za-z][A-Za-z0-9]*)(?:_\d+)?")
"""A tensor and one of its indices, perhaps with a number to tell it from others."""


class Work(NamedTuple):
    """What a node computes with values."""

    operation: str
    """An operation of docs/numerics.md."""
    port: str
    """The input of which each payload costs `each` of them."""
    operands: tuple[str | float, ...] = ()
    """Of what gives the result of one such operation for each payload: the inputs of its operands, or the
    numbers in their place."""
    each: int = 1
    """How many operations a payload costs: more than one if it is a block. A product of blocks counts its
    additions too."""


class Joined(NamedTuple):
    """One of the streams that a joiner joins by their coordinates."""

    crd: str
    """The input of its coordinates, which strictly increase inside a fiber."""
    payload: str
    """The input of the payloads that come with them, and the output that they leave by."""


class Reduction(NamedTuple):
    """How a reducer takes a level away. Its outputs have the names of the inputs that they come from."""

    operation: str | None
    """The operation of docs/numerics.md that it folds values with; None if it is not one alone."""
    coordinates: tuple[str, ...]
    """The inputs of the coordinates that it keeps: those of the levels inside of the one that it reduces, the
    innermost first."""
    values: str
    """The input of its values."""


class Distribution(NamedTuple):
    """How a node distributes streams to lanes, or collects them."""

    lanes: int
    levels: int
    """Levels inside of the one that is distributed, in what it takes in."""
    collects: bool
    """It collects what was distributed."""


class Spec(ABC):
    """A kind of primitive of docs/primitives.md: its parameters and ports, what it uses, what it costs.

    Compiler, simulator, RTL and HLS ask it what a node *is*; what a node *does*, token by token, each of them
    has from docs/primitives.md.

    Nothing has a default that a kind could fall into: a kind that leaves an answer out cannot be made.
    `params` are everywhere a node's; `depth` is the depth of the stream on its first input.
    """

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name."""

    @property
    @abstractmethod
    def rule(self) -> str:
        """What it does, in a sentence for readers of reports; docs/primitives.md has the rule itself."""

    @property
    @abstractmethod
    def params(self) -> Mapping[str, Param]:
        """Its parameters by name, with the memories, extents and value types that they name."""

    @abstractmethod
    def refusal(self, depth: int, params: Params) -> str | None:
        """What is wrong with parameters that are good one by one, or with the depth, as the end of a
        sentence; None if nothing is."""

    @abstractmethod
    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        """Inputs and outputs."""

    # Time

    @abstractmethod
    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        """Latency of an output, in cycles. `value` is the graph's value type."""

    @property
    @abstractmethod
    def inner_latency(self) -> InnerLatency:
        """That of the channels inside, which a token passes before it makes an output give something: a field
        of `Arch`, or None if there are none."""

    # Streams

    @abstractmethod
    def joins(self, params: Params) -> tuple[Joined, ...]:
        """The streams that it joins by their coordinates, in the order of its inputs; none if it is no
        joiner."""

    @abstractmethod
    def gives_empty(self, params: Params) -> bool:
        """A payload that it gives may be EMPTY though none that it takes is."""

    @property
    @abstractmethod
    def thins(self) -> bool:
        """It leaves coordinates out, and so may give nothing until a fiber ends."""

    @property
    @abstractmethod
    def moves(self) -> bool:
        """It moves coordinates up by an extent, after those of a part of a concatenation."""

    @property
    @abstractmethod
    def locates(self) -> bool:
        """The references that it gives lie in a dense level: r · N + c for a coordinate c below `ref` r."""

    @property
    @abstractmethod
    def carries(self) -> bool:
        """What it gives at a coordinate depends on those before it in the fiber."""

    @property
    @abstractmethod
    def completes(self) -> bool:
        """It keeps levels, and gives nothing of a fiber before it has taken all of one."""

    @abstractmethod
    def follows(self, port: str, params: Params) -> str | None:
        """The input whose levels an output has; a scanner adds one to them, and a reducer takes one away.
        None for what starts a graph."""

    @property
    @abstractmethod
    def scans(self) -> bool:
        """It makes a level: its outputs have one more than the input that they follow."""

    @abstractmethod
    def reduction(self, params: Params) -> Reduction | None:
        """How it reduces a level; None if it is no reducer."""

    @abstractmethod
    def distribution(self, params: Params) -> Distribution | None:
        """How it distributes a level to lanes, or collects it from them; None for others."""

    # Work

    @abstractmethod
    def work(self, params: Params) -> Work | None:
        """The operations on values that it does, if it does any."""

    @abstractmethod
    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        """Of a scanner, how many coordinates it gives for the first `fibers` references, at the words and
        extents of a run; None for others."""

    @abstractmethod
    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        """What takes its place where its values are blocks; None where nothing does."""

    # Words

    @property
    @abstractmethod
    def cell(self) -> str | None:
        """What the fusion table calls it; None for what has no cell of its own."""

    @property
    @abstractmethod
    def finds_disorder(self) -> bool:
        """A protocol error of it says that what it reads is not stored in ascending order."""

    def named(self, subject: str) -> str:
        """What a node that works on `subject`, such as `A_k`, is called."""
        return f"{self.kind}_{subject}"

    def subject(self, name: str) -> str:
        """What a node of that name works on: `A_k` for `scan_compressed_A_k`."""
        return name.removeprefix(f"{self.kind}_")

    def note(self, subject: str, params: Params, inputs: Mapping[str, str]) -> str:
        """Words for a node that has no cell in a table: row, column and text of one that it might have.

        `inputs` are the names of the streams that it reads, by port.
        """
        if self.cell and (level := _LEVEL.fullmatch(subject)):
            return f"{level[2]}, {level[1]}: {self.cell}({subject})"
        return f"{self.cell} {subject}" if self.cell else subject

    # What follows from the answers

    def inside(self, params: Params, arch: Arch, value: ValueType) -> int:
        """Cycles from a token to what it makes an output give, before the latency of the output."""
        return int(getattr(arch, self.inner_latency)) if self.inner_latency else 0

    def behind_end(self, params: Params, arch: Arch, value: ValueType) -> int:
        """The cycles that a reducer to single values takes after the end of a fiber, to join a block."""
        reduction = self.reduction(params)
        if reduction is None or reduction.operation is None or reduction.coordinates:
            return 0
        kind = self.operand_type(params, value)
        (op,) = (name for name, operation in REDUCTIONS.items() if operation == reduction.operation)
        rounds = kind.block(op).bit_length()
        return rounds * arch.reduce_latency(op, kind) if rounds > 1 else 0

    def ordered(self, port: str, params: Params) -> bool:
        """Whether an input relies on coordinates that strictly increase inside a fiber."""
        return any(join.crd == port for join in self.joins(params))

    def kept(self, params: Params) -> int | None:
        """Of a reducer, the number of levels inside the one that it reduces; None for others."""
        reduction = self.reduction(params)
        return None if reduction is None else len(reduction.coordinates)

    @cached_property
    def banks(self) -> str | None:
        """The parameter that says how many banks its accumulators have; None if it has no banks."""
        return next((name for name, param in self.params.items() if param.role is Role.BANKS), None)

    def bank_count(self, params: Params) -> int:
        """How many banks its accumulators have; 2 unless a parameter says more."""
        return int(params[self.banks]) if self.banks is not None and self.banks in params else 2

    @cached_property
    def memories(self) -> Mapping[str, MemoryUse]:
        """How it uses the memories that its parameters name, by parameter."""
        roles = ((name, param.role) for name, param in self.params.items())
        return {name: role for name, role in roles if isinstance(role, MemoryUse)}

    @cached_property
    def extents(self) -> tuple[str, ...]:
        """The parameters that name indices whose extents it needs."""
        return tuple(name for name, param in self.params.items() if param.role is Role.EXTENT)

    @cached_property
    def repeats(self) -> tuple[str, ...]:
        """The parameters that name repeats whose step it needs."""
        return tuple(name for name, param in self.params.items() if param.role is Role.REPEAT)

    def operand_type(self, params: Params, value: ValueType) -> ValueType:
        """The type of the values that a node takes in; `value` is the graph's."""
        return self._type(Role.OPERAND, params, value)

    def result_type(self, params: Params, value: ValueType) -> ValueType:
        """The type of the values that a node gives; `value` is the graph's."""
        return self._type(Role.RESULT, params, self.operand_type(params, value))

    def _type(self, role: Role, params: Params, default: ValueType) -> ValueType:
        for name, param in self.params.items():
            if param.role is role and name in params:
                return cast(ValueType, params[name])
        return default

    def read(self, params: Mapping[str, object]) -> dict[str, Any]:
        """The parameters of a node, from those of a caller or of a JSON text (`Param.read`); raises
        `InputError` for a value type that there is not."""
        return {n: self.params[n].read(given) if n in self.params else given for n, given in params.items()}

    def instance(self, name: str, depth: int, params: Params) -> tuple[dict[str, Any], Ports, Ports]:
        """The parameters of a node, and its inputs and outputs.

        Raises:
            InputError: for parameters or a depth that it cannot have.
            StreamError: for more levels than a token tells.
        """
        where = f"Node {name!r} ({self.kind})"
        if unknown := sorted(set(params) - set(self.params)):
            names = ", ".join(self.params) or "none"
            raise InputError(f"{where} has no parameter {unknown[0]!r}; its parameters are: {names}.")
        for key, param in self.params.items():
            if key not in params:
                if not param.optional:
                    raise InputError(f"{where} lacks the parameter {key!r}; give {param.expected}.")
            elif not param.accepts(params[key]):
                raise InputError(f"{where} has {key} = {params[key]!r}; give {param.expected}.")
        if refusal := self.refusal(depth, params):
            raise InputError(f"{where} {refusal}.")
        plain = self.read(params)
        inputs, outputs = self.ports(depth, plain)
        if any(port.stream.depth > DEEPEST for port in (*inputs, *outputs)):
            raise StreamError(f"{where} has a stream of more than {DEEPEST} levels", "give a smaller depth")
        return plain, inputs, outputs


class KeepsLevels(Spec):
    """A kind that neither makes a level nor takes one away, nor meets what is stored; unless it says
    otherwise, it neither joins streams, nor moves coordinates, nor locates them, nor distributes them to
    lanes, nor carries anything from one to the next, nor needs a whole fiber, nor makes payloads EMPTY."""

    carries = False
    completes = False

    @property
    def moves(self) -> bool:
        return False

    @property
    def locates(self) -> bool:
        return False

    @property
    def scans(self) -> bool:
        return False

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def gives_empty(self, params: Params) -> bool:
        return False

    def reduction(self, params: Params) -> Reduction | None:
        return None

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return None

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return None

    @property
    def finds_disorder(self) -> bool:
        return False


class Plain(KeepsLevels):
    """A kind that keeps levels, takes coordinates in any order and at any depth, leaves none out, and
    computes no values."""

    inner_latency = None
    thins = False

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def work(self, params: Params) -> Work | None:
        return None


def too_shallow(depth: int, least: int) -> str | None:
    """The refusal of a first input with fewer levels than a kind looks at."""
    return f"has a first input of depth {depth}; give at least {least}" if depth < least else None


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of primitives, in alphabetical order."""
    return tuple(folder for folder in folders() if _spec(folder))


def spec_of(kind: str) -> Spec:
    """What a kind is; raises `InputError` if there is none of that name."""
    spec = _spec(kind)
    if spec is None:
        raise InputError(f"There is no primitive {kind!r}; the kinds are {', '.join(kinds())}.")
    return spec


@cache
def _spec(folder: str) -> Spec | None:
    """The spec in a folder; None if it has what kinds share."""
    return getattr(role(folder, "spec"), "SPEC", None)
