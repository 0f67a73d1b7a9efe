"""What a quantised module gives, by exact integers: PyTorch's own operators multiply what integers stand for
in f32, and round that.

It goes through the exported module, and shares nothing with the importer but docs/pytorch.md ("Quantised
modules").
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import Interpreter

__all__ = ["ExactIntegers", "is_quantised"]

_LIBRARY = "quantized_decomposed"

tree_map, tree_leaves = torch.utils._pytree.tree_map, torch.utils._pytree.tree_leaves


def is_quantised(program: ExportedProgram) -> bool:
    """Whether an exported module says of integers what they stand for."""
    return any(_LIBRARY in str(node.target) for node in program.graph.nodes)


@dataclass(frozen=True)
class _Part:
    """Integers times a scale, in float64, which has all of them: `most` bounds the magnitude of those of
    eight bits."""

    whole: Tensor
    scale: Tensor
    most: int | None = None

    @property
    def real(self) -> Tensor:
        return self.whole * self.scale


@dataclass(frozen=True)
class _Exact:
    """A sum of integers times scales and of other numbers, which functions then cut off."""

    parts: tuple[_Part, ...]
    rest: Tensor
    clamps: tuple[Callable[[Tensor], Tensor], ...] = ()

    @property
    def real(self) -> Tensor:
        made = sum((part.real for part in self.parts), start=self.rest)
        for clamp in self.clamps:
            made = clamp(made)
        return made

    @property
    def alone(self) -> _Part | None:
        """The integers, if there is nothing else."""
        plain = len(self.parts) == 1 and not self.clamps and not bool(self.rest.any())
        return self.parts[0] if plain else None


def _named(*names: str) -> frozenset[str]:
    return frozenset(name for row in names for name in row.split())


_VIEWS = _named(
    "view _unsafe_view view_copy reshape flatten unflatten permute transpose movedim t unsqueeze squeeze",
    "select slice expand clone detach alias contiguous dropout",
)
_EXTREMES = _named("amax amin max_pool1d max_pool2d max_pool3d")
_MEANS = _named("mean avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool2d _adaptive_avg_pool2d")
_PRODUCTS = _named("linear matmul mm bmm _int_mm conv1d conv2d conv3d convolution")
_CUTS = _named("relu relu_ hardtanh hardtanh_ relu6 clamp clamp_min clamp_max")


class ExactIntegers(Interpreter):
    """Runs an exported module: products of integers, and what is quantised of them, exactly, and all else in
    float64."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program.module())

    def given(self, *arguments: object) -> Any:
        """What the module gives."""
        with torch.no_grad():
            return tree_map(_real, self.run(*arguments))

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        name = str(getattr(target, "overloadpacket", target))
        library, _, short = name.rpartition(".")
        if library == _LIBRARY and short.startswith("dequantize"):
            return _dequantised(*args[:4] if short.endswith("channel") else (*args[:3], None))
        if library == _LIBRARY and short.startswith("quantize"):
            return _quantised(target, short, args)
        if name == "aten._to_copy" and isinstance(args[0], Tensor) and not args[0].is_floating_point():
            return target(*args, **kwargs)
        if any(isinstance(item, _Exact) for item in tree_leaves((args, kwargs))):
            made = _of_exact(target, short, args, kwargs)
            if made is not None:
                return made
        if short in _VIEWS:
            return target(*tree_map(_real, args), **kwargs)
        return target(*tree_map(_double, args), **tree_map(_double, kwargs))


def _real(x: object) -> object:
    return x.real if isinstance(x, _Exact) else x


def _double(x: object) -> object:
    if isinstance(x, _Exact):
        return x.real
    if x is torch.float32:
        return torch.float64
    return x.double() if isinstance(x, Tensor) and x.is_floating_point() else x


def _along(x: Any, like: Tensor, axis: int | None) -> Tensor:
    held = torch.as_tensor(x, dtype=torch.float64)
    return (
        held
        if axis is None
        else held.reshape([-1 if n == axis % like.dim() else 1 for n in range(like.dim())])
    )


def _dequantised(x: Tensor, scale: Any, zero: Any, axis: int | None) -> _Exact:
    zeros = _along(0 if zero is None else zero, x, axis)
    ends = torch.iinfo(x.dtype)
    middle = 0 if ends.min else (ends.max + 1) // 2
    most = (1 << ends.bits - 1) + int((middle - zeros).abs().max()) if ends.bits == 8 else None
    return _Exact(
        (_Part(x.double() - zeros, _along(scale, x, axis), most),), torch.zeros((), dtype=torch.float64)
    )


# What is done to integers


def _of_exact(target: Any, short: str, args: Any, kwargs: Any) -> _Exact | None:
    """What an operator makes of exact numbers; None where that is nothing exact."""
    first = args[0]
    if short in _PRODUCTS:
        return _product(target, short, args)
    if short == "addmm" and isinstance(args[1], _Exact) and isinstance(args[2], _Exact):
        made = _product(torch.ops.aten.mm.default, "mm", args[1:3])
        return None if made is None else replace(made, rest=made.rest + _double(first))
    if short in ("add", "sub") and not kwargs:
        return _sum(args[0], args[1], -1 if short == "sub" else 1)
    if short in ("mul", "div") and isinstance(args[1], int | float):
        factor = args[1] if short == "mul" else 1 / args[1]
        return _scaled(first, factor) if isinstance(first, _Exact) else None
    if short == "cat":
        return _joined(target, args)
    if not isinstance(first, _Exact):
        return None
    if short in _CUTS:
        return replace(first, clamps=(*first.clamps, lambda x: target(x, *args[1:], **kwargs)))
    part = first.alone
    if part is None or part.scale.numel() > 1:
        return None
    if short in _VIEWS or (short in _EXTREMES and bool((part.scale > 0).all())):
        return replace(first, parts=(replace(part, whole=target(part.whole, *args[1:], **kwargs)),))
    if short in _MEANS:
        mean = target(part.whole, *args[1:], **kwargs)
        count = part.whole.numel() // mean.numel()
        whole = torch.round(mean * count)
        if torch.allclose(whole, mean * count, rtol=0, atol=1e-6):
            return replace(first, parts=(_Part(whole, part.scale / count),))
    return None


def _product(target: Any, short: str, args: Any) -> _Exact | None:
    if not isinstance(args[0], _Exact) or not isinstance(args[1], _Exact):
        return None
    one, other = args[0].alone, args[1].alone
    if one is None or other is None or one.scale.numel() > 1:
        return None
    scale = other.scale
    if scale.numel() > 1:
        if (
            short not in ("linear", "conv1d", "conv2d", "conv3d", "convolution")
            or scale.numel() != scale.shape[0]
        ):
            return None
        scale = scale.reshape(-1, *[1] * (other.whole.dim() - 2))
    bias = args[2] if len(args) > 2 else None
    bias = None if bias is None else _double(bias)
    rest = args[3:] if len(args) > 2 else ()
    whole = target(one.whole, other.whole, None, *rest) if len(args) > 2 else target(one.whole, other.whole)
    added = torch.zeros((), dtype=torch.float64)
    if bias is not None:
        added = bias.reshape(-1, *[1] * (other.whole.dim() - 2))  # type: ignore[attr-defined]
    return _Exact((_Part(whole, one.scale * scale),), added)


def _sum(one: object, other: object, sign: int) -> _Exact | None:
    pair = [x if isinstance(x, _Exact) else _Exact((), torch.as_tensor(_double(x))) for x in (one, other)]
    if any(x.clamps for x in pair):
        return None
    parts = tuple(replace(part, scale=part.scale * sign) for part in pair[1].parts)
    return _Exact((*pair[0].parts, *parts), pair[0].rest + sign * pair[1].rest)


def _scaled(x: _Exact, factor: float) -> _Exact | None:
    if x.clamps:
        return None
    return _Exact(tuple(replace(part, scale=part.scale * factor) for part in x.parts), x.rest * factor)


def _joined(target: Any, args: Any) -> _Exact | None:
    parts = [x.alone if isinstance(x, _Exact) else None for x in args[0]]
    found = [part for part in parts if part is not None and torch.equal(part.scale, found_scale(parts))]
    if len(found) < len(parts) or found[0].scale.numel() > 1:
        return None
    mosts = [part.most for part in found]
    most = None if None in mosts else max(most for most in mosts if most is not None)
    whole = target([part.whole for part in found], *args[1:])
    return _Exact((_Part(whole, found[0].scale, most),), torch.zeros((), dtype=torch.float64))


def found_scale(parts: Sequence[_Part | None]) -> Tensor:
    return parts[0].scale if parts[0] is not None else torch.zeros(0)


# What is quantised


def _quantised(target: Any, short: str, args: Any) -> Tensor:
    x, scale, zero, *rest = args
    axis = rest.pop(0) if short.endswith("channel") else None
    least, greatest, kind = rest
    if isinstance(x, Tensor) and x.dtype == torch.float32:
        # Constants and arguments, as PyTorch quantises them.
        found: Tensor = target(*args)
        return found
    real = _real(x)
    assert isinstance(real, Tensor)
    steps, zeros = _along(scale, real, axis), _along(zero, real, axis).long()
    made = _rescaled(x, steps) if isinstance(x, _Exact) else None
    if made is None:
        inverse = real / steps if isinstance(scale, Tensor) else real * float(torch.tensor(1 / scale))
        made = torch.round(inverse).long()
    elif isinstance(x, _Exact):
        for clamp in x.clamps:
            ends = [clamp(torch.tensor(end, dtype=torch.float64)) for end in (-math.inf, math.inf)]
            low, high = (torch.round(end / steps).clamp(-(2.0**40), 2.0**40).long() for end in ends)
            made = torch.minimum(torch.maximum(made, low), high)
    return (made + zeros).clamp(least, greatest).to(kind)


def _rescaled(x: _Exact, steps: Tensor) -> Tensor | None:
    """The nearest integers to a sum in units of a step; None for one that is computed in floating point."""
    if len(x.parts) == 1:
        (part,) = x.parts
        added = torch.round(x.rest / part.scale)
        multiplier, bits = _multiplier(part.scale / steps)
        return _shifted((part.whole + added).long() * multiplier, bits)
    factors = [part.scale / steps for part in x.parts]
    most = [part.most for part in x.parts]
    if None in most or any(factor.numel() > 1 for factor in factors):
        return None
    count = 20 - math.frexp(max(float(factor.abs()) for factor in factors))[1]
    if not 0 <= count <= 62 or sum(m for m in most if m is not None) * 2.0**-count > 2.0**-7:
        return None
    pairs = zip(x.parts, factors, strict=True)
    total = sum((part.whole * torch.round(factor * 2.0**count) for part, factor in pairs), start=x.rest * 0)
    return _shifted((total + torch.round(x.rest / steps * 2.0**count)).long(), torch.tensor(count))


def _multiplier(factor: Tensor) -> tuple[Tensor, Tensor]:
    """m and s, m / 2**s being the factor: m has 31 bits in the greatest, and in all if some would have less
    than 24 with the same s."""
    _, exponent = torch.frexp(factor)
    bits = (31 - exponent.long()).clamp(0, 62)
    positive = factor[factor > 0]
    if positive.numel() and float(positive.max() / positive.min()) <= 2**7:
        bits = torch.full_like(bits, int(bits[factor > 0].min()))
    return torch.round(torch.ldexp(factor, bits)).long(), bits


def _shifted(whole: Tensor, bits: Tensor) -> Tensor:
    """Integers by a power of two, rounded to nearest, ties to even."""
    down = whole >> bits
    twice = (whole - (down << bits)) * 2 - (1 << bits)
    return down + ((twice > 0) | ((twice == 0) & (down % 2 == 1))).long()
