"""Fusion of access maps: what is read through views is read where it lies.

An access operator gives a buffer whose elements are those of another one, at places that an affine map gives.
The maps of buffers that follow each other are one map, so nothing has to be copied (the FractalTensor paper,
section 5.1).
"""

from collections.abc import Mapping
from dataclasses import replace

from samhw.lang.nested.dataflow import Buffer, ElementRead, Index, ListView, Pieces, with_reads
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.indices import Affine, span
from samhw.lang.nested.iterations import affine_place

__all__ = ["fuse_access_maps", "through"]


def fuse_access_maps(function: NestedFunction) -> NestedFunction:
    """The same function without views, but for those that are results.

    A list in pieces stays where a read may come to several of them.
    """
    changed = {}
    for name, buffer in function.buffers.items():
        extents = {dim.name: dim.extent for dim in buffer.dims}
        changed[name] = with_reads(buffer, lambda read, e=extents: through(function.buffers, read, e))  # type: ignore[misc]
    return replace(function, buffers=changed).without_unused()


def through(buffers: Mapping[str, Buffer], read: ElementRead, extents: Mapping[str, int]) -> ElementRead:
    """A read of what lies beneath views.

    Args:
        buffers: all of them.
        read: of any.
        extents: of the variables in its indices.
    """
    while True:
        inner = replace(read, indices=tuple(_known(buffers, index, extents) for index in read.indices))
        buffer = buffers[inner.buffer]
        found = _behind(buffer, inner, extents)
        if found is None:
            return inner
        read = found


def _known(buffers: Mapping[str, Buffer], index: Index, extents: Mapping[str, int]) -> Index:
    """An index of what lies beneath views; an affine one, if that is known."""
    if not isinstance(index, ElementRead):
        return index
    found = through(buffers, index, extents)
    return affine_place(buffers, found) or found


def _behind(buffer: Buffer, read: ElementRead, extents: Mapping[str, int]) -> ElementRead | None:
    """What a view reads for a read of it; None for what is none."""
    match buffer:
        case ListView(source=source):
            found = source
        case Pieces(axis=axis, pieces=pieces):
            coordinate = read.indices[axis]
            if not isinstance(coordinate, Affine):
                return None
            least, greatest = span(coordinate, extents)
            whole = [p for p in pieces if p.start <= least and greatest < p.stop]
            if not whole or whole[0].read.buffer == buffer.name:
                return None
            found = whole[0].read
        case _:
            return None
    values = {dim.name: index for dim, index in zip(buffer.dims, read.indices, strict=True)}
    try:
        return found.substituted(values)
    except ValueError:  # A place that a list gives, in the middle of a sum.
        return None
