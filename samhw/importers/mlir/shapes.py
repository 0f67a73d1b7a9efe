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
    found = FunctionInputs()
    classes = _Classes(module)
    classes.function(function)
    for name, kind in function.arguments:
        if isinstance(kind, TensorType):
            found.types[name[1:]] = kind
        elif classes.is_used(function, name) and not str(kind).startswith(("!", "memref", "vector")):
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
        for dim in range(len(kind.shape)):
            owner = classes.elided[name][0] if name in classes.elided else (function.name, f"%{name}")
            root = classes.find((*owner, dim))
            label = f"d{list(classes.order).index(root)}" if root in classes.order else "d"
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


class _Classes:
    """Sets of dimensions that have one extent."""

    def __init__(self, module: MlirModule) -> None:
        self.module = module
        self.parent: dict[Mode, Mode] = {}
        self.order: dict[Mode, None] = {}
        self.extents: dict[Mode, int] = {}
        self.elided: dict[str, tuple[tuple[str, str], TensorType]] = {}
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

    def is_used(self, function: MlirFunction, name: str) -> bool:
        return any(name in op.values for op in function.body.operations)

    def windowed(self, root: Mode) -> int:
        """How much a window needs, if the loops have small extents."""
        size = 1
        for mode, factor, kind in self.windows[root]:
            extent = self.extents.setdefault(self.find(mode), _SMALL[kind])
            size += abs(factor) * (extent - 1)
        return size

    # Functions

    def function(self, function: MlirFunction) -> None:
        """Ties what the operations of a function tie."""
        if function.name in self.seen:
            return
        self.seen.add(function.name)
        kinds = dict(function.arguments)
        for name, kind in function.arguments:
            self.typed(function, name, kind)
        constants: dict[str, int] = {}
        for op in function.body.operations:
            kinds.update(zip(op.results, op.gives, strict=False))
            for name, kind in zip(op.results, op.gives, strict=False):
                self.typed(function, name, kind)
            value = op.attributes.get("value")
            if op.name == "arith.constant" and isinstance(value, int) and op.results:
                constants[op.results[0]] = value
            try:
                self.operation(function, op, kinds, constants)
            except (InputError, LookupError, ValueError):
                continue  # It is refused where it is imported.

    def typed(self, function: MlirFunction, name: str, kind: MlirType) -> None:
        if isinstance(kind, TensorType):
            for dim, size in enumerate(kind.shape):
                root = self.find((function.name, name, dim))
                if size is not None:
                    self.extents.setdefault(root, size)

    def operation(
        self, function: MlirFunction, op: MlirOperation, kinds: dict[str, MlirType], constants: dict[str, int]
    ) -> None:
        def mode(name: str, dim: int) -> Mode:
            return (function.name, name, dim)

        def rank(name: str) -> int:
            kind = kinds.get(name)
            return len(kind.shape) if isinstance(kind, TensorType) else 0

        def same(one: str, other: str) -> None:
            for dim in range(min(rank(one), rank(other))):
                self.tie(mode(one, dim), mode(other, dim))

        value = op.attributes.get("value")
        if isinstance(value, Elements):
            if value.values is None and value.name not in self.module.resources:
                self.elided.setdefault(op.results[0][1:], ((function.name, op.results[0]), value.type))
        elif op.name == "tensor.dim" and op.operands[1] in constants:
            self.tie(mode(op.operands[0], constants[op.operands[1]]), mode(op.results[0], -1))
        elif op.name in ("tensor.empty", "bufferization.alloc_tensor") and op.results:
            kind = kinds[op.results[0]]
            opened = (
                [d for d, size in enumerate(kind.shape) if size is None]
                if isinstance(kind, TensorType)
                else []
            )
            for dim, operand in zip(opened, op.operands, strict=False):
                if operand in constants:
                    self.extents.setdefault(self.find(mode(op.results[0], dim)), constants[operand])
                else:
                    self.tie(mode(operand, -1), mode(op.results[0], dim))
        elif op.name == "func.call":
            self.called(function, op, kinds)
        elif op.name == "linalg.fill":
            same(op.outputs[0], op.results[0])
        elif op.name.startswith("linalg."):
            self.loops(function, op, [rank(name) for name in op.operands])
        elif is_elementwise(op.name) or op.name.endswith((".convert", ".cast", ".load")):
            for name in op.operands:
                same(name, op.results[0])

    def called(self, function: MlirFunction, op: MlirOperation, kinds: dict[str, MlirType]) -> None:
        callee = self.module.functions.get(op.callee or "")
        if callee is None:
            return
        self.function(callee)
        pairs = [
            *zip(op.operands, (name for name, _ in callee.arguments), strict=False),
            *zip(op.results, callee.body.yields, strict=False),
        ]
        for mine, theirs in pairs:
            kind = kinds.get(mine)
            for dim in range(len(kind.shape)) if isinstance(kind, TensorType) else ():
                self.tie((function.name, mine, dim), (callee.name, theirs, dim))

    def loops(self, function: MlirFunction, op: MlirOperation, ranks: list[int]) -> None:
        loops = structured(op, ranks)
        names = op.operands
        own = f"loops {op.at}"
        for name, amap in zip(names, loops.maps, strict=False):
            for dim, result in enumerate(amap.results):
                if result.loop is not None:
                    self.tie((function.name, name, dim), (function.name, own, result.loop))
        for name, amap in zip(names, loops.maps, strict=False):
            for dim, result in enumerate(amap.results):
                if len(result.factors) > 1:
                    root = self.find((function.name, name, dim))
                    self.windows[root] = [
                        (
                            (function.name, own, loop),
                            factor,
                            "parallel" if loops.parallel[loop] else "reduction",
                        )
                        for loop, factor in result.factors
                    ]
        for out, result_name in zip(op.outputs, op.results, strict=False):
            for dim in range(ranks[len(op.inputs)]):
                self.tie((function.name, out, dim), (function.name, result_name, dim))
