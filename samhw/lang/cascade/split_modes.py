"""Tensors with a mode in two: parts of consecutive coordinates, and the coordinates in one."""

from dataclasses import dataclass, replace

import numpy as np

from samhw.errors import InputError
from samhw.lang import Access, Program, Region, Reshape, Statement, TensorDecl
from samhw.names import Names
from samhw.tensors import Format, Tensor

__all__ = ["Cut", "CutView", "CutViews"]


@dataclass(frozen=True)
class Cut:
    """How a mode of a tensor is cut into parts of consecutive coordinates.

    Attributes:
        mode: itself.
        number: of segments, or of the coordinates in a tile.
        is_tiles: the parts are tiles of this many coordinates, and not this many segments.
    """

    mode: int
    number: int
    is_tiles: bool = False

    def shape(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a tensor after the cut. The last parts may be shorter, or have nothing at all."""
        other = -(-whole[self.mode] // self.number)
        parts, own = (other, self.number) if self.is_tiles else (self.number, other)
        return (*whole[: self.mode], parts, own, *whole[self.mode + 1 :])

    def check_even(self, tensor: str, extent: int, what: str = "coordinates") -> None:
        """Raises `InputError` unless all parts of a tensor are equally long. `what` is cut."""
        if extent % self.number and self.is_tiles:
            raise InputError(
                f"Tiles of {self.number} do not divide the {extent} {what} of '{tensor}'; give the size "
                "of a tile that does, or leave 'tile' out."
            )
        if extent % self.number:
            raise InputError(
                f"{self.number} lanes do not divide the {extent} {what} of '{tensor}' into equal "
                "segments of a cascade; give a number of lanes that does, or lanes to another index."
            )

    def declared(self, decl: TensorDecl, name: str, inner: str) -> TensorDecl:
        """A declaration after the cut.

        Args:
            inner: the name of the index of the coordinates in a part.
        """
        indices, mode, format = decl.indices, self.mode, decl.format.of_blocks
        order = [m + (m > mode) for m in format.mode_order]
        level = order.index(mode)
        levels = format.loaded.levels
        extent = decl.shape[mode]
        parts, own = (None, self.number) if self.is_tiles else (self.number, None)
        if extent is not None:
            parts, own = self.shape((0,) * mode + (extent,))[mode:]
        made = Format(
            (*levels[:level], *Format.dense(1).levels, *levels[level:]),
            (*order[: level + 1], mode + 1, *order[level + 1 :]),
        )
        return TensorDecl(
            name,
            (*indices[: mode + 1], inner, *indices[mode + 1 :]),
            (*decl.shape[:mode], parts, own, *decl.shape[mode + 1 :]),
            made if decl.format.block is None else made.blocked(self._blocks(decl)),
            decl.value,
        )

    def _blocks(self, decl: TensorDecl) -> tuple[int, ...]:
        """The sizes of blocks after the cut, by mode: a tile is a block, or has none along its mode."""
        sizes = [decl.format.block_of(mode) for mode in range(decl.rank)]
        own = sizes[self.mode]
        if own not in (1, self.number if self.is_tiles else 1):
            raise InputError(
                f"'{decl.name}' is stored in blocks of {own}, which "
                + (f"are not tiles of {self.number}" if self.is_tiles else "no segments divide")
                + "; give tiles and blocks of one size, and no lanes to their index."
            )
        if own > 1 and not decl.format.is_all_dense:
            raise InputError(f"'{decl.name}' is stored as {decl.format}, which has no tiles; store it dense.")
        return (*sizes[: self.mode], 1, own, *sizes[self.mode + 1 :])

    def __str__(self) -> str:
        parts = f"tiles of {self.number}" if self.is_tiles else f"{self.number} segments"
        return f"its mode {self.mode} in {parts}"


@dataclass(frozen=True)
class CutView:
    """A tensor that has modes of another one cut.

    Attributes:
        name: its own.
        of: the other one.
        cuts: of its modes, one after the other.
        format: its own.
        is_derived: it is made of the other one, and does not lie where that lies.
        is_even: all parts have to be equally long, since others of the program lie where their tensors lie,
            or since what lies beyond the extent would count.
    """

    name: str
    of: str
    cuts: tuple[Cut, ...]
    format: Format
    is_derived: bool
    is_even: bool = False

    def shape(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape in parts of a tensor of some shape."""
        for cut in self.cuts:
            whole = cut.shape(whole)
        return whole

    def made(self, tensor: Tensor) -> Tensor:
        """The parts of a tensor. Each entry stays one, and so do zeros that a compressed level stores.

        Raises:
            InputError: where parts are to be equally long, and cannot be.
        """
        coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
        shape = tensor.shape
        what = "coordinates"
        for cut in self.cuts:
            if self.is_even:
                cut.check_even(self.of, shape[cut.mode], what)
            what = "tiles" if cut.is_tiles else what
            shape = cut.shape(shape)
            part, own = np.divmod(coords[cut.mode], shape[cut.mode + 1])
            coords = np.concatenate([coords[: cut.mode], [part, own], coords[cut.mode + 1 :]])
        return Tensor.from_coo(coords, vals, shape, self.format)

    def __str__(self) -> str:
        return ", ".join((self.of, *map(str, self.cuts)))


class CutViews:
    """Tensors that are stored along an index, as tensors of its parts: they lie in the same memories.

    Attributes:
        names: of the tensors that there are, those that have been made for it among them.
        indices: likewise.
        cuts: what there is so far.
        along: by index that counts parts, the views and their modes that it goes along.
        counts_beyond: some statement would take in what lies beyond the extent of a part.
    """

    def __init__(self, program: Program):
        self.names = Names(program.tensors)
        self.indices = Names(i for s in program.statements for i in s.indices)
        self.cuts: dict[str, CutView] = {}
        self.along: dict[str, list[tuple[str, int]]] = {}
        self.counts_beyond = False
        self._of: dict[tuple[str, Cut], TensorDecl] = {}

    @property
    def even(self) -> tuple[CutView, ...]:
        """All of them, each with what it has to be."""
        is_even = self.counts_beyond or not all(view.is_derived for view in self.cuts.values())
        return tuple(replace(view, is_even=is_even) for view in self.cuts.values())

    def of(self, program: Program, tensor: str, cut: Cut, inner: str) -> tuple[TensorDecl, Region | None]:
        """A tensor with one of its modes cut, and the region that makes it: None if there is one already, or
        if the host makes it.

        Args:
            inner: the name of the index of the coordinates in a part.

        Raises:
            InputError: for a tensor that does not lie in equal parts.
        """
        key = tensor, cut
        if key in self._of:
            return self._of[key], None
        decl = program.tensors[tensor]
        name = self.names.fresh(f"{tensor}_{'tiles' if cut.is_tiles else 'segments'}")
        made = self._of[key] = cut.declared(decl, name, inner)
        is_derived = decl in program.inputs and not decl.format.is_all_dense
        before = self.cuts.get(tensor)
        whole, cuts = (before.of, before.cuts) if before else (tensor, ())
        self.cuts[name] = CutView(name, whole, (*cuts, cut), made.format, is_derived)
        if is_derived:
            return made, None
        extent = decl.shape[cut.mode]
        if extent is not None:
            cut.check_even(whole, extent, "tiles" if cuts and cuts[-1].is_tiles else "coordinates")
        original, parts = self.reshaped(decl, made, cut.mode)
        return made, Region((Statement(parts, Reshape(original)),))

    def reshaped(self, whole: TensorDecl, parts: TensorDecl, mode: int) -> tuple[Access, Access]:
        """The accesses of a tensor and of its parts that name the same elements.

        Raises:
            InputError: for a tensor whose elements do not lie in the order of their coordinates.
        """
        for each in (whole, parts):
            format = each.format
            if not (format.is_all_dense and format.is_natural):
                raise InputError(
                    "A cascade over segments or tiles takes only what is stored dense and row by row, and "
                    f"'{each.name}' is stored as {format}; store it so, or give neither to its index."
                )
        names = [self.indices.fresh(index) for index in whole.indices]
        own = [self.indices.fresh(index) for index in parts.indices[mode : mode + 2]]
        return Access.of(whole.name, names), Access.of(parts.name, (*names[:mode], *own, *names[mode + 1 :]))
