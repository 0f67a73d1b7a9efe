"""The loops of a function in LLVM IR: blocks, instructions, and which branches decide about a block."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import llvmlite.binding as llvm
import networkx as nx

__all__ = ["AGAIN", "Instruction", "Loop", "inner_loops"]

AGAIN = "again"
"""What stands for the next iteration among the blocks of a loop."""

_LEFT, _END = "left", "end"

_NAMED = ("instruction", "argument", "global_variable", "function")


@dataclass(frozen=True)
class Instruction:
    """An instruction.

    Attributes:
        width: bits of its result, or of its widest operand.
        operands: the names of what it takes, "" for a constant.
        constants: the constants that it takes as text, "" for what has a name.
        incoming: of a phi, the block that each operand comes from.
        callee: of a call, the function.
    """

    name: str
    opcode: str
    block: str
    width: int
    operands: tuple[str, ...]
    constants: tuple[str, ...]
    incoming: tuple[str, ...] = ()
    callee: str = ""
    text: str = field(default="", repr=False)


@dataclass(frozen=True)
class Loop:
    """An innermost loop.

    Attributes:
        blocks: the successors of each of its blocks, with those outside.
        conditions: of each block that ends with a condition, the name of the condition.
        outer: all instructions of its function, by name.
    """

    header: str
    blocks: dict[str, tuple[str, ...]]
    conditions: dict[str, str]
    instructions: tuple[Instruction, ...]
    outer: dict[str, Instruction]

    @cached_property
    def flow(self) -> nx.DiGraph:
        """One iteration: its blocks, then `AGAIN` or leaving, then one end."""
        graph = nx.DiGraph([(AGAIN, _END), (_LEFT, _END)])
        for block, successors in self.blocks.items():
            for successor in successors:
                there = successor if successor in self.blocks else _LEFT
                graph.add_edge(block, AGAIN if successor == self.header else there)
        return graph

    @cached_property
    def deciders(self) -> dict[str, set[str]]:
        """For each block, and for `AGAIN`, the blocks whose conditions decide whether it comes: by
        post-dominators, those on which it is control dependent."""
        after = nx.immediate_dominators(self.flow.reverse(), _END)
        found: dict[str, set[str]] = {block: set() for block in self.flow}
        for block in self.blocks:
            successors = set(self.flow.successors(block))
            for successor in successors if len(successors) > 1 else ():
                while successor != after[block]:
                    found[successor].add(block)
                    successor = after[successor]
        return found

    def most(self, weight: dict[str, int]) -> int:
        """The greatest sum of weights of blocks along one iteration."""
        best: dict[str, int] = {}
        for block in nx.topological_sort(self.flow):
            before = max((best[p] for p in self.flow.predecessors(block)), default=0)
            best[block] = before + weight.get(block, 0)
        return best[_END]


def inner_loops(function: llvm.ValueRef) -> Iterator[Loop]:
    """Loops without a loop inside, in the order of their headers."""
    instructions = [i for block in function.blocks for i in _instructions(block)]
    outer = {i.name: i for i in instructions}
    successors, conditions, names = {}, {}, [block.name for block in function.blocks]
    for block in function.blocks:
        *_, last = block.instructions
        targets = [operand for operand in last.operands if _is(operand, "basic_block")]
        successors[block.name] = tuple(operand.name for operand in targets)
        if len(targets) == 2:
            conditions[block.name] = next(iter(last.operands)).name
    graph = nx.DiGraph((a, b) for a, there in successors.items() for b in there)
    graph.add_node(names[0])
    above = nx.immediate_dominators(graph, names[0])
    bodies: dict[str, set[str]] = {}
    for latch, header in graph.edges:
        if _dominates(above, header, latch):
            body = {header, latch}
            if latch != header:
                back = graph.reverse(copy=False).subgraph(set(graph) - {header})
                body |= nx.descendants(back, latch)
            bodies.setdefault(header, set()).update(body)
    for header in names:
        inside = bodies.get(header, set())
        if inside and not (bodies.keys() - {header}) & inside:
            yield Loop(
                header,
                {name: successors[name] for name in names if name in inside},
                {name: condition for name, condition in conditions.items() if name in inside},
                tuple(i for i in instructions if i.block in inside),
                outer,
            )


def _dominates(above: dict[str, str], upper: str, lower: str) -> bool:
    while lower != upper:
        if above.get(lower, lower) == lower:
            return False
        lower = above[lower]
    return True


def _instructions(block: llvm.ValueRef) -> Iterator[Instruction]:
    for number, i in enumerate(block.instructions):
        operands = list(i.operands)
        callee = ""
        if i.opcode == "call":
            callee = operands.pop().name
        values = [o for o in operands if not _is(o, "basic_block")]
        yield Instruction(
            i.name or f"{block.name}.{number}",
            i.opcode,
            block.name,
            max([_width(o) for o in values] + [_width(i)]) if i.opcode != "select" else _width(i),
            tuple(o.name if _is(o, *_NAMED) else "" for o in values),
            tuple("" if _is(o, *_NAMED) else str(o) for o in values),
            tuple(b.name for b in i.incoming_blocks) if i.opcode == "phi" else (),
            callee,
            str(i).strip(),
        )


def _is(value: llvm.ValueRef, *kinds: str) -> bool:
    return value.value_kind.name in kinds


def _width(value: llvm.ValueRef) -> int:
    found = re.fullmatch(r"i(\d+)", str(value.type))
    return int(found[1]) if found else 32
