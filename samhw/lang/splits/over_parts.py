"""Programs over the parts of their inputs.

Lanes by part: how many of the lanes of an index each part gets, so that they have the same to do.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.lang import Concat, Program, Region, Reshape, Statement, TensorDecl, accesses, check_program
from samhw.lang.splits.partition import Apart, TensorSplit, put_apart
from samhw.lang.splits.rule_text import parse_rule
from samhw.lang.splits.statements import StatementsOverParts
from samhw.names import Names
from samhw.tensors import Tensor

__all__ = ["Busiest", "SplitProgram", "dealt", "lane_shares", "split_program"]

Busiest = Callable[[str, int], Callable[[int], int]]
"""Of a part and a mode of it, what the busiest lane has to do, by the number of lanes."""


@dataclass(frozen=True)
class SplitProgram:
    """A program over parts.

    Attributes:
        program: to the same results, under the same names.
        partitions: of each tensor that is split, by its name.
        apart: the results that are computed part by part. A region at the end of the program puts each of
            them together.
    """

    program: Program
    partitions: Mapping[str, TensorSplit]
    apart: tuple[Apart, ...] = ()
    sums: Mapping[str, str] = field(default_factory=dict)
    """For each partial sum that is stored, the result that it is a part of."""
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The results that are sums of several terms over parts, each of which may be stored first; of each what
    these sums are: the result itself, or what is computed of it part by part."""

    def like(self) -> dict[str, str]:
        """For each further tensor the one of the program that was split that has its shape."""
        found = {name: part.tensor for part in self.partitions.values() for name in part.parts}
        found |= {name: apart.result for apart in self.apart for name in apart.results.values()}
        return found | {name: found.get(whole, whole) for name, whole in self.sums.items()}

    def lanes(self, given: Mapping[str, int], busiest: Busiest) -> dict[str, int]:
        """The lanes of a program's indices by those of this one.

        What tells the part has its lanes shared among the parts, so that each lane has about the same to do;
        of other indices every part has as many lanes as are given. Where a part's own index is given lanes,
        it keeps them.

        Args:
            given: by the indices of the program that was split, and of this one.
            busiest: what lanes of the parts have to do.
        """
        found = dict(given)
        for apart in self.apart:
            for index in given.keys() & apart.indices[next(iter(apart.indices))].keys():
                counts = [given[index]] * len(apart.indices)
                if index in apart.rows:
                    work = [busiest(part, apart.rows[index]) for part in apart.indices]
                    counts = lane_shares(work, given[index])
                own = [names[index] for names in apart.indices.values()]
                found = dict(zip(own, counts, strict=True)) | found
        wholes = [apart.whole for apart in self.apart]
        before = {index for whole in wholes for index in whole.indices}
        before |= {index for apart in self.apart for names in apart.indices.values() for index in names}
        used = {index for s in self.program.statements if s not in wholes for index in s.indices}
        return {index: count for index, count in found.items() if index in used or index not in before}

    def derived(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The parts of some data, by name; raises as `TensorSplit.cut`."""
        found: dict[str, Tensor] = {}
        for name, partition in self.partitions.items():
            found |= partition.cut(tensors[name])
        return found


def split_program(
    program: Program,
    split: Mapping[str, str],
    joined: Collection[str] | None = None,
    stored: Collection[str] = (),
) -> SplitProgram:
    """The program in which some inputs are sums of parts.

    Where a tensor is a factor of a sum, each part gets a term: `A * X` is `A_0 * X + A_1 * X`. Elsewhere, as
    in a function or a maximum, the sum of the parts stands in its place. Both are equal in real numbers,
    since each entry is in one part. Of more terms than can meet in one place, partial sums are stored first.
    A result of the program whose rows lie in one part each is computed part by part (`put_apart`), unless its
    region computes an operand.

    Args:
        split: by input, its rule in words.
        joined: the results that may be computed part by part; None for all of them. A design that is there
            has decided that, maybe in other regions than it has now.
        stored: the results whose terms over parts are stored each, and added after that.

    Raises:
        InputError: for a tensor that is not an input, is moved as a whole or is a mask; a rule that it cannot
            be split by; and for more terms than a statement may have.
    """
    partitions: dict[str, TensorSplit] = {}
    names = Names(program.tensors)
    for tensor, text in split.items():
        partitions[tensor] = _partition(program, tensor, text, names)
    if not partitions:
        return SplitProgram(program, partitions)
    tensors: dict[str, TensorDecl] = {}
    for decl in program.tensors.values():
        if decl.name not in partitions:
            tensors[decl.name] = decl
            continue
        for name, part in partitions[decl.name].parts.items():
            tensors[name] = replace(decl, name=name, format=part.format, span=None, implied=False)
    regions: list[Region] = []
    found = _put_apart(program, partitions, names, joined)
    for apart in found.values():
        decl = program.tensors[apart.result]
        for statement in apart.statements:
            name = statement.lhs.tensor
            tensors[name] = apart.part_result(decl, name)
    # Others speak of what is computed part by part as one result.
    result_of = {name: apart.result for apart in found.values() for name in apart.results.values()}
    stored_here = {*stored, *(name for name, result in result_of.items() if result in stored)}
    over = StatementsOverParts(tensors, partitions, names, stored_here)
    for region in program.regions:
        regions += _region(_with_parts(region, found), over)
    regions += [Region((apart.whole,)) for apart in found.values()]
    made = replace(program, tensors=tensors, regions=tuple(regions))
    check_program(made)
    added: dict[str, tuple[str, ...]] = {}
    for name in over.added:
        result = result_of.get(name, name)
        added[result] = (*added.get(result, ()), name)
    return SplitProgram(made, partitions, tuple(found.values()), over.sums, added)


def _put_apart(
    program: Program,
    partitions: Mapping[str, TensorSplit],
    tensors: Names,
    joined: Collection[str] | None,
) -> dict[str, Apart]:
    """The results that are computed part by part, by their names."""
    indices = Names(index for statement in program.statements for index in statement.indices)
    results = {decl.name: decl for decl in program.outputs if joined is None or decl.name in joined}
    found = {}
    for region in program.regions:
        for statement in region.statements:
            name = statement.lhs.tensor
            if name not in results or any(access.tensor in region.written for access in statement.reads):
                continue
            apart = put_apart(statement, results[name], partitions, tensors, indices)
            if apart is not None:
                found[name] = apart
    return found


def _with_parts(region: Region, found: Mapping[str, Apart]) -> Region:
    """A region with a statement for each part of a result that is computed part by part."""
    here = [found[name] for name in region.written if name in found]
    if not here:
        return region
    statements: list[Statement] = []
    for statement in region.statements:
        apart = found.get(statement.lhs.tensor)
        statements += [statement] if apart is None else apart.statements
    order = region.order
    if order is not None:
        used = {index for statement in statements for index in statement.indices}
        names = [[own[i] for apart in here for own in apart.indices.values() if i in own] for i in order]
        order = tuple(
            name for i, own in zip(order, names, strict=True) for name in (*([i] if i in used else []), *own)
        )
    return Region(tuple(statements), order, statements[-1].lhs.tensor)


def _region(region: Region, over: StatementsOverParts) -> Iterator[Region]:
    """A region over parts. It ends before a statement that adds up partial sums, each of which has a
    region of its own."""
    rest: list[Statement] = []
    is_whole = True
    for statement in region.statements:
        *partial, last = over.of(statement)
        if partial and rest:
            yield Region(tuple(rest))
            rest = []
        for one in partial:
            has_order = region.order is not None and set(region.order) == set(one.indices)
            yield Region((one,), region.order if has_order else None)
        rest.append(last)
        is_whole = is_whole and not partial
    yield replace(region, statements=tuple(rest)) if is_whole else Region(tuple(rest), label=region.label)


def _partition(program: Program, tensor: str, text: str, names: Names) -> TensorSplit:
    program.check_operand(tensor)
    for statement in program.statements:
        whole = statement.rhs if isinstance(statement.rhs, Reshape | Concat) else None
        if whole is not None and any(access.tensor == tensor for access in accesses(whole)):
            raise InputError(f"'{tensor}' is moved as a whole by '{statement}', and cannot be split.")
        if statement.mask is not None and statement.mask.tensor == tensor:
            raise InputError(
                f"'{tensor}' is the mask of '{statement.lhs}', and cannot be split; multiply by it instead."
            )
    for start in program.starts:
        if any(access.tensor == tensor for access in start.reads):
            raise InputError(f"'{tensor}' is what a scan starts from ('{start}'), and cannot be split.")
    decl = program.tensors[tensor]
    if decl.format.block is not None:
        raise InputError(
            f"'{tensor}' is stored in blocks, which no rule splits; store it without blocks, as csr."
        )
    rule = parse_rule(text)
    try:
        parts = rule.parts(decl.format)
    except InputError as error:
        raise InputError(f"'{tensor}' cannot be split: {error}.") from None
    return TensorSplit(tensor, rule, {names.fresh(f"{tensor}_{part.name}"): part for part in parts})


MOST_LANES = 16
"""Of one scatter: more are a tree of such, whose factors are at most this."""


def lane_shares(busiest: Sequence[Callable[[int], int]], lanes: int) -> list[int]:
    """For each part a number of lanes, `lanes` in all, or one for each part if these are more.

    The busiest lane of all has as little to do as is possible: the numbers are the least ones with which no
    lane has more.

    Args:
        busiest: for each part, what its busiest lane has to do, by its number of lanes.
    """
    counts = [n for n in range(1, lanes + 1) if _has_tree(n)] or [1]
    work = np.array([[own(n) for n in counts] for own in busiest])
    chosen = np.zeros(len(busiest), np.int64)
    bounds = np.unique(work)
    low, high = 0, len(bounds)
    while low < high:
        middle = (low + high) // 2
        fits = work <= bounds[middle]
        least = fits.argmax(axis=1)
        if fits.any(axis=1).all() and sum(counts[n] for n in least) <= lanes:
            chosen, high = least, middle
        else:
            low = middle + 1
    return [counts[n] for n in chosen]


def dealt(rows: NDArray[np.int64]) -> Callable[[int], int]:
    """By the number of lanes, the entries of the busiest of them, to which rows of these lengths are dealt in
    turn."""

    def busiest(lanes: int) -> int:
        turns = np.arange(len(rows)) % lanes
        return int(np.bincount(turns, weights=rows, minlength=1).max())

    return busiest


def _has_tree(lanes: int) -> bool:
    """Whether a tree of scatters has this many lanes."""
    for factor in range(2, MOST_LANES + 1):
        while lanes % factor == 0:
            lanes //= factor
    return lanes == 1
