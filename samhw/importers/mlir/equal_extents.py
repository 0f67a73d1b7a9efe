"""Which dimensions of a function's arguments have one extent, as its operations say."""

from dataclasses import dataclass, field

from samhw.errors import InputError
from samhw.importers.mlir.operation import Elements, MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.scalars import is_elementwise
from samhw.importers.mlir.structured import structured
from samhw.importers.mlir.types import MlirType, TensorType, element_type
from samhw.importers.mlir.whole_numbers import is_float

__all__ = ["FunctionInputs", "Mode", "inputs_of"]

Mode = tuple[str, str, int]
"""A dimension of a value: of which function, of which name, the how manieth."""

_SMALL = {"parallel": 6, "reduction": 3}
"""Extents of loops that a window is moved by and that it goes through, where nothing gives them."""


@dataclass
class FunctionInputs:
    """What a function takes data for.

    Attributes:
        types: by name, the arguments and the constants that the text leaves out.
        elided: those constants.
        groups: dimensions that have one extent: by the first of them, its extent, if it is known.
        windows: extents that follow from others, where nothing gives these.
        counts: the arguments of whole numbers, where the function computes in floating point.
        places: how many places each dimension has at least of which such numbers choose one.
    """

    types: dict[str, TensorType] = field(default_factory=dict)
    elided: list[str] = field(default_factory=list)
    groups: dict[tuple[str, int], str] = field(default_factory=dict)
    extents: dict[str, int] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)
    counts: list[str] = field(default_factory=list)
    places: int = 2


def inputs_of(module: MlirModule, function: MlirFunction) -> FunctionInputs:
    """What a function takes data for."""
    found, classes = FunctionInputs(), _Classes(module)
    classes.function(function)
    used = {name for op in function.body.operations for name in op.values}
    for name, kind in function.arguments:
        if isinstance(kind, TensorType):
            found.types[name[1:]] = kind
        elif name in used and not str(kind).startswith(("!", "memref", "vector")):
            found.types[name[1:]] = TensorType((), str(kind))
    if any(is_float(element_type(kind)) for kind in function.results):
        found.counts = [name[1:] for name, kind in function.arguments if not is_float(element_type(kind))]
        found.places = _places(module)
    for name, (_, kind) in classes.elided.items():
        found.types.setdefault(name, kind)
        found.elided.append(name)
    for root in [root for root in classes.windows if classes.find(root) == root]:
        if root not in classes.extents:
            classes.windowed(root)  # So that its loops get extents, which others may have too.
    for name, kind in found.types.items():
        scope = classes.elided[name][0] if name in classes.elided else function.name
        for dim in range(len(kind.shape)):
            root = classes.find((scope, f"%{name}", dim))
            label = f"d{list(classes.order).index(root)}"
            found.groups[name, dim] = label
            size = classes.extents.get(root, kind.shape[dim])
            if size is not None:
                found.extents[label] = size
            elif root in classes.windows:
                found.windows[label] = classes.windowed(root)
    return found


def _places(module: MlirModule) -> int:
    """The least extent of what elements are taken from, or put into; at most 2 where the types say none."""
    sizes: list[int | None] = []
    for function in module.functions.values():
        for op in function.body.inner:
            if op.name in ("tensor.extract", "tm_tensor.scatter"):
                kinds = op.types[:1] if op.name == "tensor.extract" else op.gives
                sizes += [size for kind in kinds if isinstance(kind, TensorType) for size in kind.shape]
    return min((size for size in sizes if size is not None), default=2)


def _shape(kind: MlirType | None) -> tuple[int | None, ...]:
    return kind.shape if isinstance(kind, TensorType) else ()


class _Classes:
    """Sets of dimensions that have one extent.

    Attributes:
        order: the first ones of all sets, as they have been found.
        extents: by the first one of a set.
        elided: the constants that the text leaves out, with their function and type.
        windows: by a dimension that windows are taken of, the loops that go through it, with their factors
            and kinds.
    """

    def __init__(self, module: MlirModule) -> None:
        self.module = module
        self.parent: dict[Mode, Mode] = {}
        self.order: dict[Mode, None] = {}
        self.extents: dict[Mode, int] = {}
        self.elided: dict[str, tuple[str, TensorType]] = {}
        self.windows: dict[Mode, list[tuple[Mode, int, str]]] = {}
        self.seen: set[str] = set()

    def find(self, mode: Mode) -> Mode:
        """The first of the dimensions that have one extent with this one."""
        root = mode
        while self.parent.get(root, root) != root:
            root = self.parent[root]
        self.parent[mode] = root
        self.order.setdefault(root, None)
        return root

    def tie(self, one: Mode, other: Mode) -> None:
        """Makes two extents one."""
        a, b = self.find(one), self.find(other)
        if a != b:
            self.parent[b] = a
            if b in self.extents:
                self.extents.setdefault(a, self.extents[b])
            if b in self.windows:
                self.windows.setdefault(a, self.windows[b])

    def windowed(self, root: Mode) -> int:
        """How much a window needs, if the loops have small extents."""
        size = 1
        for mode, factor, kind in self.windows[root]:
            size += abs(factor) * (self.extents.setdefault(self.find(mode), _SMALL[kind]) - 1)
        return size

    def function(self, function: MlirFunction) -> None:
        """Ties what the operations of a function tie."""
        if function.name not in self.seen:
            self.seen.add(function.name)
            _Ties(self, function)


class _Ties:
    """Ties the extents in one function."""

    def __init__(self, classes: _Classes, function: MlirFunction) -> None:
        self.classes = classes
        self.scope = function.name
        self.kinds: dict[str, MlirType] = {}
        self.constants: dict[str, int] = {}
        for name, kind in function.arguments:
            self.typed(name, kind)
        for op in function.body.operations:
            for name, kind in zip(op.results, op.gives, strict=False):
                self.typed(name, kind)
            value = op.attributes.get("value")
            if op.name == "arith.constant" and isinstance(value, int) and op.results:
                self.constants[op.results[0]] = value
            try:
                self.operation(op)
            except (InputError, LookupError, ValueError):
                continue  # It is refused where it is imported.

    def mode(self, name: str, dim: int) -> Mode:
        return (self.scope, name, dim)

    def typed(self, name: str, kind: MlirType) -> None:
        self.kinds[name] = kind
        for dim, size in enumerate(_shape(kind)):
            root = self.classes.find(self.mode(name, dim))
            if size is not None:
                self.classes.extents.setdefault(root, size)

    def same(self, one: str, other: str) -> None:
        """All dimensions that both have."""
        for dim in range(min(len(_shape(self.kinds.get(name))) for name in (one, other))):
            self.classes.tie(self.mode(one, dim), self.mode(other, dim))

    def operation(self, op: MlirOperation) -> None:
        value = op.attributes.get("value")
        if isinstance(value, Elements):
            if value.values is None and value.name not in self.classes.module.resources:
                self.classes.elided.setdefault(op.results[0][1:], (self.scope, value.type))
        elif op.name == "tensor.dim":
            source = self.mode(op.operands[0], self.constants[op.operands[1]])
            self.classes.tie(source, self.mode(op.results[0], -1))
        elif op.name in ("tensor.empty", "bufferization.alloc_tensor"):
            self.empty(op)
        elif op.name == "func.call":
            self.called(op)
        elif op.name == "linalg.fill":
            self.same(op.outputs[0], op.results[0])
        elif op.name.startswith("linalg."):
            self.loops(op)
        elif is_elementwise(op.name) or op.name.endswith((".convert", ".cast", ".load")):
            for name in op.operands:
                self.same(name, op.results[0])

    def empty(self, op: MlirOperation) -> None:
        """The operands are its open extents."""
        (name,) = op.results
        opened = [dim for dim, size in enumerate(_shape(self.kinds[name])) if size is None]
        for dim, operand in zip(opened, op.operands, strict=False):
            if operand in self.constants:
                root = self.classes.find(self.mode(name, dim))
                self.classes.extents.setdefault(root, self.constants[operand])
            else:
                self.classes.tie(self.mode(operand, -1), self.mode(name, dim))

    def called(self, op: MlirOperation) -> None:
        callee = self.classes.module.functions[op.callee or ""]
        self.classes.function(callee)
        pairs = [
            *zip(op.operands, (name for name, _ in callee.arguments), strict=False),
            *zip(op.results, callee.body.yields, strict=False),
        ]
        for mine, theirs in pairs:
            for dim in range(len(_shape(self.kinds.get(mine)))):
                self.classes.tie(self.mode(mine, dim), (callee.name, theirs, dim))

    def loops(self, op: MlirOperation) -> None:
        """Dimensions along one loop, and those of an output and its result."""
        found = structured(op, [len(_shape(self.kinds.get(name))) for name in op.operands])
        own = f"loops {op.at}"
        dims = [
            (self.mode(name, dim), result)
            for name, amap in zip(op.operands, found.maps, strict=False)
            for dim, result in enumerate(amap.results)
        ]
        for mode, result in dims:
            if result.loop is not None:
                self.classes.tie(mode, self.mode(own, result.loop))
        for mode, result in dims:
            if len(result.factors) > 1:
                self.classes.windows[self.classes.find(mode)] = [
                    (self.mode(own, loop), factor, "parallel" if found.parallel[loop] else "reduction")
                    for loop, factor in result.factors
                ]
        for out, name in zip(op.outputs, op.results, strict=False):
            self.same(out, name)
