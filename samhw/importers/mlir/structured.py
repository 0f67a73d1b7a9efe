"""Operations of linalg as loops: maps of operands, kinds of loops, and a body."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.arithmetic import ROUNDINGS, ElementArithmetic
from samhw.importers.mlir.element_operations import element_operation
from samhw.importers.mlir.idioms import call, difference, product, sum_of
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import Block, Elements, MlirOperation
from samhw.importers.mlir.types import Affine, AffineMap, MlirType, OtherType, element_type
from samhw.lang.expr import Expr

__all__ = ["Structured", "combined", "operand_types", "structured"]

Combine = Callable[..., Expr]


@dataclass(frozen=True)
class Structured:
    """Nested loops.

    Attributes:
        maps: of the inputs, and of the outputs behind them.
        parallel: of each loop, whether it is; the others are reduced.
        block: what is computed; None where `combine` says so.
        combine: makes the element of the only output of those of the inputs, and of its own, by the
            arithmetic of its type.
        signed: inputs that are words of another type become words of the output's with their signs.
    """

    maps: tuple[AffineMap, ...]
    parallel: tuple[bool, ...]
    block: Block | None = None
    combine: Combine | None = None
    signed: bool = True


def structured(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    """An operation of linalg as loops, as `_loops` gives them, with its casts."""
    found = _loops(op, ranks)
    unsigned = "cast_unsigned" in str(op.attributes.get("cast", ""))
    return replace(found, signed=False) if unsigned else found


def operand_types(op: MlirOperation) -> list[MlirType]:
    """The types of the inputs of an operation of linalg, and of its outputs behind them."""
    groups = op.group_types
    if groups:
        return [*groups.get("ins", []), *groups.get("outs", groups.get("init", []))]
    return list(op.types)


def combined(loops: Structured, kinds: Sequence[str], system: NumberSystem, elements: Sequence[Expr]) -> Expr:
    """What a named operation makes of elements.

    Args:
        kinds: the types of the elements, of which the last one is the output's.
    """
    assert loops.combine is not None
    if loops.combine is _ELEMENTWISE["copy"] and len(set(kinds)) == 1:
        return elements[0]
    gives = kinds[-1]
    given = [
        ElementArithmetic(kind, system).cast(x, gives, signed=loops.signed)
        for x, kind in zip(elements, kinds, strict=True)
    ]
    return loops.combine(ElementArithmetic(gives, system), *given)


def _loops(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    """An operation of linalg as loops.

    Args:
        ranks: of its inputs, and of its outputs behind them.

    Raises:
        UnsupportedError: for an operation that is not known, or not made as it should be.
    """
    name = op.name.removeprefix("linalg.")
    if name in ("generic", "contract"):
        return _generic(op, name)
    if name in _PRODUCTS:
        maps = op.attributes.get("indexing_maps")
        if isinstance(maps, list) and _are_maps(maps):
            return _by_maps(maps, _multiply_add)
        return _by_letters(_PRODUCTS[name], _multiply_add, ranks)
    if name == "quantized_matmul":
        return _by_letters("mk,kn,,->mn", _quantized, ranks)
    if name in _ELEMENTWISE:
        return _elementwise(ranks, _ELEMENTWISE[name])
    if name == "elementwise":
        return _kind(op, ranks)
    if name == "map":
        combine = _payload(op, len(ranks) - 1, reduced=False)
        return _elementwise(ranks, combine) if combine else _elementwise(ranks, None, op.body)
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


def _are_maps(maps: object) -> bool:
    return isinstance(maps, list) and bool(maps) and all(isinstance(m, AffineMap) for m in maps)


def _generic(op: MlirOperation, name: str) -> Structured:
    maps, kinds = op.attributes.get("indexing_maps"), op.attributes.get("iterator_types")
    if not isinstance(maps, list) or not _are_maps(maps):
        raise UnsupportedError("has no indexing maps that can be followed", "give affine maps of the loops")
    if name == "contract":
        return _by_maps(maps, _multiply_add)
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


def _multiply_add(of: ElementArithmetic, a: Expr, b: Expr, out: Expr) -> Expr:
    if of.is_condition:
        return of.either(out, of.both(a, b))
    return of.word(sum_of(out, product(a, b)), "adds words")


def _quantized(of: ElementArithmetic, a: Expr, b: Expr, zero_a: Expr, zero_b: Expr, out: Expr) -> Expr:
    return of.word(sum_of(out, product(difference(a, zero_a), difference(b, zero_b))), "adds words")


def _by_maps(maps: Sequence[AffineMap], combine: Combine) -> Structured:
    """Loops that the output lacks are reduced."""
    kept = {result.loop for result in maps[-1].results}
    return Structured(tuple(maps), tuple(loop in kept for loop in range(maps[0].loops)), combine=combine)


def _by_letters(equation: str, combine: Combine, ranks: Sequence[int]) -> Structured:
    """``mk,kn->mn``; spaces stand between what is a letter by itself."""
    operands = re.split(",|->", equation)
    if [len(operand) for operand in operands] != list(ranks):
        raise UnsupportedError("takes operands of other ranks than it is for", "mend their types")
    letters = list(dict.fromkeys(operands[-1] + equation.replace(",", "").replace("->", "")))
    maps = [AffineMap.of_loops(len(letters), [letters.index(c) for c in operand]) for operand in operands]
    return _by_maps(maps, combine)


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


def _function(name: str) -> Combine:
    return lambda of, x, out: call(name, x)


def _extreme(kind: str, signed: bool) -> Combine:
    return lambda of, a, b, out: of.extreme(kind, a, b, signed=signed)


def _rounded(name: str, of: ElementArithmetic, x: Expr, out: Expr) -> Expr:
    return ROUNDINGS[name](x)


_ELEMENTWISE: Mapping[str, Combine] = {
    "copy": lambda of, x, out: x,
    "add": lambda of, a, b, out: of.either(a, b) if of.is_condition else of.add(a, b),
    "sub": lambda of, a, b, out: of.subtract(a, b),
    "mul": lambda of, a, b, out: of.multiply(a, b),
    "div": lambda of, a, b, out: of.divide(a, b),
    **{kind: _extreme(kind, True) for kind in ("max", "min")},
    **{f"{kind}_signed": _extreme(kind, True) for kind in ("max", "min")},
    **{f"{kind}_unsigned": _extreme(kind, False) for kind in ("max", "min")},
    "negf": lambda of, x, out: of.negative(x),
    "square": lambda of, x, out: of.multiply(x, x),
    "reciprocal": _function("reciprocal"),
    "erf": _function("erf"),
    **{name: _function(name) for name in ("exp", "log", "abs", "sqrt", "rsqrt", "tanh")},
    **{name.partition(".")[2]: partial(_rounded, name) for name in ROUNDINGS},
}


def _elementwise(ranks: Sequence[int], combine: Combine | None, block: Block | None = None) -> Structured:
    loops = max(ranks, default=0)
    maps = tuple(AffineMap.of_loops(loops, range(loops) if rank else []) for rank in ranks)
    return Structured(maps, (True,) * loops, block, combine)


def _kind(op: MlirOperation, ranks: Sequence[int]) -> Structured:
    """`linalg.elementwise`, with its kind and perhaps maps."""
    kind = str(op.attributes.get("kind"))
    name = re.sub(r".*<|>.*", "", kind)
    if name not in _ELEMENTWISE:
        raise UnsupportedError(
            f"is of the kind '{name}', which is not imported", "write it as linalg.generic"
        )
    found = _elementwise(ranks, _ELEMENTWISE[name])
    maps = op.attributes.get("indexing_maps")
    return Structured(tuple(maps), found.parallel, None, found.combine) if isinstance(maps, list) else found


def _payload(op: MlirOperation, inputs: int, *, reduced: bool) -> Combine | None:
    """The operation that stands in braces in the place of a body."""
    payload = op.attributes.get("payload")
    if not isinstance(payload, str):
        return None
    kinds: list[MlirType] = [OtherType(element_type(kind)) for kind in operand_types(op)]

    def combine(of: ElementArithmetic, *elements: Expr) -> Expr:
        given = list(elements if reduced else elements[:inputs])
        inner = MlirOperation(payload, op.at, types=[*kinds[: len(given)]], gives=[*kinds[-1:]])
        return element_operation(of.system, inner, given)

    return combine


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
        maps = [
            AffineMap.of_loops(one, [dims.index(d) for d in range(one)]),
            AffineMap.of_loops(one, range(one)),
        ]
        return Structured(tuple(maps), (True,) * one, combine=_ELEMENTWISE["copy"])
    rest = [d for d in range(max(one, other)) if d not in dims]
    if len(rest) != min(one, other) or len(rest) + len(dims) != max(one, other):
        raise UnsupportedError("names dimensions that there are not", "mend its dimensions")
    if name == "broadcast":
        maps = [AffineMap.of_loops(other, rest), AffineMap.of_loops(other, range(other))]
        return Structured(tuple(maps), (True,) * other, combine=_ELEMENTWISE["copy"])
    half = len(ranks) // 2
    maps = [AffineMap.of_loops(one, range(one))] * half + [AffineMap.of_loops(one, rest)] * half
    parallel = tuple(d in rest for d in range(one))
    return Structured(tuple(maps), parallel, op.body, _payload(op, half, reduced=True))


# Windows

_CONVOLUTION = re.compile(r"(depthwise_)?conv_(\d)d(?:_(n[a-z]*)_([a-z]+))?")
_POOLING = re.compile(r"pooling_(n[a-z]*)_(sum|max|min)(_unsigned)?")
_PLACES = "dhw"


def _numbers(op: MlirOperation, key: str, count: int) -> list[int]:
    """Strides or dilations, 1 where nothing is said."""
    held = op.attributes.get(key)
    if isinstance(held, Elements) and held.values is not None:
        found = [int(n) for n in held.values.reshape(-1)]
        return found if len(found) == count else [found[0]] * count
    if isinstance(held, list) and len(held) == count:
        return [int(n) for n in held]
    return [1] * count


class _Window:
    """Builds maps over loops that have letters; a place of a window is a sum of two loops."""

    def __init__(self, op: MlirOperation, places: str, loops: str) -> None:
        self.loops = loops
        self.places = places
        self.strides = _numbers(op, "strides", len(places))
        self.dilations = _numbers(op, "dilations", len(places))

    def map(self, letters: str) -> AffineMap:
        """An uppercase letter is what a window is taken of, a lowercase one a loop."""
        found = []
        for letter in letters:
            if letter.isupper():
                place = self.places.index(letter.lower())
                outer, inner = self.loops.index(letter.lower()), self.loops.index("xyz"[place])
                factors = sorted([(outer, self.strides[place]), (inner, self.dilations[place])])
                found.append(Affine(tuple(factors)))
            else:
                found.append(Affine(((self.loops.index(letter), 1),)))
        return AffineMap(len(self.loops), tuple(found))


def _convolution(op: MlirOperation, match: re.Match[str], ranks: Sequence[int]) -> Structured:
    depthwise, count, image, kernel = match.groups()
    places = _PLACES[-int(count) :] if count in "123" else ""
    image, kernel = image or places, kernel or places
    inner = dict(zip(places, "xyz", strict=False))
    multiplied = bool(depthwise) and kernel.endswith("cm")
    taken = "".join(c.upper() if c in places else c for c in image)
    weights = "".join(inner.get(c, c) for c in kernel)
    if depthwise:
        given = image + ("m" if multiplied else "")
    else:
        given = image.replace("c", "f")
    loops = "".join(dict.fromkeys(given + weights))
    window = _Window(op, places, loops)
    letters = [taken, weights, given]
    if not places or [len(row) for row in letters] != list(ranks) or set(taken.lower()) - set(loops):
        raise UnsupportedError("is not imported", "write it as linalg.generic")
    return _by_maps([window.map(row) for row in letters], _multiply_add)


def _pooling(op: MlirOperation, match: re.Match[str], ranks: Sequence[int]) -> Structured:
    image, kind, unsigned = match.groups()
    places = "".join(c for c in _PLACES if c in image)
    inner = dict(zip(places, "xyz", strict=False))
    taken = "".join(c.upper() if c in places else c for c in image)
    weights = "".join(inner[c] for c in places)
    window = _Window(op, places, image + weights)
    letters = [taken, weights, image]
    if [len(row) for row in letters] != list(ranks):
        raise UnsupportedError("is not imported", "write it as linalg.generic")

    def combine(of: ElementArithmetic, x: Expr, _: Expr, out: Expr) -> Expr:
        if kind == "sum":
            return of.either(out, x) if of.is_condition else of.add(out, x)
        return of.extreme(kind, out, x, signed=not unsigned)

    found = _by_maps([window.map(row) for row in letters], combine)
    return replace(found, signed=not unsigned)
