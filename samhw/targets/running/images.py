"""Between tensors and the words in a design's memories, for the simulator and for hardware alike: all that a
run is given, and results, of which lanes may have shards (`TensorBinding.shards`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.compiler import Compiled, block_counts, check_divided
from samhw.compiler.passes import Recipe, with_derived
from samhw.errors import InputError, RunError
from samhw.graph import Design, Graph, Memory, MemoryRole, TensorBinding, memory_name
from samhw.graph.numerics import Words
from samhw.graph.off_chip import PlacedArray
from samhw.lang import Program
from samhw.lang.typed import types_of
from samhw.limits import WORD, check_memory
from samhw.tensors import Format, Tensor
from samhw.tensors.ranges import Along, RangeLimit, even_ranges, row_entries, row_works
from samhw.tensors.ranges import in_ranges as cut
from samhw.words import did_you_mean

__all__ = ["Inputs", "inputs_of", "load", "load_inputs", "packed", "stored_words", "unload", "unpacked"]


def shard_sizes(
    binding: TensorBinding, sizes: Sequence[int], extents: Mapping[str, int]
) -> Iterator[tuple[int | None, Sequence[int]]]:
    """The shards that a tensor lies in, None for a whole one, each with the sizes of its levels.

    Args:
        sizes: those of the whole.
        extents: of the run.
    """
    if binding.shards == 1:
        yield None, sizes
        return
    for shard in range(binding.shards):
        dealt = len(range(shard, sizes[0], binding.shards))
        yield shard, (extents[binding.rows[shard]] if binding.rows else dealt, *sizes[1:])


def joined(
    binding: TensorBinding, extents: Mapping[str, int], words: Mapping[str, Words]
) -> dict[str, Words]:
    """The arrays of an output tensor, from the words of its memories.

    Args:
        extents: of the run.

    Raises:
        InputError: where a shard has fibers that end before they start.
    """
    shape = tuple(extents[index] for index in binding.indices)
    format = Format.parse(binding.format, len(shape))
    if binding.shards == 1:
        return {name.removeprefix(f"{binding.stored}."): array for name, array in words.items()}

    def stored(array: str) -> list[Words]:
        return [words[memory_name(binding.stored, array, shard)] for shard in range(binding.shards)]

    # For each shard, the outermost coordinate that each of its fibers lies in.
    sizes = format.level_sizes(shape)
    own = [extents[name] for name in binding.rows] or [0] * binding.shards
    first = list(accumulate(own, initial=0))
    if binding.rows and format.levels[0].is_full:
        rows = [np.arange(*ends) for ends in pairwise(first)]
        whole: dict[str, Words] = {}
    elif format.levels[0].is_full:
        rows = [np.arange(shard, sizes[0], binding.shards) for shard in range(binding.shards)]
        whole = {}
    else:
        rows = [crd + start for crd, start in zip(stored("crd0"), first, strict=False)]
        whole = {"crd0": _by_row(rows, rows)}
        whole["pos0"] = np.array([0, len(whole["crd0"])])
    for level, size in list(enumerate(sizes))[1:]:
        if format.levels[level].is_full:
            rows = [np.repeat(own, size) for own in rows]
            continue
        lengths = [np.diff(pos) for pos in stored(f"pos{level}")]
        if any((own < 0).any() for own in lengths):
            raise InputError(f"a fiber of level {level} ends before it starts")
        whole[f"pos{level}"] = np.concatenate([[0], np.cumsum(_by_row(rows, lengths))])
        rows = [np.repeat(own, length) for own, length in zip(rows, lengths, strict=True)]
        whole[f"crd{level}"] = _by_row(rows, stored(f"crd{level}"))
    whole["vals"] = _by_row(rows, stored("vals"))
    return whole


def _by_row(rows: Sequence[Words], shards: Sequence[Words]) -> Words:
    """What the shards have, row after row. Within a row the order stays."""
    found: Words = np.concatenate(shards)[np.argsort(np.concatenate(rows), kind="stable")]
    return found


_EVERY_BIT = 2**32 - 1
"""Of an index: words have no sign, and offsets may be negative."""


def load(design: Design, tensors: Mapping[str, Tensor]) -> tuple[dict[str, Words], dict[str, int]]:
    """The words of the input memories, and the extent of each index, for a run on those tensors.

    An index of no input tensor gets the greatest extent that the build takes. Raises `InputError` for a
    tensor that is missing, not wanted, of another format, or too large for the build, for values that the
    design's value type has not, and for shapes that disagree.
    """
    bindings = {b.name: b for b in design.tensors if b.role is MemoryRole.INPUT and not b.alias_of}
    for name in tensors.keys() - bindings.keys():
        raise InputError(
            f"{design.name} has no input {name!r}{did_you_mean(name, bindings)}; its inputs are "
            f"{', '.join(bindings)}."
        )
    memories: dict[str, Words] = {}
    origin: dict[str, str] = {}
    extents: dict[str, int] = {}
    in_ranges: dict[tuple[str, ...], dict[str, Tensor]] = {}
    whole: list[Along] = []
    for name, binding in bindings.items():
        if name not in tensors:
            raise InputError(
                f"{design.name} needs the tensor {name!r}, which is missing; add it to the data."
            )
        tensor = tensors[name]
        _check(binding, tensor)
        for index, size in zip(binding.indices, tensor.shape, strict=True):
            if extents.setdefault(index, size) != size:
                raise InputError(
                    f"Index {index} runs to {extents[index]:,} in tensor {origin[index]!r} but to {size:,} "
                    f"in tensor {name!r}; give tensors whose shapes agree."
                )
            origin.setdefault(index, name)
        if binding.rows:
            in_ranges.setdefault(binding.rows, {})[name] = tensor
        else:
            memories |= _words(design, name, tensor)
            whole.append((tensor, binding.indices))
    for rows, together in in_ranges.items():
        results = [b for b in design.tensors if b.rows == rows and b.role is MemoryRole.OUTPUT]
        sizes = {index: extents.get(index, greatest) for index, greatest in design.extents.items()}
        written = [prod(sizes[index] for index in inner) for inner in map(_inner, results) if inner]
        cut_tensors = [(tensor, bindings[name].indices) for name, tensor in together.items()]
        ends = _ends(design, rows, together, row_works(cut_tensors, whole, written))
        extents |= {row: end - first for row, (first, end) in zip(rows, pairwise(ends), strict=True)}
        for name, tensor in together.items():
            for shard, own in enumerate(cut(tensor, ends)):
                memories |= _words(design, name, own, shard)
    every = {index: extents.get(index, greatest) for index, greatest in design.extents.items()}
    return memories, every | block_counts(design.tensors, every)


def unload(graph: Graph, memories: Mapping[str, Words], extents: Mapping[str, int]) -> dict[str, Tensor]:
    """The output tensors that a run with those extents left in the memories, but for those of whose memories
    none is given. A step of a tensor is none: it lies in the whole one.

    Words after the end of an array are ignored. Raises `RunError` where the words are no tensor.
    """
    values = {memory.tensor: memory.value or graph.value for memory in graph.memories if memory.is_value}
    tensors = {}
    given = {memory.tensor for memory in graph.memories if memory.name in memories}
    for binding in graph.tensors:
        if binding.role is MemoryRole.OUTPUT and not binding.is_step and binding.stored in given:
            words = stored_words(graph.memory, binding, extents, lambda name, count: memories[name][:count])
            shape = tuple(extents[index] for index in binding.indices)
            try:
                arrays = joined(binding, extents, words)
                arrays["vals"] = values[binding.stored].decode(arrays["vals"])
                tensors[binding.name] = Tensor.from_arrays(shape, binding.format, arrays)
            except InputError as error:
                raise RunError(
                    f"The run left an output {binding.name!r} that is no tensor: {error}"
                ) from error
    return tensors


def stored_words(
    memories: Mapping[str, Memory],
    binding: TensorBinding,
    extents: Mapping[str, int],
    fetch: Callable[[str, int], Words],
) -> dict[str, Words]:
    """The words of an output tensor's arrays, by the names of their memories.

    `fetch(name, count)` gives the first words of a memory. How many there are follows level by level: a
    compressed level has as many entries as the last word of its `pos` says. Raises `RunError` where that is
    more than fits.
    """
    words: dict[str, Words] = {}

    def take(array: str, shard: int | None, count: int) -> Words:
        name = memory_name(binding.stored, array, shard)
        memory = memories[name]
        count *= memory.payload().words
        if not 0 <= count <= memory.words:
            raise RunError(
                f"The run left {count:,} words in the memory {name}, which holds {memory.words:,}."
            )
        words[name] = fetch(name, count)
        return words[name]

    def take_level(shard: int | None, depth: int, array: str, count: int) -> Words:
        return take(f"{array}{depth}", shard, count)

    format = Format.parse(binding.format, len(binding.indices))
    shape = tuple(extents[index] for index in binding.indices)
    for shard, sizes in shard_sizes(binding, format.level_sizes(shape), extents):
        entries = 1
        for depth, (level, size) in enumerate(zip(format.of_blocks.levels, sizes, strict=False)):
            entries = level.read_back(partial(take_level, shard, depth), entries, size)
        take("vals", shard, entries)
    return words


def _check(binding: TensorBinding, tensor: Tensor) -> None:
    """That the build can take a tensor of this rank, format and shape."""
    name, rank = binding.name, len(binding.indices)
    if tensor.rank != rank:
        raise InputError(f"Tensor {name!r} has rank {tensor.rank}, but the program gives it {rank} indices.")
    if tensor.format != Format.parse(binding.format, rank):
        raise InputError(
            f"Tensor {name!r} is stored as {tensor.format}, but this build takes {binding.format}; "
            "convert it first."
        )
    for index, size, greatest in zip(binding.indices, tensor.shape, binding.shape, strict=True):
        if size > greatest:
            raise InputError(
                f"Tensor {name!r} has extent {index}={size:,}, but this build takes {greatest:,}; "
                "rebuild with a larger shape."
            )


def _inner(result: TensorBinding) -> list[str]:
    """The dimensions inside of the outermost one, of a dense result; nothing for others."""
    format = Format.parse(result.format, len(result.indices))
    return [result.indices[mode] for mode in format.mode_order[1:]] if format.is_all_dense else []


def _ends(
    design: Design, rows: tuple[str, ...], tensors: Mapping[str, Tensor], works: Sequence[NDArray[np.int64]]
) -> list[int]:
    """The ranges of rows that tensors have in common, one for each of these extents, as `even_ranges` gives
    them. Raises `InputError` where no ranges fit the build."""
    room = min(design.extents[row] for row in rows)
    limits, held = [RangeLimit(np.ones_like(works[0]), room)], [f"{room:,} rows"]
    for name, tensor in tensors.items():
        shards = [design.memory.get(memory_name(name, "vals", n)) for n in range(len(rows))]
        words = min((shard.words for shard in shards if shard), default=0)
        if words and tensor.format.is_sparse:
            limits.append(RangeLimit(row_entries(tensor), words))
            held.append(f"{words:,} entries of {name!r}")
    ends = even_ranges(works, len(rows), limits)
    if ends is None:
        has = [f"{len(works[0]):,} rows", *(f"{t.nnz:,} entries of {n!r}" for n, t in tensors.items())]
        raise InputError(
            f"No {len(rows)} ranges of rows hold {', '.join(has)}, since this build takes {', '.join(held)} "
            "in each; rebuild for these data, or with a larger capacity (--capacity, --extents)."
        )
    return ends


def _words(design: Design, name: str, tensor: Tensor, shard: int | None = None) -> dict[str, Words]:
    words: dict[str, Words] = {}
    for array, content in tensor.arrays().items():
        memory = design.memory.get(memory_name(name, array, shard))
        if (
            memory is None
        ):  # An array that the design never reads, such as the coordinates of a located level.
            continue
        if len(content) > memory.words:
            what = "nonzeros" if array == "vals" else f"entries in {array}"
            where = "" if shard is None else f" in range {shard} of its rows"
            raise InputError(
                f"Tensor {name!r} has {len(content):,} {what}{where}, but this build takes {memory.words:,}; "
                "rebuild with a larger capacity (--capacity)."
            )
        try:
            if memory.is_signed:
                content = content & _EVERY_BIT
            words[memory.name] = design.stored(memory).encode(content)
        except InputError as error:
            raise InputError(f"Tensor {name!r} cannot be used: {error}") from error
    return words


def packed(placed: PlacedArray, words: ArrayLike) -> bytes:
    """The words of an array off the chip as its bytes there, from its first place on."""
    values = np.asarray(words).astype(np.uint32)
    places = -(-len(values) // placed.words)
    padded = np.zeros((places, placed.words), f"<u{placed.word_bytes}")
    padded.ravel()[: len(values)] = values
    stored = np.zeros((places, placed.place_bytes), np.uint8)
    stored[:, : placed.words * placed.word_bytes] = padded.view(np.uint8)
    return stored.tobytes()


def unpacked(placed: PlacedArray, stored: bytes) -> Words:
    """The words of the places that lie in these bytes."""
    places = np.frombuffer(stored, np.uint8).reshape(-1, placed.place_bytes)
    words = np.ascontiguousarray(places[:, : placed.words * placed.word_bytes])
    return words.view(f"<u{placed.word_bytes}").ravel().astype(np.int64)


# What a design is given for a run of a program: its inputs, as they are stored, and its extents.


class Inputs(NamedTuple):
    """What a design is given for a run."""

    memories: dict[str, Words]
    """The words of the input memories."""
    extents: dict[str, int]
    """The extent of each index."""


def inputs_of(compiled: Compiled, tensors: Mapping[str, Tensor]) -> Inputs:
    """What the design of a compiled program is given for a run on those tensors, with their rows in the order
    that it asks for; raises as `load_inputs` and `RowOrders.drawn`."""
    stored = compiled.row_orders.drawn(tensors).there(tensors)
    return load_inputs(compiled.program, compiled.design, stored, compiled.recipes)


def load_inputs(
    program: Program,
    design: Design,
    tensors: Mapping[str, Tensor],
    recipes: Mapping[str, Recipe] | None = None,
) -> Inputs:
    """What a design is given for a run on those tensors.

    What no input has an extent for, as the result of a reshape or a concatenation, gets the one that the
    program makes of the inputs' shapes.

    Args:
        program: that the design has been compiled from.
        tensors: at least the inputs of the program and of the design, in any formats.
        recipes: of the inputs that are made from those tensors (`Compiled.recipes`).

    Raises:
        InputError: as `load` and `with_derived` do; for shapes of which the program makes no extents, or too
            great ones; and for a result that is too large for this machine.
    """
    tensors = with_derived(tensors, recipes or {})
    memories, extents = load(design, _stored(program, design, tensors))
    extents |= _inferred(program, design, tensors)
    extents |= block_counts(design.tensors, extents)
    check_divided(program, extents)
    for binding in design.tensors:
        if binding.role is MemoryRole.OUTPUT and not binding.alias_of:
            _check_fits(binding, extents)
    return Inputs(memories, extents)


def _stored(program: Program, design: Design, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those of the tensors that the design takes, in the formats that it takes them in.

    Coordinate lists become compressed levels, and masks lose the zeros that they store, since what a mask
    stores is taken for nonzero; so they lose what is zero in their type.
    """
    masks = {s.mask.tensor for s in program.statements if s.mask}
    types = types_of(program, design.value)
    stored = {}
    for binding in design.tensors:
        tensor = tensors.get(binding.name)
        if tensor is None or binding.role is not MemoryRole.INPUT:
            continue
        if binding.name in masks:
            coords, vals = tensor.to_coo()
            kept = types[binding.name].decode(types[binding.name].encode(vals)) != 0
            tensor = Tensor.from_coo(coords[:, kept], vals[kept], tensor.shape, tensor.format)
        if binding.name in program.tensors and program.tensors[binding.name].format.one_each:
            # Refuses what stores none or several points somewhere.
            tensor = tensor.convert(program.tensors[binding.name].format)
        stored[binding.name] = tensor.convert(binding.format)
    return stored


def _check_fits(result: TensorBinding, extents: Mapping[str, int]) -> None:
    """Refuses a result whose outer dense levels alone are too large: these are written, whatever it holds."""
    fmt = Format.parse(result.format, len(result.indices))
    dense = fmt.mode_order[: fmt.of_blocks.outer_dense]
    count = prod(extents[result.indices[mode]] for mode in dense)
    check_memory(
        WORD * count,
        f"The result '{result.name}', which has {count:,} places in its dense levels,",
        "store it in compressed levels, or give smaller data",
    )


def _inferred(program: Program, design: Design, tensors: Mapping[str, Tensor]) -> dict[str, int]:
    """The extents of the indices that no input of the design has, as far as the program gives them: all of
    those that tensors have, and those of what streams alone carry."""
    given = {i for b in design.tensors if b.role is MemoryRole.INPUT and not b.alias_of for i in b.indices}
    named = {i: b.name for b in design.tensors for i in b.indices}
    left = design.extents.keys() - given
    if not left:
        return {}
    shapes = {decl.name: tensors[decl.name].shape for decl in program.inputs if decl.name in tensors}
    extents = program.unbound.bind(shapes).dimensions.extents
    inferred = {}
    for index in left:
        extent = extents.get(index)
        whose = f"index {index} in tensor {named[index]!r}" if index in named else f"index {index}"
        if extent is None:
            if index in named:
                raise InputError(f"Nothing gives the extent of {whose}; declare it, as in {index}=16.")
            continue
        if extent > design.extents[index]:
            raise InputError(
                f"The extent of {whose} is {extent:,}, but this build takes {design.extents[index]:,}; "
                "rebuild with a larger shape."
            )
        inferred[index] = extent
    return inferred
