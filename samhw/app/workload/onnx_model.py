"""A network in ONNX on data, and the comparison with ONNX's own evaluator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from samhw.app.workload.agreement import SINGLE, exactly, greatest_difference, in_float64, in_single, parts_of
from samhw.app.workload.bind import make_workload
from samhw.app.workload.workload import DEFAULT, JUDGES, Workload
from samhw.compiler import asked_type
from samhw.errors import InputError, RunError
from samhw.graph.numerics import ValueType
from samhw.importers.onnx import (
    Array,
    ImportedModel,
    ModelPort,
    OnnxModel,
    import_model,
    is_float,
    read_model,
)
from samhw.importers.onnx.qonnx_evaluator import new_operators
from samhw.lang import Call, OnnxFile, parse, walk
from samhw.lang.reference import Bounded
from samhw.names import Names, plain
from samhw.tensors import Tensor
from samhw.words import did_you_mean

__all__ = ["arguments_of", "difference", "drawn_arguments", "judged", "make_onnx_workload"]


def make_onnx_workload(
    file: OnnxFile, data: Sequence[str] = DEFAULT, *, value: ValueType | None = None
) -> Workload:
    """A network of a file in ONNX as a program, on data.

    Args:
        data: as for `make_workload`, by the names of the network's inputs. What none of them names is random;
            integers and conditions are then 0 and 1.
        value: the value type; by default f32, or i32 for a network of integers alone.

    Raises:
        InputError: for a file that cannot be read, a network that cannot be imported, with the node's name,
            or data that do not fit.
    """
    model = read_model(file.path)
    found = _Bound(model, file.extents).on(data, value)
    imported = import_model(model, found.arguments, value=value)
    tensors = imported.tensors(found.arguments)
    program = imported.program.bind({name: tensor.shape for name, tensor in tensors.items()})
    program = replace(program, value=asked_type(imported.element))

    def asked(by: str) -> float | None:
        return difference(imported, found.arguments, tensors, judged(model, found.arguments, by))

    judges = {by: partial(asked, by) for by in JUDGES}
    notes = (*found.notes, *imported.notes)
    own = judges[JUDGES[0]]
    return Workload(
        found.name, program, tensors, own, imported.scopes, notes, judges=judges, constants=imported.constants
    )


# Data


@dataclass(frozen=True)
class _Data:
    """The arguments of a run."""

    name: str
    arguments: Mapping[str, Array]
    notes: tuple[str, ...] = ()


class _Bound:
    """The inputs of a network, with extents for what they leave open."""

    def __init__(self, model: OnnxModel, extents: Mapping[str, int]) -> None:
        self.model = model
        fresh = Names(("tensor", "fuse", "where", "order", "value", "use"))
        self.names = {port.name: fresh.fresh(plain(port.name).strip("_") or "x") for port in model.inputs}
        open_ones = {d for p in model.inputs for d in p.shape or () if isinstance(d, str)}
        if missing := [name for name in extents if name not in open_ones]:
            has = f"it has {', '.join(sorted(open_ones))}" if open_ones else "it has none"
            raise InputError(f"The network leaves no dimension '{missing[0]}' open; {has}.")
        self.extents = extents

    def on(self, data: Sequence[str], value: ValueType | None) -> _Data:
        """Data for them."""
        given = {name for name, own in self.names.items() if any(spec.startswith(f"{own}=") for spec in data)}
        if not self.model.inputs:
            return _Data("no data", {})
        specs = ["random"] if tuple(data) == DEFAULT else list(data)
        bound = make_workload(parse(self.declared(given), "network"), specs, value=value)
        arguments = {
            port.name: _array(port, bound.tensors[self.names[port.name]], drawn=port.name not in given)
            for port in self.model.inputs
        }
        drawn = [
            port.name for port in self.model.inputs if port.name not in given and not is_float(port.kind)
        ]
        notes = (f"{', '.join(drawn)}: random zeros and ones; --data gives others.",) if drawn else ()
        return _Data(bound.name, arguments, notes)

    def declared(self, given: set[str]) -> str:
        """The text of a program that reads the inputs, in which dimensions of one name are one index.

        Raises:
            InputError: for a dimension whose extent nothing gives.
        """
        lines, read = [], []
        known = {d for p in self.model.inputs if p.name in given for d in p.shape or () if isinstance(d, str)}
        known |= set(self.extents)
        indices: dict[object, str] = {}
        for port in self.model.inputs:
            if port.shape is None:
                raise InputError(f"The model does not say the shape of '{port.name}'; export it with shapes.")
            modes, row = [], []
            for n, extent in enumerate(port.shape):
                named = isinstance(extent, str)
                size = extent if not named else self.extents.get(extent)  # type: ignore[arg-type]
                if size is None and port.name not in given and extent not in known:
                    wanted = extent if named else f"dimension {n} of '{port.name}'"
                    hint = f"'--extents {extent}=1', or data" if named else "data"
                    raise InputError(f"The network leaves {wanted} open; give {hint}.")
                modes.append(f"m{n}" if size is None else f"m{n}={size}")
                row.append(indices.setdefault(extent if named else (port.name, n), f"i{len(indices)}"))
            own = self.names[port.name]
            listed = f"[{', '.join(modes)}]" if modes else ""
            lines.append(f"tensor {own}{listed} : dense")
            read.append(f"{own}[{', '.join(row)}]" if row else own)
        return "\n".join([*lines, f"use max= {' * '.join(read)}"])


def _array(port: ModelPort, tensor: Tensor, *, drawn: bool) -> Array:
    """An input's data from a program."""
    held = np.asarray(tensor.to_dense())
    return _in_type(port, held > 0 if drawn and not is_float(port.kind) else held)


def _in_type(port: ModelPort, held: Array) -> Array:
    """An input's data in its type. Raises `InputError` for integers and conditions that would be others
    there."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = held.astype(port.dtype)
    if not is_float(port.kind) and not np.array_equal(found, held):
        kind = port.dtype.name
        raise InputError(f"The input '{port.name}' is of {kind}, and its data are not; give numbers of it.")
    return found


def drawn_arguments(model: OnnxModel, extents: Mapping[str, int]) -> Mapping[str, Array]:
    """Random data, with extents of dimensions that the network leaves open."""
    return _Bound(model, extents).on(DEFAULT, None).arguments


def arguments_of(model: OnnxModel, given: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays for the inputs of a network, each in its type.

    Raises:
        InputError: for an input without data, data without an input, or another shape.
    """
    names = [port.name for port in model.inputs]
    if unknown := [name for name in given if name not in names]:
        raise InputError(
            f"The network has no input '{unknown[0]}'{did_you_mean(unknown[0], names)}; it has "
            f"{', '.join(names) or 'none'}."
        )
    found, sizes = {}, dict[str, int]()
    for port in model.inputs:
        if port.name not in given:
            raise InputError(f"The input '{port.name}' has no data; give all of {', '.join(names)}.")
        held = np.asarray(given[port.name])
        shape = held.shape if port.shape is None else port.shape
        want = [
            sizes.setdefault(d, n) if isinstance(d, str) else d
            for d, n in zip(shape, held.shape, strict=False)
        ]
        if len(shape) != held.ndim or any(d not in (None, n) for d, n in zip(want, held.shape, strict=True)):
            said = ", ".join("?" if d is None else str(d) for d in shape)
            raise InputError(f"The input '{port.name}' has the shape {held.shape}, and is to have ({said}).")
        found[port.name] = _in_type(port, held)
    return found


# Comparison


def judged(model: OnnxModel, arguments: Mapping[str, Array], by: str = "reference") -> list[Any] | None:
    """What a network gives; None where its judge cannot tell.

    Args:
        by: one of `JUDGES`.

    Raises:
        InputError: for a judge that is not installed.
    """
    proto = model.proto
    if model.folder and any(t.data_location == onnx.TensorProto.EXTERNAL for t in proto.graph.initializer):
        proto = onnx.ModelProto()
        proto.CopyFrom(model.proto)
        onnx.load_external_data_for_model(proto, model.folder)
    if by == "onnxruntime":
        return _run_by_onnxruntime(proto, arguments)
    try:
        with np.errstate(all="ignore"):
            return list(
                ReferenceEvaluator(proto, new_ops=new_operators(model.opsets[""])).run(None, dict(arguments))
            )
    except Exception:  # Some operators it has not, or not in every version.
        return None


def _run_by_onnxruntime(proto: onnx.ModelProto, arguments: Mapping[str, Array]) -> list[Any] | None:
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise InputError("onnxruntime is not installed; install it with pip install onnxruntime.") from None
    options = onnxruntime.SessionOptions()
    # Its optimisations join quantisers of different scales.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return list(session.run(None, dict(arguments)))
    except Exception:  # It has not all operators in all types.
        return None


def difference(
    imported: ImportedModel,
    arguments: Mapping[str, Array],
    tensors: Mapping[str, Tensor],
    wanted: Sequence[Any] | None,
) -> float | None:
    """How far the program, in float64, is from what the network gives; None where nobody knows that.

    Raises:
        RunError: where an element is further than rounding in the network's own types explains.
    """
    if wanted is None:
        return None
    program = imported.program
    try:
        return _apart(imported, arguments, wanted, in_float64(program, tensors), 16 * SINGLE)
    except RunError:
        if not any(
            isinstance(node, Call) and node.function in ("rint", "to")
            for statement in program.statements
            for node in walk(statement.rhs)
        ):
            raise
    # Where a number is rounded to an integer, f32 and float64 may be on two sides of a half, and what follows
    # from that may have no bound.
    found = {
        name: result._replace(open=result.open | ~np.isfinite(result.bound))
        for name, result in in_single(program, tensors).items()
    }
    return _apart(imported, arguments, wanted, found, 1, is_rounded=True)


def _apart(
    imported: ImportedModel,
    arguments: Mapping[str, Array],
    wanted: Sequence[Any],
    found_by_program: Mapping[str, Bounded],
    scale: float,
    *,
    is_rounded: bool = False,
) -> float:
    """As `difference`, for what the program gives, and how many times its bounds both may be apart.

    Args:
        is_rounded: what is open may have any value.
    """
    parts = parts_of(found_by_program)
    worst = 0.0
    for output, answer in zip(imported.outputs, wanted, strict=True):
        theirs = np.asarray(answer, np.float64)
        value, bound, is_open = (output.of(part, arguments, exact=True) for part in parts)
        if is_rounded and output.is_computed and value.shape == theirs.shape:
            value = np.where(is_open > 0, theirs, value)
        found = Bounded(value, bound, is_open > 0) if output.is_computed else exactly(value)
        apart = greatest_difference(
            found,
            theirs,
            name=imported.program.name,
            source="network",
            scale=scale,
            own=_own(output.port, theirs),
        )
        worst = max(worst, apart)
    return worst


def _own(port: ModelPort, theirs: Array) -> Array:
    """How far the evaluator itself may be off, where it computes in fewer bits than f32."""
    if not is_float(port.kind) or port.dtype.itemsize >= 4:
        return np.zeros(theirs.shape)
    digits = {"float16": 11, "bfloat16": 8}.get(helper.tensor_dtype_to_np_dtype(port.kind).name, 3)
    own: Array = 2.0 ** (4 - digits) * (np.abs(np.nan_to_num(theirs)) + 2.0**-digits)
    return own
