"""What waits for what in a loop: its instructions, its conditions and its memories as one graph."""

import math
import re
from dataclasses import dataclass
from functools import cached_property

from benchmarks.intervals.delays import FIFO, LOGIC, MULTIPLEXER, RAM, Delays, Timing
from benchmarks.intervals.loops import AGAIN, Instruction, Loop

__all__ = ["Dependence", "Dependences", "Place"]

_MARKS = ("hls_pipeline", "hls_dependence")


@dataclass(frozen=True)
class Dependence:
    """`sink` starts when `source` has ended `distance` iterations before; if `registered`, only in the cycle
    after that in which the source starts."""

    source: str
    sink: str
    distance: int = 0
    registered: bool = False


@dataclass(frozen=True)
class Place:
    """What a load or store reaches: a memory, and of one that is partitioned the part, if that is known."""

    memory: str
    part: int | None
    in_registers: bool

    def meets(self, other: "Place") -> bool:
        """Whether both may be the same word."""
        parts = {self.part, other.part} - {None}
        return self.memory == other.memory and len(parts) < 2


class Dependences:
    """The graph of one loop.

    Args:
        partitioned: the names of the arrays that pragmas lay in registers or parts.
        delays: what operations take.

    Attributes:
        timings: what each node takes; nodes are instructions, and `if BLOCK` for whether a block comes.
        edges: what waits for what.
        ports: for each stream and memory, the most accesses in one iteration, and how many it takes a cycle.

    Raises:
        ValueError: for an instruction whose delay is not known.
    """

    def __init__(self, loop: Loop, delays: Delays, partitioned: frozenset[str] = frozenset()):
        self.loop, self.delays, self.partitioned = loop, delays, partitioned
        self.timings: dict[str, Timing] = {}
        self.edges: list[Dependence] = []
        self.own = {i.name: i for i in loop.instructions}
        self.words: dict[str, str] = {}
        self._conditions()
        for instruction in loop.instructions:
            self._instruction(instruction)
        self._memories()

    @cached_property
    def is_pipelined(self) -> bool:
        """Whether the loop has the pragma."""
        return any(i.callee == "hls_pipeline" for i in self.loop.instructions)

    @cached_property
    def distances(self) -> dict[str, int]:
        """By memory what a pragma says of the distance of its dependences."""
        found = {}
        for i in self.loop.outer.values():
            if i.callee == "hls_dependence":
                found[self._memory(i.operands[0])] = int(i.constants[1].split()[-1])
        return found

    @cached_property
    def ports(self) -> dict[str, tuple[int, int]]:
        """By stream and memory: accesses of an iteration, and accesses a cycle."""
        uses: dict[tuple[str, int], dict[str, int]] = {}
        for i in self.loop.instructions:
            if i.callee in ("hls_read", "hls_write"):
                key = (f"{i.callee[4:]} of {i.operands[0]}", 1)
            elif i.opcode in ("load", "store") and not (place := self._place(i)).in_registers:
                key = (place.memory if place.part is None else f"{place.memory}[{place.part}]", 2)
            else:
                continue
            at = uses.setdefault(key, {})
            at[i.block] = at.get(i.block, 0) + 1
        return {name: (self.loop.most(at), width) for (name, width), at in uses.items()}

    def _conditions(self) -> None:
        """Each block waits for the conditions that decide about it, and the next iteration for those that
        could end the loop."""
        for block, deciders in self.loop.deciders.items():
            if block not in self.loop.blocks and block != AGAIN:
                continue
            name = f"if {block}"
            self.timings[name] = Timing(0, LOGIC) if deciders else Timing()
            self.words[name] = "condition"
            for decider in deciders:
                self._wait(name, self.loop.conditions[decider])
                self._wait(name, f"if {decider}")
            if not deciders and block != self.loop.header:
                self._wait(name, f"if {self.loop.header}")
        self.edges.append(Dependence(f"if {AGAIN}", f"if {self.loop.header}", 1))

    def _wait(self, sink: str, source: str, distance: int = 0) -> None:
        if source in self.own or source.startswith("if "):
            self.edges.append(Dependence(source, sink, distance))

    def _instruction(self, i: Instruction) -> None:
        self.timings[i.name] = self._timing(i)
        self.words[i.name] = i.callee.removeprefix("hls_") or i.opcode
        if i.opcode == "phi" and i.block == self.loop.header:
            for source, block in zip(i.operands, i.incoming, strict=True):
                if block in self.loop.blocks:
                    self._wait(i.name, source, 1)
            return
        for operand in i.operands:
            self._wait(i.name, operand)
        if i.opcode == "phi":
            for block in i.incoming:
                self._wait(i.name, f"if {block}")
                if len(self.loop.blocks[block]) > 1:
                    self._wait(i.name, self.loop.conditions[block])
        if i.opcode == "store" or i.callee in ("hls_read", "hls_write"):
            self._wait(i.name, f"if {i.block}")

    def _timing(self, i: Instruction) -> Timing:
        if i.opcode in ("br", "ret", "switch") or i.callee in _MARKS or i.callee.startswith("llvm.lifetime"):
            return Timing()
        if i.opcode == "phi":
            in_register = i.block == self.loop.header
            return Timing() if in_register else Timing(0, LOGIC if self.bits(i.name) == 1 else MULTIPLEXER)
        if i.callee in ("hls_read", "hls_write", "hls_empty"):
            return Timing(0, FIFO)
        if i.opcode in ("load", "store"):
            place = self._place(i)
            if place.in_registers:
                return Timing(0, MULTIPLEXER)
            return Timing(1, RAM) if i.opcode == "load" else Timing(0, RAM)
        if i.opcode == "or" and " disjoint " in i.text and self.bits(i.name) > 1:
            return Timing()  # One after the other, such as the kind and the payload of a token.
        operation = re.sub(r"(\.v?[ifp]\d+)+$", "", i.callee) or i.opcode
        constant = any(i.constants)
        if i.opcode == "icmp":
            width = max((self.bits(o) for o in i.operands if o), default=1)
            width = max(width, *(_constant_bits(c, i.width) for c in i.constants if c), 1)
        else:
            width = min(i.width, max((self.bits(o) for o in i.operands if o), default=1))
        if i.opcode == "select":
            width = self.bits(i.name)
        return self.delays.of(operation, width, constant=constant)

    def bits(self, name: str, seen: frozenset[str] = frozenset()) -> int:
        """The bits of a value that are not known to be zero."""
        i = self.own.get(name)
        if i is None or name in seen or len(seen) > 20:
            return 0 if name in seen else 64 if i is None else i.width
        parts = [
            self.bits(o, seen | {name}) if o else _constant_bits(c, i.width)
            for o, c in zip(i.operands, i.constants, strict=True)
        ]
        match i.opcode:
            case "icmp" | "fcmp":
                return 1
            case "and":
                return min(parts)
            case "or" | "xor" | "phi":
                return min(max(parts), i.width)
            case "select":
                return min(max(parts[1:]), _type_bits(i))
            case "zext" | "trunc" | "freeze":
                return min(parts[0], _type_bits(i))
            case "lshr" if i.constants[1]:
                return max(parts[0] - int(i.constants[1].split()[-1]), 0)
            case "call" if i.callee == "hls_part":
                return 2 if i.constants[1].split()[-1] == "0" else 64
        return _type_bits(i)

    def _memories(self) -> None:
        """A load waits for the stores before it that may have its word, also in earlier iterations."""
        accesses = [(i, self._place(i)) for i in self.loop.instructions if i.opcode in ("load", "store")]
        order = {name: n for n, name in enumerate(self.own)}
        for load, read in accesses:
            for store, written in accesses:
                if load.opcode == "load" and store.opcode == "store" and read.meets(written):
                    distance = self.distances.get(read.memory, 1)
                    self.edges.append(Dependence(store.name, load.name, distance, registered=True))
                    if order[store.name] < order[load.name] and store.block == load.block:
                        self.edges.append(Dependence(store.name, load.name, 0, registered=True))

    def _memory(self, pointer: str) -> str:
        while (i := self.loop.outer.get(pointer)) and i.opcode in ("getelementptr", "bitcast", "freeze"):
            pointer = i.operands[0]
        if i and i.opcode in ("phi", "select"):
            bases = {self._memory(o) for o in i.operands if o and o != pointer and not self._is_bit(o)}
            return min(bases) if len(bases) == 1 else "anything"
        return pointer

    def _is_bit(self, name: str) -> bool:
        i = self.loop.outer.get(name)
        return i is not None and i.opcode == "icmp"

    def _place(self, i: Instruction) -> Place:
        pointer = i.operands[-1]
        memory = self._memory(pointer)
        array = self.loop.outer.get(memory)
        if array is None or re.sub(r"\.(sroa\.\d+|i\d*)$", "", memory.split(".")[0]) not in self.partitioned:
            return Place(memory, None, False)
        sizes, word = _dimensions(array.text)
        if len(sizes) == 1:
            return Place(memory, None, True)
        offset = self._offset(pointer, sizes, word)
        return Place(memory, None if offset is None else offset // (math.prod(sizes[1:]) * word), False)

    def _offset(self, pointer: str, sizes: list[int], word: int) -> int | None:
        """The bytes before a part of a partitioned array, as far as they are constant; None if the part
        is not."""
        total, row = 0, math.prod(sizes[1:]) * word
        while (i := self.loop.outer.get(pointer)) and i.opcode == "getelementptr":
            stride = re.search(r"getelementptr [\w ]*?((?:i\d+)|(?:\[.*\])|%[^,]+), ptr", i.text)
            of = stride[1] if stride else ""
            if of == "i8" and i.constants[1]:
                total += int(i.constants[1].split()[-1])
            elif of.startswith("[") and len(i.operands) > 1:
                inner = _dimensions(of)[0]
                step = math.prod(inner) * word
                for constant in i.constants[1:]:
                    if constant:
                        total += int(constant.split()[-1]) * step
                    elif step >= row:
                        return None
                    step = step // inner.pop(0) if inner else 0
            elif i.constants[1]:
                total += int(i.constants[1].split()[-1]) * word
            pointer = i.operands[0]
        return total


def _dimensions(text: str) -> tuple[list[int], int]:
    """The sizes of an array type, and the bytes of its elements: those of a word, if it is a class."""
    found = re.search(r"(?:\[\d+ x )+(i\d+)?", text)
    assert found, text
    return [int(n) for n in re.findall(r"\[(\d+) x", found[0])], int((found[1] or "i32")[1:]) // 8


def _constant_bits(text: str, width: int) -> int:
    found = re.search(r"(-?\d+)$", text)
    return min(int(found[1]).bit_length(), width) if found and int(found[1]) >= 0 else 1 if text else width


def _type_bits(i: Instruction) -> int:
    """The bits of the type of a result."""
    if found := re.match(r"(?:%\S+ = )(?:zext|trunc|sext|freeze|fpto\wi) .*? to i(\d+)", i.text):
        return int(found[1])
    return i.width
