"""Storage formats: one level type per stored level, outermost first, and the order of the tensor's modes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from samhw.errors import InputError
from samhw.tensors.formats.level import LevelType, level_type, level_types
from samhw.tensors.formats.levels.compressed import Compressed
from samhw.tensors.formats.levels.dense import Dense
from samhw.tensors.formats.levels.singleton import Singleton
from samhw.words import did_you_mean

__all__ = ["Format"]

_DENSE, _COMPRESSED, _SINGLETON = Dense(), Compressed(), Singleton()


@dataclass(frozen=True)
class Format:
    """A storage format for tensors of one rank.

    Parameters
    ----------
    levels
        The level types, outermost first.
    mode_order
        A permutation of the tensor's modes: level ``k`` stores mode ``mode_order[k]``.
    block
        The sizes of the dense blocks of ``bcsr(b)`` and its like, by mode; ``None`` for every other format. A
        blocked format has two levels a mode: first those of the blocks, as in the format without blocks, then
        a dense one for the coordinate of each mode inside of the block. One size stands for all modes.

    Raises
    ------
    InputError
        When the three do not make a format.
    """

    levels: tuple[LevelType, ...]
    mode_order: tuple[int, ...]
    block: tuple[int, ...] | int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.block, int):
            object.__setattr__(self, "block", (self.block,) * len(self.mode_order))
        object.__setattr__(
            self,
            "levels",
            tuple(level_type(level) if isinstance(level, str) else level for level in self.levels),
        )
        object.__setattr__(self, "mode_order", tuple(int(mode) for mode in self.mode_order))
        if sorted(self.mode_order) != list(range(self.rank)):
            raise InputError(
                f"mode order {_tuple_text(self.mode_order)} is not a permutation: "
                f"name each of the modes 0 to {self.rank - 1} once"
            )
        if self.block is not None:
            self._check_blocked()
        elif len(self.levels) != self.rank:
            raise InputError(
                f"format {_tuple_text(self.levels)} has {len(self.levels)} levels but its mode order has "
                f"{self.rank} modes: give one level per mode"
            )
        for depth, level in enumerate(self.levels):
            if why := level.misplaced(self.levels, depth):
                raise InputError(f"format {_tuple_text(self.levels)} is impossible: {why}")

    def _check_blocked(self) -> None:
        assert isinstance(self.block, tuple)
        rank, inner = self.rank, self.levels[self.rank :]
        if wrong := [size for size in self.block if size < 1]:
            raise InputError(f"block size {wrong[0]} is impossible: use 1 or more")
        if (
            len(self.block) != rank
            or len(self.levels) != 2 * rank
            or not all(level.is_full for level in inner)
        ):
            raise InputError(
                f"a blocked format has a block size and two levels for each mode, the inner ones dense, not "
                f"{len(self.block)} sizes and the levels {_tuple_text(self.levels)} for rank {rank}"
            )
        if self.levels[:rank] not in _blocked_formats(rank).values():
            raise InputError(
                f"no format has blocks in the levels {_tuple_text(self.levels[:rank])}: "
                f"use one of {', '.join(_blocked_formats(rank))}"
            )

    @classmethod
    def dense(
        cls, rank: int, mode_order: Iterable[int] | None = None, *, blocks: Sequence[int] = ()
    ) -> "Format":
        """Dense levels, of modes in their order or in another one; in blocks if one is larger than 1."""
        made = cls.sparse_in([False] * rank, mode_order)
        return made.blocked(blocks) if any(size > 1 for size in blocks) else made

    @classmethod
    def compressed(cls, rank: int, mode_order: Iterable[int] | None = None) -> "Format":
        """Compressed levels, of modes in their order or in another one."""
        return cls.sparse_in([True] * rank, mode_order)

    @classmethod
    def sparse_in(cls, is_sparse: Iterable[bool], mode_order: Iterable[int] | None = None) -> "Format":
        """A compressed level for each that is sparse, a dense one for each other, outermost first."""
        levels = tuple(_COMPRESSED if sparse else _DENSE for sparse in is_sparse)
        return cls(levels, tuple(range(len(levels)) if mode_order is None else mode_order))

    @classmethod
    def points(cls, rank: int, below: int = 0, *, one_each: bool = False) -> "Format":
        """A list of coordinates below each position of some dense levels.

        Parameters
        ----------
        below
            How many levels are dense: none in coo.
        one_each
            Whether each list is exactly one point.
        """
        first = () if one_each else (_COMPRESSED,)
        points = (_SINGLETON,) * (rank - below - len(first))
        return cls((*(_DENSE,) * below, *first, *points), tuple(range(rank)))

    @classmethod
    def parse(cls, text: str, rank: int) -> "Format":
        """The format of that name for tensors of rank ``rank``.

        ``text`` is a name (``dense``, ``csr``, ``csc``, ``dcsr``, ``dcsc``, ``coo``, ``csf``, ``ragged``,
        ``ell(4)``, ``dia``, ``scalar``, and with blocks ``bcsr(4)``, ``dbsr(4,2)``, ``bdense(4,4)``,
        ``bcsf(4)``, ``srbcrs(8,32)``) or a list of levels such as ``(dense, compressed, singleton)``. Either
        may be followed by a mode order, ``csf @ (2, 0, 1)``, which replaces the order that the name implies.

        Raises
        ------
        InputError
            When the text is no format, or none of this rank.
        """
        name, at, order_text = (part.strip() for part in text.partition("@"))
        format = _parse_levels(name, rank)
        if not at:
            return format
        order = _tuple_items(order_text)
        if order is None or not all(mode.isdecimal() and len(mode) < 10 for mode in order):
            raise InputError(f"mode order {order_text!r} does not parse: write it as in 'csf @ (2, 0, 1)'")
        return cls(format.levels, tuple(int(mode) for mode in order), format.block)

    @classmethod
    def of(cls, format: "Format | str", rank: int) -> "Format":
        """``format``, parsed if it is a text, and checked to be of rank ``rank``.

        Raises
        ------
        InputError
            When the text is no format, or the format is of another rank.
        """
        if isinstance(format, str):
            return cls.parse(format, rank)
        if format.rank != rank:
            raise InputError(f"format {format} is for rank {format.rank} but the tensor has rank {rank}")
        return format

    def __str__(self) -> str:
        """The shortest text that :meth:`parse` reads back as this format."""
        if self.block is not None:
            name = f"{self._block_name}({','.join(map(str, self._block_sizes))})"
            return name if self.is_natural else f"{name} @ {_tuple_text(self.mode_order)}"
        named = _named_formats(self.rank)
        for name, format in named.items():
            if format == self:
                return name
        for name, format in named.items():
            if format.levels == self.levels and format.is_natural:
                return f"{name} @ {_tuple_text(self.mode_order)}"
        is_named = self.rank == 2 and self.levels[0].is_full and self.levels[1].is_matrix_format
        text = str(self.levels[1]) if is_named else _tuple_text(self.levels)
        return text if self.is_natural else f"{text} @ {_tuple_text(self.mode_order)}"

    @property
    def rank(self) -> int:
        """The number of modes of the tensors that this format stores."""
        return len(self.mode_order)

    @property
    def level_modes(self) -> tuple[int, ...]:
        """The tensor mode that each stored level belongs to. A blocked format has two levels a mode."""
        return self.mode_order if self.block is None else self.mode_order * 2

    @property
    def of_blocks(self) -> "Format":
        """The format of the blocks: itself, but for a blocked one, whose inner levels are left out."""
        return self if self.block is None else Format(self.levels[: self.rank], self.mode_order)

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of what lies at one place of `of_blocks`, in storage order: () without blocks."""
        return () if self.block is None else tuple(self.block_of(mode) for mode in self.mode_order)

    def block_of(self, mode: int) -> int:
        """The size of a block along a mode; 1 without blocks."""
        return self.block[mode] if isinstance(self.block, tuple) else 1

    def blocked(self, sizes: Sequence[int] | int | None) -> "Format":
        """The same format of blocks, as `block` says; coordinate lists become compressed levels."""
        if sizes is None:
            return self
        outer = (level.loaded for level in self.of_blocks.levels)
        block = sizes if isinstance(sizes, int) else tuple(sizes)
        return Format((*outer, *(_DENSE,) * self.rank), self.mode_order, block)

    def compressed_in(self, mode: int) -> "Format":
        """The format with a compressed level for a mode of which only some coordinates are left. A format of
        blocks has all of them compressed, as there is none for some."""
        if self.block is not None:
            return Format.compressed(self.rank, self.mode_order).blocked(self.block)
        pairs = zip(self.levels, self.mode_order, strict=True)
        levels = (_COMPRESSED if at == mode and level.is_full else level for level, at in pairs)
        return replace(self, levels=tuple(levels))

    @property
    def rows(self) -> "Format":
        """Rows of entries below a dense level, with the modes in this order."""
        return Format.sparse_in([False, *[True] * (self.rank - 1)], self.mode_order)

    @property
    def of_result(self) -> "Format":
        """The format of a result that has its coordinates where this one does: levels that no region writes
        become compressed."""
        levels = (level if level.loaded.writer else _COMPRESSED for level in self.levels)
        return replace(self, levels=tuple(levels))

    @property
    def loaded(self) -> "Format":
        """The format in the memories of a design."""
        return replace(self, levels=tuple(level.loaded for level in self.levels))

    @property
    def is_all_dense(self) -> bool:
        """Whether every level is dense, so that ``vals`` is the whole array in ``mode_order``."""
        return all(level.is_full for level in self.levels)

    @property
    def stores_fill(self) -> bool:
        """Whether ``vals`` holds zeros that nobody stored, because the innermost level has places for
        them."""
        return self.levels[-1:] != () and self.levels[-1].stores_fill

    @property
    def is_by_place(self) -> bool:
        """Whether which zeros have a place depends on the order of coordinates."""
        return any(level.levels_by_place for level in self.levels)

    @property
    def is_sparse(self) -> bool:
        """Whether a level leaves coordinates out, and does not store exactly one."""
        return not all(level.is_full or level.is_branchless for level in self.levels)

    @property
    def outer_dense(self) -> int:
        """The number of dense levels outside of all others."""
        return len(list(takewhile(lambda level: level.is_full, self.levels)))

    @property
    def one_each(self) -> int:
        """The number of dense levels, if the others are singletons, so that exactly one point is stored for
        each combination of their coordinates; 0 in any other format."""
        points = self.levels[self.outer_dense :]
        return self.outer_dense if points and all(level.is_branchless for level in points) else 0

    def greatest_sizes(self, shape: Sequence[int], entries: int) -> list[int]:
        """How many positions each level of a tensor has at most, outermost first; of a blocked format, each
        level of the blocks.

        Parameters
        ----------
        shape
            The greatest extent of each mode, counted in blocks.
        entries
            The most that a compressed level holds.
        """
        size, sizes = 1, []
        for level, mode in zip(self.of_blocks.levels, self.mode_order, strict=True):
            size = level.most_positions(size, shape[mode], entries)
            sizes.append(size)
        return sizes

    def level_sizes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The size of each stored level for a tensor of that shape. Blocks at the edge are padded."""
        sizes = tuple(-(-shape[mode] // self.block_of(mode)) for mode in self.mode_order)
        return (*sizes, *self.block_shape)

    @property
    def _block_sizes(self) -> tuple[int, ...]:
        """Its sizes as they are written: one stands for all."""
        assert isinstance(self.block, tuple)
        return self.block[:1] if self.block == self.block[:1] * self.rank else self.block

    @property
    def _block_name(self) -> str:
        outer = self.levels[: self.rank]
        named = (name for name, levels in _blocked_formats(self.rank).items() if levels == outer)
        return next(named)

    @property
    def is_natural(self) -> bool:
        """Whether its modes are in their own order."""
        return self.mode_order == tuple(range(self.rank))


_BLOCKED = re.compile(r"(\w+)\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\)")
_SRBCRS = re.compile(r"srbcrs\(\s*(\d{1,9})\s*,\s*[1-9]\d{0,8}\s*\)")


@lru_cache
def _blocked_formats(rank: int) -> dict[str, tuple[LevelType, ...]]:
    """The levels of the blocks in each blocked format of a rank, by its name."""
    if rank == 0:
        return {}
    named = {"bcsr": Format.parse("csr", 2), "dbsr": Format.parse("dcsr", 2)} if rank == 2 else {}
    named |= {"bdense": Format.dense(rank), "bcsf": Format.compressed(rank)}
    return {name: format.levels for name, format in named.items()}


@lru_cache
def _named_formats(rank: int) -> dict[str, Format]:
    """The named formats of a rank. Where two names mean the same format, the canonical one comes first."""
    if rank == 0:
        return {"scalar": Format((), ()), "dense": Format((), ())}
    named = {"dense": Format.dense(rank)}
    if rank == 2:
        for name, order in {"csr": (0, 1), "csc": (1, 0)}.items():
            named[name] = Format.sparse_in([False, True], order)
            named[f"d{name}"] = Format.compressed(2, order)
    return named | {"csf": Format.compressed(rank), "coo": Format.points(rank)}


def _parse_levels(text: str, rank: int) -> Format:
    named = _named_formats(rank)
    if text in named:
        return named[text]
    of_matrices = {name: type for name, type in level_types().items() if type.is_matrix_format and rank == 2}
    if text.partition("(")[0] in of_matrices:
        return Format((_DENSE, level_type(text)), (0, 1))
    if (blocked := _BLOCKED.fullmatch(text)) and blocked[1] in _blocked_formats(rank):
        sizes = tuple(map(int, blocked[2].split(",")))
        outer = _blocked_formats(rank)[blocked[1]]
        levels = (*outer, *(_DENSE,) * rank)
        return Format(levels, tuple(range(rank)), sizes * rank if len(sizes) == 1 else sizes)
    if rank == 2 and (tiles := _SRBCRS.fullmatch(text)):
        # No tensor core takes this many columns at once.
        return _parse_levels(f"bcsr({tiles[1]},1)", rank)
    items = _tuple_items(text)
    if items is None:
        names = [*named, *(type.notation or name for name, type in of_matrices.items())]
        names += [*["srbcrs(t,g)"][: rank == 2], *(f"{name}(b)" for name in _blocked_formats(rank))]
        raise InputError(
            f"unknown format {text!r} for a tensor of rank {rank}{did_you_mean(text, names)}: use "
            f"{', '.join(names)} "
            "or a list of levels such as '(dense, compressed)'"
        )
    if len(items) != rank:
        raise InputError(f"format {text!r} has {len(items)} levels but the tensor has rank {rank}")
    return Format(tuple(map(level_type, items)), tuple(range(rank)))


def _tuple_items(text: str) -> list[str] | None:
    """The items of ``(a, b, c)``, or ``None`` if the text is not in parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    inner = text[1:-1].strip()
    return [item.strip() for item in inner.split(",")] if inner else []


def _tuple_text(items: Sequence[object]) -> str:
    return f"({', '.join(str(item) for item in items)})"
