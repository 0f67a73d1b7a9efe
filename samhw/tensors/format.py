"""Storage formats: one level type per stored level, outermost first, and the order of the tensor's modes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import TypeAlias

from samhw.errors import InputError

__all__ = ["Ell", "Format", "LevelKind", "LevelType", "level_of_result", "stores_fill"]


class LevelType(StrEnum):
    """How one level stores the coordinates of its fibers."""

    dense = "dense"
    """Every coordinate from 0 to size - 1; nothing is stored but the size."""

    compressed = "compressed"
    """The present coordinates only: fiber ``f`` is ``crd[pos[f]:pos[f + 1]]``."""

    singleton = "singleton"
    """Exactly one coordinate for each position of the level above, as in the inner levels of COO; below dense
    levels, for each combination of their coordinates."""

    ragged = "ragged"
    """The coordinates from 0 to a length that each fiber has: ``pos[f + 1] - pos[f]``."""

    dia = "dia"
    """Diagonals: below row ``r`` of a dense level, the coordinates ``r + off[d]`` for each stored offset, as
    far as they lie inside of the matrix."""


@dataclass(frozen=True)
class Ell:
    """A level with room for ``width`` coordinates below each position: of fiber ``f``, those are stored that
    are at ``f * width`` and behind it, ``cnt[f]`` in number. What is left of the room is padding."""

    width: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"an ell level of {self.width} coordinates is impossible: use 1 or more")

    def __str__(self) -> str:
        return f"ell({self.width})"


LevelKind: TypeAlias = LevelType | Ell
"""What one level of a format is."""

_WRITTEN = (LevelType.dense, LevelType.compressed, LevelType.singleton)
"""The levels of results."""

_FILLED = (LevelType.dense, LevelType.ragged, LevelType.dia)
"""Levels that have places for coordinates that nobody stored."""


def stores_fill(levels: Sequence[LevelKind]) -> bool:
    """Whether the innermost of some levels has places for coordinates that nobody stored: zeros."""
    return bool(levels) and levels[-1] in _FILLED


def level_of_result(level: LevelKind) -> LevelType:
    """The level of a result that has its coordinates where this one does: itself, but for one that inputs
    alone have, which becomes compressed."""
    return level if isinstance(level, LevelType) and level in _WRITTEN else LevelType.compressed


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

    levels: tuple[LevelKind, ...]
    mode_order: tuple[int, ...]
    block: tuple[int, ...] | int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.block, int):
            object.__setattr__(self, "block", (self.block,) * len(self.mode_order))
        object.__setattr__(self, "levels", tuple(_level_type(level) for level in self.levels))
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
        if self.levels[:1] == (LevelType.singleton,):
            raise InputError(
                f"format {_tuple_text(self.levels)} is impossible: a singleton level must follow "
                "another level"
            )
        if LevelType.dia in self.levels and self.levels != (LevelType.dense, LevelType.dia):
            raise InputError(
                f"format {_tuple_text(self.levels)} is impossible: a dia level is that of the columns of a "
                "matrix, below a dense one of its rows"
            )

    def _check_blocked(self) -> None:
        assert isinstance(self.block, tuple)
        rank, inner = self.rank, self.levels[self.rank :]
        if wrong := [size for size in self.block if size < 1]:
            raise InputError(f"block size {wrong[0]} is impossible: use 1 or more")
        if len(self.block) != rank or len(self.levels) != 2 * rank or {*inner} - {LevelType.dense}:
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
            return name if self._is_natural else f"{name} @ {_tuple_text(self.mode_order)}"
        named = _named_formats(self.rank)
        for name, format in named.items():
            if format == self:
                return name
        for name, format in named.items():
            if format.levels == self.levels and format._is_natural:
                return f"{name} @ {_tuple_text(self.mode_order)}"
        is_ell = self.rank == 2 and self.levels[0] is LevelType.dense and isinstance(self.levels[1], Ell)
        text = str(self.levels[1]) if is_ell else _tuple_text(self.levels)
        return text if self._is_natural else f"{text} @ {_tuple_text(self.mode_order)}"

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

    def blocked(self, sizes: Sequence[int]) -> "Format":
        """The same format of blocks of these sizes, by mode; coordinate lists become compressed levels."""
        singleton, compressed = LevelType.singleton, LevelType.compressed
        outer = (compressed if level is singleton else level for level in self.of_blocks.levels)
        return Format((*outer, *(LevelType.dense,) * self.rank), self.mode_order, tuple(sizes))

    @property
    def of_result(self) -> "Format":
        """The format of a result that has its coordinates where this one does; see `level_of_result`."""
        return replace(self, levels=tuple(map(level_of_result, self.levels)))

    @property
    def is_all_dense(self) -> bool:
        """Whether every level is dense, so that ``vals`` is the whole array in ``mode_order``."""
        return all(level is LevelType.dense for level in self.levels)

    @property
    def stores_fill(self) -> bool:
        """Whether ``vals`` holds zeros that nobody stored, because the innermost level has coordinates that
        nobody stored: it is dense, ragged or dia."""
        return stores_fill(self.levels)

    @property
    def is_sparse(self) -> bool:
        """Whether a level leaves coordinates out, and does not store exactly one."""
        return bool({*self.levels} - {LevelType.dense, LevelType.singleton})

    @property
    def one_each(self) -> int:
        """The number of dense levels, if the others are singletons, so that exactly one point is stored for
        each combination of their coordinates; 0 in any other format."""
        dense = len(list(takewhile(lambda level: level is LevelType.dense, self.levels)))
        singletons = self.levels[dense:]
        return dense if singletons and set(singletons) == {LevelType.singleton} else 0

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
    def _is_natural(self) -> bool:
        return self.mode_order == tuple(range(self.rank))


_BLOCKED = re.compile(r"(\w+)\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\)")
_ELL = re.compile(r"ell\(\s*(\d{1,9})\s*\)")
_SRBCRS = re.compile(r"srbcrs\(\s*(\d{1,9})\s*,\s*[1-9]\d{0,8}\s*\)")


@lru_cache
def _blocked_formats(rank: int) -> dict[str, tuple[LevelKind, ...]]:
    """The levels of the blocks in each blocked format of a rank, by its name."""
    dense, compressed = LevelType.dense, LevelType.compressed
    if rank == 0:
        return {}
    named = {"bcsr": (dense, compressed), "dbsr": (compressed, compressed)} if rank == 2 else {}
    return named | {"bdense": (dense,) * rank, "bcsf": (compressed,) * rank}


@lru_cache
def _named_formats(rank: int) -> dict[str, Format]:
    """The named formats of a rank. Where two names mean the same format, the canonical one comes first."""
    dense, compressed, singleton = LevelType.dense, LevelType.compressed, LevelType.singleton
    natural = tuple(range(rank))
    if rank == 0:
        return {"scalar": Format((), ()), "dense": Format((), ())}
    named = {"dense": Format((dense,) * rank, natural)}
    if rank == 2:
        named["csr"] = Format((dense, compressed), (0, 1))
        named["csc"] = Format((dense, compressed), (1, 0))
        named["dcsr"] = Format((compressed, compressed), (0, 1))
        named["dcsc"] = Format((compressed, compressed), (1, 0))
        named["ragged"] = Format((dense, LevelType.ragged), (0, 1))
        named["dia"] = Format((dense, LevelType.dia), (0, 1))
    named["csf"] = Format((compressed,) * rank, natural)
    named["coo"] = Format((compressed, *(singleton,) * (rank - 1)), natural)
    return named


def _parse_levels(text: str, rank: int) -> Format:
    named = _named_formats(rank)
    if text in named:
        return named[text]
    if rank == 2 and _ELL.fullmatch(text):
        return Format((LevelType.dense, _level_type(text)), (0, 1))
    if (blocked := _BLOCKED.fullmatch(text)) and blocked[1] in _blocked_formats(rank):
        sizes = tuple(map(int, blocked[2].split(",")))
        outer = _blocked_formats(rank)[blocked[1]]
        levels = (*outer, *(LevelType.dense,) * rank)
        return Format(levels, tuple(range(rank)), sizes * rank if len(sizes) == 1 else sizes)
    if rank == 2 and (tiles := _SRBCRS.fullmatch(text)):
        # No tensor core takes so many columns at once.
        return _parse_levels(f"bcsr({tiles[1]},1)", rank)
    items = _tuple_items(text)
    if items is None:
        of_matrices = ["ell(w)", "srbcrs(t,g)"] if rank == 2 else []
        names = [*named, *of_matrices, *(f"{name}(b)" for name in _blocked_formats(rank))]
        raise InputError(
            f"unknown format {text!r} for a tensor of rank {rank}: use {', '.join(names)} "
            "or a list of levels such as '(dense, compressed)'"
        )
    if len(items) != rank:
        raise InputError(f"format {text!r} has {len(items)} levels but the tensor has rank {rank}")
    return Format(tuple(_level_type(item) for item in items), tuple(range(rank)))


def _level_type(level: LevelKind | str) -> LevelKind:
    """The level itself, or that of a name."""
    if isinstance(level, Ell):
        return level
    if width := _ELL.fullmatch(level):
        return Ell(int(width[1]))
    try:
        return LevelType(level)
    except ValueError:
        raise InputError(f"unknown level type {level!r}: use {', '.join((*LevelType, 'ell(w)'))}") from None


def _tuple_items(text: str) -> list[str] | None:
    """The items of ``(a, b, c)``, or ``None`` if the text is not in parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    inner = text[1:-1].strip()
    return [item.strip() for item in inner.split(",")] if inner else []


def _tuple_text(items: Sequence[object]) -> str:
    return f"({', '.join(str(item) for item in items)})"
