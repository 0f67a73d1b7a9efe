"""Operations of linalg as loops: maps of operands, kinds of loops, and a body.

Named operations are generalized, as mlir-opt does with --linalg-generalize-named-ops: each gets a body of
operations of arith and math. So whoever follows loops has one kind of body to follow.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.operation import Block, Elements, MlirOperation
from samhw.importers.mlir.types import Affine, AffineMap, OtherType, element_type
from samhw.importers.mlir.whole_numbers import is_integer

__all__ = ["Structured", "extents_of_loops", "structured"]


@dataclass(frozen=True)
class Structured:
    """Nested loops.

    Attributes:
        maps: of the inputs, and of the outputs after them.
        parallel: of each loop, whether it is; the others are reduced.
        block: what is computed of the elements.
    """

    maps: tuple[AffineMap, ...]
    parallel: tuple[bool, ...]
    block: Block


def structured(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    """An operation of linalg as loops.

    Args:
        ranks: of its inputs, and of its outputs after them.

    Raises:
        UnsupportedError: for an operation that is not known, or not made as it should be.
    """
    found = _loops(op, ranks)
    if len(found.maps) != len(ranks) or any(amap.loops != found.maps[0].loops for amap in found.maps):
        raise UnsupportedError("has not one map for each operand", "mend its maps")
    return found


def _loops(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    name = op.name.removeprefix("linalg.")
    if name == "generic":
        return _generic(op)
    if name in _PRODUCTS or name == "contract":
        maps = op.attributes.get("indexing_maps")
        if name == "contract" or _are_maps(maps):
            return _by_maps(_maps_of(op), _NamedBody(op).sum_of_products())
        return _by_letters(_PRODUCTS[name], _NamedBody(op).sum_of_products(), ranks, op)
    if name == "quantized_matmul":
        return _by_letters("mk,kn,,->mn", _NamedBody(op).sum_of_products(with_zeros=True), ranks, op)
    if name in _ELEMENTWISE:
        return _elementwise(ranks, _NamedBody(op).of_each(name))
    if name == "elementwise":
        return _kind(op, ranks)
    if name == "map":
        return _elementwise(ranks, _body_or_payload(op, len(ranks) - 1))
    if name in ("transpose", "broadcast", "reduce"):
        return _moved(op, name, ranks)
    if match := _CONVOLUTION.fullmatch(name):
        return _convolution(op, match, ranks)
    if match := _POOLING.fullmatch(name):
        return _pooling(op, match, ranks)
    raise UnsupportedError(
        "is not imported",
        "write it as linalg.generic, which mlir-opt does with --linalg-generalize-named-ops",
    )


def extents_of_loops(maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> list[int]:
    """Those of all loops, from whatever operand has a loop as a dimension.

    Raises:
        UnsupportedError: for operands that do not fit their maps, or one another.
    """
    loops = range(maps[0].loops if maps else 0)
    found: dict[int, int] = {}
    for amap, shape in zip(maps, shapes, strict=True):
        if len(amap.results) != len(shape):
            raise UnsupportedError(
                f"has a map of {len(amap.results)} dimensions for an operand of {len(shape)}", "mend the map"
            )
        for result, size in zip(amap.results, shape, strict=True):
            if result.loop is not None and found.setdefault(result.loop, size) != size:
                raise UnsupportedError(
                    f"has operands of {found[result.loop]} and of {size} along one loop", "mend their types"
                )
    for loop in loops:
        if loop not in found:
            raise UnsupportedError(
                f"has a loop (d{loop}) whose extent no operand gives", "let an operand have it as a dimension"
            )
    return [found[loop] for loop in loops]


# Bodies

_ELEMENTWISE: Mapping[str, tuple[str, str] | None] = {
    "copy": None,
    "add": ("arith.addf", "arith.addi"),
    "sub": ("arith.subf", "arith.subi"),
    "mul": ("arith.mulf", "arith.muli"),
    "div": ("arith.divf", "arith.divsi"),
    **dict.fromkeys(("max", "max_signed"), ("arith.maximumf", "arith.maxsi")),
    **dict.fromkeys(("min", "min_signed"), ("arith.minimumf", "arith.minsi")),
    "max_unsigned": ("arith.maximumf", "arith.maxui"),
    "min_unsigned": ("arith.minimumf", "arith.minui"),
    "negf": ("arith.negf", "arith.negf"),
    "square": ("arith.mulf", "arith.muli"),
    "reciprocal": ("arith.divf", "arith.divf"),
    "abs": ("math.absf", "math.absi"),
    **{
        name: (f"math.{name}", f"math.{name}")
        for kinds in ("exp log sqrt rsqrt tanh erf", "floor ceil trunc round roundeven")
        for name in kinds.split()
    },
}
"""By the names of operations, and of kinds of `linalg.elementwise`: the operation that makes an element, of
floating point and of whole numbers; None where it is the element itself."""
_WITH_TWO = ("add", "sub", "mul", "div", "max", "min")


class _NamedBody:
    """Writes the body of an operation that is not `linalg.generic`.

    Raises:
        UnsupportedError: for an operation that does not give the types of its operands.
    """

    def __init__(self, op: MlirOperation) -> None:
        self.op = op
        self.kinds = [element_type(kind) for kind in op.types]
        if not self.kinds or len(self.kinds) != len(op.inputs) + len(op.outputs):
            raise UnsupportedError("does not give the type of each operand", "mend its types")
        self.gives = self.kinds[-1]
        self.whole = is_integer(self.gives)
        self.signed = "cast_unsigned" not in str(op.attributes.get("cast", ""))
        self.elements = [f"%e{n}" for n in range(len(self.kinds))]
        self.block = Block(
            [(name, OtherType(kind)) for name, kind in zip(self.elements, self.kinds, strict=True)]
        )

    def add(
        self,
        name: str,
        operands: Sequence[str],
        taken: Sequence[str] = (),
        gives: str = "",
        **attributes: Any,
    ) -> str:
        """Adds an operation; gives the name of its result."""
        made = MlirOperation(name, self.op.at, [f"%v{len(self.block.operations)}"], list(operands))
        made.types = [OtherType(kind) for kind in taken or [self.gives] * len(operands)]
        made.gives, made.attributes = [OtherType(gives or self.gives)], attributes
        self.block.operations.append(made)
        return made.results[0]

    def yielded(self, name: str) -> Block:
        """The body, which gives this value."""
        self.block.operations.append(MlirOperation("linalg.yield", self.op.at, [], [name]))
        return self.block

    def cast(self, place: int) -> str:
        """An element as one of the output's type."""
        name, kind, to = self.elements[place], self.kinds[place], self.gives
        if kind == to:
            return name
        sign, wider = "s" if self.signed else "u", _bits(to) >= _bits(kind)
        match is_integer(kind), self.whole:
            case True, True:
                how = f"ext{sign}i" if wider else "trunci"
            case True, False:
                how = f"{sign}itofp"
            case False, True:
                how = f"fpto{sign}i"
            case _:
                how = "extf" if wider else "truncf"
        return self.add(f"arith.{how}", [name], [kind])

    def typed(self, names: tuple[str, str], *operands: str, **attributes: Any) -> str:
        """An operation that has a name for floating point and one for whole numbers."""
        return self.add(names[self.whole], operands, **attributes)

    def joined(self, name: str, a: str, b: str) -> str:
        """The sum or the greater one of two elements; conditions add up by `or`."""
        if name == "add" and self.gives == "i1":
            return self.add("arith.ori", [a, b])
        names = _ELEMENTWISE[name]
        assert names is not None
        return self.typed(names, a, b)

    def of_each(self, name: str) -> Block:
        """What an operation makes of one element, or of two."""
        first, names = self.cast(0), _ELEMENTWISE[name]
        if names is None:
            return self.yielded(first)
        if name.partition("_")[0] in _WITH_TWO:
            if len(self.kinds) != 3:
                raise UnsupportedError(f"takes {len(self.kinds) - 1} operands", "give it two")
            return self.yielded(self.joined(name, first, self.cast(1)))
        if name == "square":
            return self.yielded(self.typed(names, first, first))
        if name == "reciprocal":
            return self.yielded(self.typed(names, self.add("arith.constant", [], value=1.0), first))
        return self.yielded(self.typed(names, first))

    def sum_of_products(self, *, with_zeros: bool = False) -> Block:
        """What is there and the product of two elements, from which `with_zeros` subtracts two others. The
        sum has the lowest bits of the product, so it may stay as it is."""
        if len(self.kinds) != (5 if with_zeros else 3):
            raise UnsupportedError(f"takes {len(self.kinds) - 1} operands", "mend its operands")
        a, b = self.cast(0), self.cast(1)
        if self.gives == "i1" and with_zeros:
            raise UnsupportedError("multiplies conditions less others", "use integers of eight bits or more")
        if self.gives == "i1":
            return self.yielded(self.add("arith.ori", [self.elements[-1], self.add("arith.andi", [a, b])]))
        if with_zeros:
            names = ("arith.subf", "arith.subi")
            a = self.typed(names, a, self.cast(2), keeps_bits=True)
            b = self.typed(names, b, self.cast(3), keeps_bits=True)
        made = self.typed(("arith.mulf", "arith.muli"), a, b, keeps_bits=True)
        return self.yielded(self.joined("add", self.elements[-1], made))

    def pooled(self, kind: str) -> Block:
        """What is there and one more element."""
        name = {"sum": "add"}.get(kind, kind if self.signed else f"{kind}_unsigned")
        return self.yielded(self.joined(name, self.elements[-1], self.cast(0)))

    def payload(self, name: str, operands: int) -> Block:
        """One operation."""
        return self.yielded(self.add(name, self.elements[:operands], self.kinds[:operands]))


def _bits(element: str) -> int:
    found = re.search(r"\d+", element)
    return int(found[0]) if found else 64


def _body_or_payload(op: MlirOperation, operands: int) -> Block:
    """The body, or the operation that stands in braces instead."""
    payload = op.attributes.get("payload")
    if isinstance(payload, str):
        return _NamedBody(op).payload(payload, operands)
    if op.body is None:
        raise UnsupportedError("has no body", "give it one")
    return op.body


# Maps


def _are_maps(maps: object) -> bool:
    return isinstance(maps, list) and bool(maps) and all(isinstance(m, AffineMap) for m in maps)


def _maps_of(op: MlirOperation) -> list[AffineMap]:
    maps = op.attributes.get("indexing_maps")
    if not isinstance(maps, list) or not _are_maps(maps):
        raise UnsupportedError("has no indexing maps that can be followed", "give affine maps of the loops")
    return maps


def _generic(op: MlirOperation) -> Structured:
    maps, kinds = _maps_of(op), op.attributes.get("iterator_types")
    if not isinstance(kinds, list) or len(kinds) != maps[0].loops or op.body is None:
        raise UnsupportedError("says not of every loop of what kind it is", "mend its iterator_types")
    names = [re.sub(r".*<|>.*", "", str(kind)) for kind in kinds]
    if not set(names) <= {"parallel", "reduction"}:
        raise UnsupportedError(
            f"has loops of the kinds {', '.join(sorted(set(names)))}", "use parallel and reduction"
        )
    # A loop that an output lacks is reduced, whatever it is called.
    kept = set(range(len(names)))
    for amap in maps[len(op.inputs) :]:
        kept &= {loop for result in amap.results for loop, _ in result.factors}
    parallel = (kind == "parallel" and loop in kept for loop, kind in enumerate(names))
    return Structured(tuple(maps), tuple(parallel), op.body)


def _by_maps(maps: Sequence[AffineMap], block: Block) -> Structured:
    """Loops that the output lacks are reduced."""
    kept = {result.loop for result in maps[-1].results}
    return Structured(tuple(maps), tuple(loop in kept for loop in range(maps[0].loops)), block)


def _by_letters(equation: str, block: Block, ranks: Sequence[int], op: MlirOperation) -> Structured:
    """``mk,kn->mn``, with a letter for each loop. An uppercase one is what a window is taken of: the sum of
    the loop of that letter and of a loop in the window, which `_WINDOW` names, by strides and dilations."""
    operands = re.split(",|->", equation)
    if [len(operand) for operand in operands] != list(ranks):
        raise UnsupportedError("takes operands of other ranks than it is for", "mend their types")
    places = [letter.lower() for letter in equation if letter.isupper()]
    loops = list(dict.fromkeys(c for c in "".join(operands[::-1]) if c.islower()))
    strides, dilations = (_numbers(op, key, len(places)) for key in ("strides", "dilations"))

    def index(letter: str) -> Affine:
        if letter.islower():
            return Affine(((loops.index(letter), 1),))
        n = places.index(letter.lower())
        window = loops.index(_WINDOW[n])
        return Affine(tuple(sorted([(loops.index(places[n]), strides[n]), (window, dilations[n])])))

    return _by_maps([AffineMap(len(loops), tuple(map(index, operand))) for operand in operands], block)


def _numbers(op: MlirOperation, key: str, count: int) -> list[int]:
    """Strides or dilations, 1 where nothing is said."""
    held = op.attributes.get(key)
    if isinstance(held, Elements) and held.values is not None:
        found = [int(n) for n in held.values.reshape(-1)]
        return found if len(found) == count else [found[0]] * count
    return [int(n) for n in held] if isinstance(held, list) and len(held) == count else [1] * count


_PRODUCTS = {
    "matmul": "mk,kn->mn",
    "matmul_transpose_a": "km,kn->mn",
    "matmul_transpose_b": "mk,nk->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "matvec": "mk,k->m",
    "vecmat": "k,kn->n",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "dot": "k,k->",
    "mmt4d": "mkab,nkcb->mnac",
    "batch_mmt4d": "zmkab,znkcb->zmnac",
}


def _elementwise(ranks: Sequence[int], block: Block) -> Structured:
    loops = max(ranks, default=0)
    maps = tuple(AffineMap.of_loops(loops, range(loops) if rank else []) for rank in ranks)
    return Structured(maps, (True,) * loops, block)


def _kind(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    """`linalg.elementwise`, with its kind and perhaps maps."""
    name = re.sub(r".*<|>.*", "", str(op.attributes.get("kind")))
    if name not in _ELEMENTWISE:
        raise UnsupportedError(
            f"is of the kind '{name}', which is not imported", "write it as linalg.generic"
        )
    found = _elementwise(ranks, _NamedBody(op).of_each(name))
    maps = op.attributes.get("indexing_maps")
    return replace(found, maps=tuple(_maps_of(op))) if isinstance(maps, list) else found


def _moved(op: MlirOperation, name: str, ranks: Sequence[int]) -> Structured:
    """`transpose`, `broadcast` and `reduce`, by the dimensions that they name."""
    key = "permutation" if name == "transpose" else "dimensions"
    dims = op.attributes.get(key)
    if not isinstance(dims, list) or not all(isinstance(d, int) for d in dims):
        raise UnsupportedError(f"has no {key}", "give them")
    one, other = ranks[0], ranks[-1]
    if name == "transpose":
        if sorted(dims) != list(range(one)) or one != other:
            raise UnsupportedError("has no permutation of its dimensions", "name each once")
        loops = [[dims.index(d) for d in range(one)], range(one)]
    else:
        rest = [d for d in range(max(one, other)) if d not in dims]
        if len(rest) != min(one, other) or len(rest) + len(dims) != max(one, other):
            raise UnsupportedError("names dimensions that there are not", "mend its dimensions")
        half = len(ranks) // 2
        loops = [rest, range(other)] if name == "broadcast" else [range(one)] * half + [rest] * half
    maps = [AffineMap.of_loops(max(one, other), row) for row in loops]
    block = _body_or_payload(op, len(ranks)) if name == "reduce" else _NamedBody(op).of_each("copy")
    return _by_maps(maps, block)


# Windows

_CONVOLUTION = re.compile(r"(depthwise_)?conv_([123])d(?:_(n[a-z]*)_([a-z]+))?")
_POOLING = re.compile(r"pooling_(n[a-z]*)_(sum|max|min)(_unsigned)?")
_PLACES = "dhw"
_WINDOW = "xyz"
"""The loops in a window."""


def _window_of(image: str, kernel: str) -> tuple[str, str]:
    """The letters of what a window is taken of, and of the window."""
    places = [c for c in _PLACES if c in image]
    inner = dict(zip(places, _WINDOW, strict=False))
    return "".join(c.upper() if c in places else c for c in image), "".join(inner.get(c, c) for c in kernel)


def _convolution(op: MlirOperation, match: re.Match[str], ranks: Sequence[int]) -> Structured:
    depthwise, count, image, kernel = match.groups()
    places = _PLACES[-int(count) :]
    image, kernel = image or places, kernel or places
    taken, weights = _window_of(image, kernel)
    given = image.replace("c", "f")
    if depthwise:
        given = image + ("m" if kernel.endswith("cm") else "")
    known = set(given + weights) >= set(taken.lower()) and set(places) <= set(image)
    if [len(taken), len(weights), len(given)] != list(ranks) or not known:
        raise UnsupportedError("is not imported", "write it as linalg.generic")
    return _by_letters(f"{taken},{weights}->{given}", _NamedBody(op).sum_of_products(), ranks, op)


def _pooling(op: MlirOperation, match: re.Match[str], ranks: Sequence[int]) -> Structured:
    image, kind, unsigned = match.groups()
    taken, weights = _window_of(image, "".join(c for c in _PLACES if c in image))
    if [len(taken), len(weights), len(image)] != list(ranks):
        raise UnsupportedError("is not imported", "write it as linalg.generic")
    body = _NamedBody(op)
    body.signed = not unsigned
    return _by_letters(f"{taken},{weights}->{image}", body.pooled(kind), ranks, op)
