"""Models as they are read: from files or as they are, in an operator set that is known, with data beside
them; and what the names of a graph stand for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

from samhw.errors import InputError, shown
from samhw.files import check_readable, reason
from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.values import Array, Operand, is_float, kind_name
from samhw.names import plain

__all__ = ["OLDEST", "Entry", "GraphNames", "ModelPort", "OnnxModel", "array_of", "read_model", "readers_of"]

OLDEST = 13
"""The oldest operator set that is read as it is; older ones are converted to it."""


@dataclass(frozen=True)
class ModelPort:
    """An input or an output of a model.

    Attributes:
        kind: its type in ONNX.
        shape: numbers, names of what is open, and None for what has no name; None as a whole where the model
            does not say it.
    """

    name: str
    kind: int
    shape: tuple[int | str | None, ...] | None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type as an array."""
        return np.dtype(helper.tensor_dtype_to_np_dtype(self.kind))


@dataclass(frozen=True)
class OnnxModel:
    """A model in an operator set that is read.

    Attributes:
        proto: the model; its external weights are not loaded.
        folder: where these are.
        label: what its program is called.
    """

    proto: onnx.ModelProto
    folder: str
    label: str

    @cached_property
    def opsets(self) -> Mapping[str, int]:
        """The versions of operator sets, by domain."""
        given = {"" if i.domain == "ai.onnx" else i.domain: i.version for i in self.proto.opset_import}
        return {"": onnx.defs.onnx_opset_version(), **given}

    @cached_property
    def inputs(self) -> Sequence[ModelPort]:
        """What a run gives data for."""
        held = {tensor.name for tensor in self.proto.graph.initializer}
        return [_port(value) for value in self.proto.graph.input if value.name not in held]

    @cached_property
    def outputs(self) -> Sequence[ModelPort]:
        """What a run gives."""
        return [_port(value) for value in self.proto.graph.output]

    def check(self) -> None:
        """Raises `InputError` for a model that breaks ONNX's own rules."""
        try:
            onnx.checker.check_model(self.proto, full_check=not self.folder)
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(f"The model breaks a rule of ONNX ({said}); mend it.") from None

    @cached_property
    def has_fractions(self) -> bool:
        """Whether it computes with floating point anywhere."""
        return any(map(is_float, _kinds(self.proto.graph))) or any(
            is_float(kind) for f in self.proto.functions for kind in _kinds_of_nodes(f.node)
        )


def read_model(source: onnx.ModelProto | Path | str) -> OnnxModel:
    """A model, of a file or as it is.

    Raises:
        InputError: for a file that cannot be read, or is no model, and for one that cannot be converted.
    """
    if isinstance(source, onnx.ModelProto):
        return _current(source, "", source.graph.name)
    if not isinstance(source, str | Path):
        raise InputError(f"The model cannot be {shown(source)}; give a path, or an onnx.ModelProto.")
    path = Path(source)
    try:
        check_readable(path)
        proto = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise InputError(f"Cannot read {path} ({reason(error)}); give a file in ONNX.") from None
    except Exception:
        raise InputError(f"{path} is no model in ONNX; export it anew.") from None
    if not proto.graph.node and not proto.graph.output:
        raise InputError(f"{path} is no model in ONNX, or an empty one; export it anew.")
    return _current(proto, str(path.parent), path.stem)


def _current(proto: onnx.ModelProto, folder: str, name: str) -> OnnxModel:
    label = plain(name) if name else "network"
    label = label if label.isidentifier() else "network"
    versions = [i.version for i in proto.opset_import if i.domain in ("", "ai.onnx")]
    version = versions[0] if versions else onnx.defs.onnx_opset_version()
    newest = onnx.defs.onnx_opset_version()
    if version > newest:
        raise InputError(
            f"The model is of operator set {version}, and this onnx knows {newest}; install a newer onnx."
        )
    if version < 9 and any(node.op_type == "Scan" for node in proto.graph.node):
        raise InputError("The model has a Scan of operator set 8, which is another operator; export it anew.")
    if version < OLDEST:
        try:
            proto = version_converter.convert_version(_valued(proto), OLDEST)
        except Exception as error:
            said = str(error).strip().splitlines()[-1][:160]
            raise InputError(
                f"The model is of operator set {version}, and onnx cannot convert it to {OLDEST} ({said}); "
                "export it anew."
            ) from None
    return OnnxModel(proto, folder, label)


def _valued(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A model as the converter takes it: an old one lists its initialisers among its inputs."""
    given = {value.name for value in proto.graph.input}
    missing = [tensor for tensor in proto.graph.initializer if tensor.name not in given]
    if proto.ir_version >= 4 or not missing:
        return proto
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    copy.graph.input.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)) for tensor in missing
    )
    return copy


def _port(value: onnx.ValueInfoProto) -> ModelPort:
    if not value.type.HasField("tensor_type"):
        raise InputError(
            f"'{value.name}' is no tensor but a sequence or an optional value; use tensors alone."
        )
    kind = value.type.tensor_type
    if kind.elem_type == TensorProto.STRING or not kind.elem_type:
        raise InputError(f"'{value.name}' holds {kind_name(kind.elem_type)}; use tensors of numbers.")
    if not kind.HasField("shape"):
        return ModelPort(value.name, kind.elem_type, None)
    return ModelPort(value.name, kind.elem_type, tuple(map(_extent, kind.shape.dim)))


def _extent(dim: Any) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    return dim.dim_param or None


def array_of(tensor: onnx.TensorProto, folder: str) -> Array:
    """A constant; of one beside the model only its own part of the file is read.

    Raises:
        InputError: for data that are not there.
    """
    try:
        return numpy_helper.to_array(tensor, folder)
    except Exception as error:
        said = str(error).strip().splitlines()[-1][:160]
        raise InputError(f"The model's constant '{tensor.name}' cannot be read ({said}).") from None


def _kinds(graph: onnx.GraphProto) -> Iterator[int]:
    """The types of all that a graph says the type of."""
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.type.tensor_type.elem_type
    for tensor in graph.initializer:
        yield tensor.data_type
    for sparse in graph.sparse_initializer:
        yield sparse.values.data_type
    yield from _kinds_of_nodes(graph.node)


def _kinds_of_nodes(nodes: Sequence[onnx.NodeProto]) -> Iterator[int]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype"):
                yield int(attribute.i)
            elif attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t.data_type
            elif attribute.type == onnx.AttributeProto.GRAPH:
                yield from _kinds(attribute.g)
            elif attribute.name in ("value_float", "value_floats"):
                yield int(TensorProto.FLOAT)


# The names of a graph, and what they stand for.


Entry = Operand | UnsupportedError | None


@dataclass
class GraphNames:
    """The names of a graph, or of a function's body.

    Attributes:
        held: what has been computed, by name.
        outer: of a body of If, Loop or Scan, the graph that it stands in.
        attributes: of a function's body, those of the node.
        opsets: the versions of the operator sets, by domain.
        path: where the body stands, for messages.
        readers: how many nodes, and outputs, read a name, bodies of nodes among them.
        sums: the names of sums of products.
    """

    held: dict[str, Entry]
    opsets: Mapping[str, int]
    outer: "GraphNames | None" = None
    attributes: Mapping[str, onnx.AttributeProto] | None = None
    path: str = ""
    readers: Counter[str] = field(default_factory=Counter)
    sums: set[str] = field(default_factory=set)

    def get(self, name: str) -> Entry:
        """What a name stands for."""
        scope: GraphNames | None = self
        while scope is not None:
            if name in scope.held:
                return scope.held[name]
            scope = scope.outer
        raise InputError(f"The model has no tensor '{name}'; mend it (onnx.checker tells what is wrong).")

    def is_lone_sum(self, name: str) -> bool:
        """Whether it is a sum of products that one node reads, so that this one may go on adding."""
        return name in self.sums and name in self.held and self.readers[name] == 1

    def inner(self) -> "GraphNames":
        """That of a body that sees these names."""
        return GraphNames({}, self.opsets, self, self.attributes, self.path)


def readers_of(nodes: Iterable[onnx.NodeProto], outputs: Iterable[str]) -> Counter[str]:
    """How often each name is read."""
    return Counter([*outputs, *_read(nodes)])


def _read(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _read(attribute.g.node)
                yield from (output.name for output in attribute.g.output)
