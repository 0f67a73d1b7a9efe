"""Data that a text holds, or that its numbers of rows decide, as inputs of the program."""

import numpy as np
import numpy.typing as npt

from samhw.importers.core import Hints, HostArray, UnsupportedError, Value
from samhw.importers.mlir.attributes import is_float, raw_elements
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.encodings import Storage, stored_input
from samhw.importers.mlir.operation import Elements, MlirModule
from samhw.importers.mlir.types import TensorType
from samhw.lang.expr import Access

__all__ = ["constant", "constant_shape", "values_of"]

Array = npt.NDArray[np.float64]

DENSE = Storage(None)


def constant_shape(kind: TensorType) -> tuple[int, ...]:
    """That of a tensor in the text.

    Raises:
        UnsupportedError: for one that cannot be computed with.
    """
    if kind.element.startswith("complex"):
        raise UnsupportedError("has complex numbers", "compute with real numbers")
    shape = tuple(size or 0 for size in kind.shape)
    if 0 in shape:
        raise UnsupportedError("has no elements", "leave it out")
    return shape


def values_of(module: MlirModule, held: Elements) -> Array | None:
    """The data of a tensor, of the module's resources perhaps; None where the text leaves them out."""
    found = module.resources.get(held.name)
    if held.values is not None or found is None:
        return held.values
    try:
        return raw_elements(bytes.fromhex(found[2:])[4:], held.type.element, constant_shape(held.type))
    except ValueError:
        raise UnsupportedError(f"has data ('{held.name}') that do not fit {held.type}", "mend them") from None


def constant(compute: Compute, name: str, values: Array, element: str, storage: Storage = DENSE) -> Value:
    """Data that are the same in every run. What is -inf of them is hidden; conditions are stored where they
    hold."""
    build = compute.build
    first = values.reshape(-1)[0]
    if (values == first).all():
        return compute.uniform(float(first), values.shape)
    hidden = np.isneginf(values)
    if hidden.any():
        rest = constant(compute, name, np.where(hidden, 0, values), element, storage)
        shown = constant(compute, name, np.where(hidden, 0.0, 1.0), "i1")
        modes, (expr, mask), _ = compute.operations.broadcast([rest, shown])
        assert isinstance(mask, Access)
        return Value(modes, expr, mask)
    if element == "i1" and storage.format is None:
        coords = np.array(np.nonzero(values))
        held = HostArray(values.shape, np.ones(coords.shape[1], np.float32), coords)
        kinds = ["dense"] * (values.ndim - 1) + ["compressed"]
        return build.constant(held, name, Hints(f"({', '.join(kinds)})"))
    example = HostArray.dense(values.astype(np.float32) if is_float(element) else values)
    return stored_input(build, ("data", example.content, storage), name, example, lambda _: example, storage)
