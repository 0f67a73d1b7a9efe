"""A network node by node: constants fold, what integers alone decide is worked out by the host, functions
are followed, and all else becomes statements."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper

from samhw.errors import InputError
from samhw.importers.core import Arguments, UnsupportedError, Value
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.model import Entry, GraphNames, OnnxModel, array_of, readers_of
from samhw.importers.onnx.operators.control import CONTROL
from samhw.importers.onnx.operators.quotients import wrapped
from samhw.importers.onnx.qonnx_evaluator import DOMAINS, evaluated
from samhw.importers.onnx.registry import HOSTED, OPERATORS
from samhw.importers.onnx.values import (
    Array,
    Held,
    NodeCall,
    Operand,
    Typed,
    is_bool,
    is_float,
    is_short,
    is_whole,
    kind_of,
)
from samhw.lang.expr import Literal

__all__ = ["NetworkWalk"]

_OWN = ("", "ai.onnx")
"""How ONNX's own domain is called."""

_SUMS = frozenset(("MatMul", "Conv", "ConvTranspose"))
"""Operators whose results are statements of their own, of sums."""

_PRODUCTS = frozenset((*_SUMS, "Gemm", "Einsum", "MatMulInteger", "ConvInteger"))

_WRAPPING = _PRODUCTS | frozenset(
    (
        *("Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sum", "Pow", "CumSum", "CumProd"),
        *("ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1"),
    )
)
"""Operators whose results may have more bits than their operands."""

_RANDOM = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)


class NetworkWalk:
    """Goes through a model."""

    def __init__(self, model: OnnxModel, importer: NodeImporter, unroll: int) -> None:
        self.model, self.importer, self.unroll = model, importer, unroll
        self.has_scans = False
        self.functions = {(f.domain, f.name): f for f in model.proto.functions}

    def run(self, arguments: Mapping[str, Array]) -> list[Entry]:
        """The outputs of the model's graph, for arguments of these shapes."""
        graph = self.model.proto.graph
        scope = GraphNames(dict(self.arguments(arguments)), self.model.opsets)
        self.initialise(graph, scope)
        self.nodes(graph.node, scope, [output.name for output in graph.output])
        return [scope.get(output.name) for output in graph.output]

    def arguments(self, arguments: Mapping[str, Array]) -> Iterator[tuple[str, Held]]:
        """The model's inputs; one without elements has no data, and is a constant."""
        for name, array in arguments.items():

            def fetch(given: Arguments, name: str = name) -> Array:
                return np.asarray(given[name])

            made = Held(array, name, fetch, frozenset({name}))
            yield name, made if array.size else Held(array, name)

    def initialise(self, graph: onnx.GraphProto, scope: GraphNames) -> None:
        """Adds the constants of a graph."""
        for tensor in graph.initializer:
            if tensor.name not in scope.held:
                scope.held[tensor.name] = Held(array_of(tensor, self.model.folder), tensor.name)
        for sparse in graph.sparse_initializer:
            scope.held[sparse.values.name] = self.sparse_constant(sparse)

    def sparse_constant(self, sparse: onnx.SparseTensorProto) -> Held:
        """A constant that is stored by its nonzeros."""
        values, places = (array_of(t, self.model.folder) for t in (sparse.values, sparse.indices))
        shape = tuple(sparse.dims)
        array = np.zeros(shape, values.dtype)
        coords = np.unravel_index(places, shape) if places.ndim == 1 else tuple(places.T)
        array[coords] = values
        return Held(array, sparse.values.name or "constant", is_sparse=True)

    # Bodies

    def nodes(self, nodes: Sequence[onnx.NodeProto], scope: GraphNames, outputs: Sequence[str]) -> None:
        """Goes through nodes in their order, for outputs of these names."""
        scope.readers = readers_of(nodes, outputs)
        for node in nodes:
            if node.op_type in _SUMS and node.domain in _OWN:
                scope.sums.update(node.output)
            with self.located(node, scope):
                found = self.outputs(node, scope)
            scope.held.update((name, entry) for name, entry in zip(node.output, found, strict=False) if name)

    @contextmanager
    def located(self, node: onnx.NodeProto, scope: GraphNames) -> Iterator[None]:
        """Refusals with the operator and the node's name."""
        build = self.importer.build
        label = node.name or next((name for name in node.output if name), "")
        kept = build.scope, build.result_name
        # PyTorch's exporter names nodes by the module tree: /encoder/layer/MatMul.
        own = label.strip("/").replace(".", "_").replace("/", ".")
        build.scope = ".".join(part for part in (scope.path, own) if part)
        build.result_name = next((name for name in node.output if name), "t").rpartition("/")[2] or "t"
        operator = node.op_type if node.domain in _OWN else f"{node.domain}.{node.op_type}"
        try:
            yield
        except UnsupportedError as error:
            raise InputError(f"{operator} '{label}' {str(error).rstrip('.')}.") from None
        finally:
            build.scope, build.result_name = kept

    def outputs(self, node: onnx.NodeProto, scope: GraphNames) -> Sequence[Entry]:
        """What a node gives."""
        operands = [self.operand(scope, name) for name in node.input]
        attributes = self.attributes(node, scope)
        call = self.call(node, attributes, scope)
        if (node.domain, node.op_type) in self.functions:
            return self.function(self.functions[node.domain, node.op_type], node, operands, scope)
        if node.domain not in (*_OWN, *DOMAINS):
            return list(self.function(self.body(node, operands, scope), node, operands, scope))
        if (control := CONTROL.get(node.op_type)) is not None:
            return control(self, call, operands, scope)
        if node.domain in DOMAINS:
            if call.operator not in OPERATORS:
                raise UnsupportedError("is not read", "see docs/onnx.md for what is, and compute it outside")
            return self.made(call, node, operands, scope)
        if node.op_type in _RANDOM:
            raise UnsupportedError("draws random numbers", "give them as an argument")
        plain = self.without_references(node, attributes)
        known = [x for x in operands if x is None or isinstance(x, Held)]
        if len(known) == len(operands) and not self.is_hardware(node.op_type, known):
            try:
                return self.hosted(plain, known, scope)
            except UnsupportedError:
                # The evaluator lacks some operators, in some types.
                if node.op_type not in OPERATORS:
                    raise
        return self.made(call, plain, operands, scope)

    def operand(self, scope: GraphNames, name: str) -> Operand | None:
        found = scope.get(name) if name else None
        if isinstance(found, UnsupportedError):
            raise found
        if isinstance(found, Typed) and isinstance(found.expr, Literal) and self.importer.build.block is None:
            # One number everywhere is a constant, of which the host computes.
            dtype = helper.tensor_dtype_to_np_dtype(found.kind)
            return Held(np.full(self.importer.shape(found), found.expr.value, dtype), "number")
        return found

    def attributes(self, node: onnx.NodeProto, scope: GraphNames) -> dict[str, onnx.AttributeProto]:
        """A node's attributes, with those of the function for what refers to them."""
        found = {}
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                given = (scope.attributes or {}).get(attribute.ref_attr_name)
                if given is None:
                    continue
                copy = onnx.AttributeProto()
                copy.CopyFrom(given)
                copy.name = attribute.name
                attribute = copy
            found[attribute.name] = attribute
        return found

    def call(
        self, node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto], scope: GraphNames
    ) -> NodeCall:
        version = self.importer.version = scope.opsets.get("", scope.opsets.get("ai.onnx", 0))
        values: dict[str, Any] = {}
        for name, attribute in attributes.items():
            value = helper.get_attribute_value(attribute)
            if isinstance(value, bytes):
                value = value.decode("utf-8", "replace")
            elif isinstance(value, list | tuple) and value and isinstance(value[0], bytes):
                value = [item.decode("utf-8", "replace") for item in value]
            values[name] = value
        wanted = [bool(name) for name in node.output]
        sums = [scope.is_lone_sum(name) for name in node.input]
        operator = f"qonnx.{node.op_type}" if node.domain in DOMAINS else node.op_type
        return NodeCall(operator, version, values, wanted, sums)

    def without_references(
        self, node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]
    ) -> onnx.NodeProto:
        """A node with the attributes of the call at hand."""
        if not any(attribute.ref_attr_name for attribute in node.attribute):
            return node
        plain = onnx.NodeProto()
        plain.CopyFrom(node)
        del plain.attribute[:]
        plain.attribute.extend(attributes.values())
        return plain

    def is_hardware(self, operator: str, operands: Sequence[Entry]) -> bool:
        """Whether hardware computes what the host could: with arguments that are data, unless all are single
        numbers, with tables of data, and sums of products."""
        if operator in ("Shape", "Size"):
            return True
        held = [x for x in operands if isinstance(x, Held)]
        given = [x for x in held if x.fetch is not None]
        if operator == "DequantizeLinear" and not given:
            # A weight stays integers, for products with other ones.
            return self.importer.real is not None and is_short(held[0].kind) and held[0].array.ndim > 1
        if not given or all(x.array.size <= 1 for x in held):
            return False
        if operator in HOSTED:
            return any(_is_data(x.kind) and x.array.size > 1 for x in held) and operator in OPERATORS
        numbers = self.importer.of_integers or operator in _PRODUCTS
        return any(_is_data(x.kind) or (numbers and _is_number(x.kind)) for x in given)

    def hosted(
        self, node: onnx.NodeProto, operands: Sequence[Held | None], scope: GraphNames
    ) -> Sequence[Entry]:
        """What the host computes: once if it is the same in every run."""
        given = [x for x in operands if x is not None]

        def computed(arrays: Sequence[Array | None]) -> list[Array | None]:
            return evaluated(node, arrays, scope.opsets)

        def made(place: int, array: Array | None) -> Entry:
            if array is None:
                return None
            name = node.output[place].rpartition("/")[2] or node.op_type.lower()
            if all(x.fetch is None for x in given):
                return Held(array, name)

            def fetch(arguments: Arguments) -> Array:
                found = computed([None if x is None else x.of(arguments) for x in operands])[place]
                assert found is not None
                if found.shape != array.shape:
                    raise InputError(
                        f"'{name}' has the shape {array.shape} for the example data, and {found.shape} for "
                        "these; import the model anew."
                    )
                return found

            return Held(array, name, fetch, frozenset[str]().union(*(x.sources for x in given)))

        found = computed([None if x is None else x.array for x in operands])
        return [made(place, array) for place, array in enumerate(found)]

    def made(
        self, call: NodeCall, node: onnx.NodeProto, operands: Sequence[Operand | None], scope: GraphNames
    ) -> Sequence[Entry]:
        """What an importer makes of a node, or a function that says what it is."""
        handler = OPERATORS.get(call.operator)
        if handler is not None:
            found = handler(self.importer, call, *operands)
            results: list[Entry] = [found] if isinstance(found, Value | Held | UnsupportedError) else [*found]
        else:
            results = list(self.function(self.body(node, operands, scope), node, operands, scope))
        return [
            self.typed(entry, kind, wraps=call.operator in _WRAPPING)
            for entry, kind in zip(results, self.kinds(call, operands, results), strict=True)
        ]

    def typed(self, entry: Entry, kind: int, *, wraps: bool = False) -> Entry:
        """A value with its type; one that may not fit in it is cut to its last bits."""
        if not isinstance(entry, Value) or isinstance(entry, Typed):
            return entry
        if wraps and is_short(kind):
            entry = wrapped(self.importer, entry, kind)
        condition = entry.condition or is_bool(kind)
        return Typed(entry.modes, entry.expr, entry.mask, condition, kind or TensorProto.FLOAT)

    def kinds(
        self, call: NodeCall, operands: Sequence[Operand | None], results: Sequence[Entry]
    ) -> list[int]:
        """The types of a node's results, as its schema says them."""
        if call.operator.startswith("qonnx."):
            return [int(TensorProto.FLOAT)] * len(results)
        schema = defs.get_schema(call.operator, call.version, "")
        for name in ("to", "dtype", "output_dtype"):
            if (kind := call.get(name)) and call.operator != "EyeLike":
                return [int(kind)] * len(results)
        known: dict[str, int] = {}
        for place, operand in enumerate(operands):
            formal = schema.inputs[min(place, len(schema.inputs) - 1)]
            if operand is not None:
                known.setdefault(formal.type_str, kind_of(operand))
        fixed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        found = []
        for place in range(len(results)):
            text = schema.outputs[min(place, len(schema.outputs) - 1)].type_str
            if text in known:
                found.append(known[text])
                continue
            names = fixed.get(text, [text])
            found.append(_kind_of_text(names[0]) if len(names) == 1 else TensorProto.FLOAT)
        return found

    # Functions

    def body(
        self, node: onnx.NodeProto, operands: Sequence[Operand | None], scope: GraphNames
    ) -> onnx.FunctionProto:
        """The function that ONNX says an operator is.

        Raises:
            UnsupportedError: for an operator that is none.
        """
        domain = "" if node.domain in _OWN else node.domain
        version = scope.opsets.get(domain, 0)
        refusal = UnsupportedError("is not read", "see docs/onnx.md for what is, and compute it outside")
        try:
            schema: Any = defs.get_schema(node.op_type, version, domain)
        except defs.SchemaError:
            raise UnsupportedError(
                f"is no operator of set {version} of the domain '{node.domain}'",
                "export with ONNX's own operators",
            ) from None
        if schema.has_function:
            versions = [v for v in schema.function_opset_versions if v <= version]
            if versions:
                found = onnx.FunctionProto()
                found.ParseFromString(schema.get_function_with_opset_version(max(versions)))
                return found
            body: onnx.FunctionProto = schema.function_body
            return body
        if not schema.has_context_dependent_function:
            raise refusal
        types = [self.type_of(x).SerializeToString() for x in operands]
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
        if not versions:
            raise refusal
        text = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), types
        )
        if not text:
            raise refusal
        found = onnx.FunctionProto()
        found.ParseFromString(text)
        return found

    def type_of(self, x: Operand | None) -> onnx.TypeProto:
        if x is None:
            return onnx.TypeProto()
        return helper.make_tensor_type_proto(kind_of(x), self.importer.shape(x))

    def function(
        self,
        function: onnx.FunctionProto,
        node: onnx.NodeProto,
        operands: Sequence[Operand | None],
        scope: GraphNames,
    ) -> Sequence[Entry]:
        """What a function gives for a node's operands and attributes."""
        given = dict(self.attributes(node, scope))
        defaults = {attribute.name: attribute for attribute in function.attribute_proto} | _defaults(
            node, scope
        )
        held: dict[str, Entry] = dict.fromkeys(function.input)
        held |= dict(zip(function.input, operands, strict=False))
        opsets = {**scope.opsets, **{i.domain: i.version for i in function.opset_import}}
        inner = GraphNames(held, opsets, None, defaults | given, self.importer.build.scope)
        self.nodes(function.node, inner, function.output)
        return [inner.held.get(name) for name in function.output]

    def graph(self, graph: onnx.GraphProto, scope: GraphNames, given: Sequence[Entry]) -> list[Entry]:
        """The outputs of a body of If, Loop or Scan, whose inputs these are."""
        inner = scope.inner()
        inner.held |= {value.name: entry for value, entry in zip(graph.input, given, strict=True)}
        self.initialise(graph, inner)
        self.nodes(graph.node, inner, [output.name for output in graph.output])
        return [inner.get(output.name) for output in graph.output]


def _is_data(kind: int) -> bool:
    return is_float(kind) or is_short(kind)


def _is_number(kind: int) -> bool:
    return is_whole(kind) or is_bool(kind)


def _kind_of_text(text: str) -> int:
    """Of `tensor(int64)`."""
    name = text.removeprefix("tensor(").removesuffix(")")
    return int(TensorProto.DataType.Value("FLOAT" if name == "float" else name.upper()))


def _defaults(node: onnx.NodeProto, scope: GraphNames) -> dict[str, onnx.AttributeProto]:
    """The attributes that ONNX says a node has where it does not say them."""
    domain = "" if node.domain in _OWN else node.domain
    try:
        schema = defs.get_schema(node.op_type, scope.opsets.get(domain, 0), domain)
    except defs.SchemaError:
        return {}
    given = {name: attribute.default_value for name, attribute in schema.attributes.items()}
    return {name: value for name, value in given.items() if value.type}
