"""Fourier transforms, as sums under constant matrices of pairs of numbers."""

import numpy as np

from samhw.importers.core import UnsupportedError, Value, letters
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.pooling import gathered
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import Array, NodeCall, Operand

__all__: list[str] = []

LONGEST = 1024
"""Elements along a dimension."""


def transform(
    importer: NodeImporter, x: Value, dim: int, length: int, *, inverse: bool = False, onesided: bool = False
) -> Value:
    """Along a mode; the last one has the real part, or both parts."""
    have = importer.build.shape(x)[dim]
    if length > LONGEST:
        raise UnsupportedError(f"transforms {length} elements", f"take at most {LONGEST}")
    if have > length:
        x = importer.views.slice(x, dim, 0, length)
    parts = importer.build.shape(x)[-1]
    matrix = _matrix(min(have, length), length, parts, inverse=inverse, onesided=onesided)
    own = letters(len(x.modes))
    out = own[:dim] + "Z" + own[dim + 1 : -1] + "Y"
    held = importer.constant(matrix.astype(np.float32), "fourier")
    return importer.contract(f"ZY{own[dim]}{own[-1]},{own}->{out}", held, x)


def _matrix(have: int, length: int, parts: int, *, inverse: bool, onesided: bool) -> Array:
    """Of shape (frequencies, real and imaginary part, elements, parts)."""
    count = length // 2 + 1 if onesided and not inverse else length
    angle = 2 * np.pi * np.outer(np.arange(count), np.arange(have)) / length
    factor = np.exp(1j * angle) / length if inverse else np.exp(-1j * angle)
    if onesided and inverse:
        # What is left out is the conjugate of what is there.
        twice = [1 if n == 0 or 2 * n == length else 2 for n in range(have)]
        factor = factor * np.array(twice)
        return np.stack([factor.real, -factor.imag], -1)[:, None]
    real = np.stack([factor.real, factor.imag], 1)[..., None]
    return (
        real
        if parts == 1
        else np.concatenate([real, np.stack([-factor.imag, factor.real], 1)[..., None]], -1)
    )


@operator("DFT")
def import_dft(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    length: Operand | None = None,
    axis: Operand | None = None,
) -> Value:
    held = importer.value(x)
    rank = len(held.modes)
    inverse, onesided = bool(call.get("inverse", 0)), bool(call.get("onesided", 0))
    dim = call.get("axis", 1 if call.version < 20 else -2) if axis is None else importer.ints(axis)[0]
    dim %= rank
    have = importer.build.shape(held)[dim]
    whole = 2 * (have - 1) if inverse and onesided else have
    count = whole if length is None else importer.ints(length)[0]
    if inverse and onesided:
        have = count // 2 + 1
        held = importer.views.slice(held, dim, 0, have) if have < importer.build.shape(held)[dim] else held
    return transform(importer, held, dim, count, inverse=inverse, onesided=onesided)


@operator("STFT")
def import_stft(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    step: Operand,
    window: Operand | None = None,
    length: Operand | None = None,
) -> Value:
    """Of windows that lie a step apart, each times a window's numbers."""
    held = importer.value(x)
    (stride,) = importer.ints(step)
    if length is not None:
        (count,) = importer.ints(length)
    elif window is not None:
        count = importer.shape(window)[0]
    else:
        raise UnsupportedError("has no length of its windows", "give frame_length")
    number = (importer.build.shape(held)[1] - count) // stride + 1
    places = np.arange(number)[:, None] * stride + np.arange(count)
    made = gathered(importer, importer.materialized(held), 1, places)
    if window is not None:
        weights = importer.views.view(importer.value(window), [count, 1])
        made = importer.elementwise(lambda e, w: e * w, made, weights)
    made = importer.materialized(made)
    return transform(importer, made, 2, count, onesided=bool(call.get("onesided", 1)))
