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

__all__ = ["ExactIntegers", "doubled", "is_quantised", "says_type"]

_LIBRARIES = ("quantized_decomposed.", "torchao.")

tree_map, tree_leaves = torch.utils._pytree.tree_map, torch.utils._pytree.tree_leaves


def is_quantised(program: ExportedProgram) -> bool:
    """Whether an exported module says of integers what they stand for."""
    names = (_name_of(node.target) for node in program.graph.nodes)
    return any(name.startswith(_LIBRARIES) or "fake_quant" in name or "_obs_fq_" in name for name in names)


def _name_of(target: Any) -> str:
    return str(getattr(target, "overloadpacket", target))


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

    @property
    def is_even(self) -> bool:
        """Whether all have one scale."""
        return self.scale.numel() == 1


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
        self.constants: dict[int, Tensor] = {}
        """Those that have been asked for, by their ids: what else is added to a sum has errors of its own."""

    def given(self, *arguments: object) -> Any:
        """What the module gives."""
        with torch.no_grad():
            found, _ = self.run(*arguments)
            return tree_map(_real, found)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = super().get_attr(target, args, kwargs)
        if isinstance(found, Tensor):
            self.constants[id(found)] = found
        return found

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        name = _name_of(target)
        _, _, short = name.rpartition(".")
        if name.startswith(_LIBRARIES):
            return _of_library(short, args, kwargs)
        if says_type(target):
            return None
        if "fake_quant" in short or "_obs_fq_" in short:
            return _faked(short, args)
        if name == "aten._to_copy" and isinstance(args[0], Tensor) and not args[0].is_floating_point():
            return target(*args, **kwargs)
        if any(isinstance(item, _Exact) for item in tree_leaves((args, kwargs))):
            made = self.of_exact(target, short, args, kwargs)
            if made is not None:
                return made
        if short in _VIEWS:
            return target(*tree_map(_real, args), **kwargs)
        return target(*tree_map(_double, args), **tree_map(_double, kwargs))

    def of_exact(self, target: Any, short: str, args: Any, kwargs: Any) -> _Exact | None:
        """What an operator makes of exact numbers; None where that is nothing exact."""
        first = args[0]
        if short in _PRODUCTS:
            return _product(target, short, args)
        if short in ("add", "sub") and not kwargs:
            if any(isinstance(x, Tensor) and id(x) not in self.constants for x in args[:2]):
                return None
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
        if part is None or not part.is_even:
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


def _real(x: Any) -> Any:
    return x.real if isinstance(x, _Exact) else x


def _double(x: Any) -> Any:
    return doubled(_real(x))


def says_type(operator: Any) -> bool:
    """Whether an operator only asserts the type of a tensor, which is another one in float64."""
    return _name_of(operator) == "aten._assert_tensor_metadata"


def doubled(item: Any) -> Any:
    """In float64, where it is of fewer bits or is to become f32. Casts to f16 and bf16 round; what is
    computed of such numbers is computed in the value type."""
    if isinstance(item, Tensor):
        return item.double() if item.is_floating_point() else item
    return torch.float64 if item is torch.float32 else item


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


def _product(target: Any, short: str, args: Any) -> _Exact | None:
    if not isinstance(args[0], _Exact) or not isinstance(args[1], _Exact):
        return None
    one, other = args[0].alone, args[1].alone
    if one is None or other is None or not one.is_even:
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
    rest = args[3:] if len(args) > 2 else ()
    whole = target(one.whole, other.whole, None, *rest) if len(args) > 2 else target(one.whole, other.whole)
    added = torch.zeros((), dtype=torch.float64)
    if bias is not None:
        added = bias.double().reshape(-1, *[1] * (other.whole.dim() - 2))
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
    if len(found) < len(parts) or not found[0].is_even:
        return None
    mosts = [part.most for part in found]
    most = None if None in mosts else max(most for most in mosts if most is not None)
    whole = target([part.whole for part in found], *args[1:])
    return _Exact((_Part(whole, found[0].scale, most),), torch.zeros((), dtype=torch.float64))


def found_scale(parts: Sequence[_Part | None]) -> Tensor:
    return parts[0].scale if parts[0] is not None else torch.zeros(0)


# What is quantised


def _of_library(short: str, args: Any, kwargs: Any) -> Any:
    """What operators of quantised tensors give."""
    if short.startswith("choose_qparams"):
        return _chosen(short, args, kwargs)
    if short == "quantize_affine":
        x, block, scale, zero, kind, *ends = args
        real, (low, high) = _double(x), ends[:2] or (torch.iinfo(kind).min, torch.iinfo(kind).max)
        steps, zeros = _by_block(scale, real, block), _by_block(0 if zero is None else zero, real, block)
        return (torch.round(real * (1 / steps)) + zeros).clamp(low, high).to(kind)
    if short == "dequantize_affine":
        x, block, scale, zero, *_ = args
        moved = x.double() - _by_block(0 if zero is None else zero, x, block)
        return _Exact((_Part(moved, _by_block(scale, x, block)),), torch.zeros((), dtype=torch.float64))
    by_channel = short.endswith("channel")
    if short.startswith("dequantize"):
        return _dequantised(*args[:4] if by_channel else (*args[:3], None))
    return _quantised(by_channel, args)


def _by_block(n: Any, x: Tensor, block: Sequence[int]) -> Tensor:
    held = torch.as_tensor(n).double()
    if held.dim() == x.dim() or held.numel() == 1:
        return held
    return held.reshape([1 if b == size else size for b, size in zip(block, x.shape, strict=True)])


def _chosen(short: str, args: Any, kwargs: Any) -> tuple[Tensor, Tensor]:
    x, by_block = _double(args[0]), short.endswith("affine")
    if by_block:
        _, mapping, block, _, least, greatest, eps, *more = args
        keep = more[2] if len(more) > 2 else kwargs.get("keepdim", False)
        dims = [d for d, (b, size) in enumerate(zip(block, x.shape, strict=True)) if b == size]
    else:
        (least, greatest, eps, _), mapping, keep, dims = args[1:], "", False, list(range(x.dim()))
    low, high = x.amin(dims, keep).clamp(max=0), x.amax(dims, keep).clamp(min=0)
    if mapping == "SYMMETRIC":
        scale = (torch.maximum(-low, high) / ((greatest - least) / 2)).clamp(min=eps)
        return scale, torch.full(scale.shape, (least + greatest + 1) // 2)
    scale = ((high - low) / float(greatest - least)).clamp(min=eps)
    return scale, (least - torch.round(low / scale)).clamp(least, greatest).long()


def _faked(short: str, args: Any) -> Any:
    """What is quantised and back, as training has put it into a module."""
    enabled, axis = True, None
    rest: tuple[Any, ...] = (None,)
    if "_obs_fq_" in short:
        x, _, on, lowest, highest, scale, zero, _, least, greatest, channel, *by_row = args
        enabled, axis = bool(on), channel if any(by_row[:1]) else None
        rest = (None, lowest, highest, scale, zero)
    elif "channel" in short:
        x, scale, zero, axis, least, greatest = args
    elif "tensor_qparams" in short:
        x, scale, zero, on, least, greatest = args
        enabled = bool(on)
    else:
        x, scale, zero, least, greatest = args
    kind = torch.int8 if least >= -128 and greatest <= 127 else torch.uint8 if least >= 0 else torch.int32
    given = (x, scale, zero, *(() if axis is None else (axis,)), least, greatest, kind)
    made = x if not enabled else _dequantised(_quantised(axis is not None, given), scale, zero, axis)
    alone = short in ("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine")
    return made if alone else (made, *rest)


def _quantised(by_channel: bool, args: Any) -> Tensor:
    x, scale, zero, *rest = args
    axis = rest.pop(0) if by_channel else None
    least, greatest, kind = rest
    of_run = isinstance(scale, Tensor) and scale.dtype == torch.float64 and axis is None
    if isinstance(x, Tensor) and x.dtype == torch.float32 and not of_run:
        # Constants and arguments, in f32, as PyTorch quantises them.
        one = torch.ones(())
        steps = _along(scale, x, axis).float() if axis is not None else torch.as_tensor(float(scale))
        inverse = one / steps if axis is not None else torch.as_tensor(1 / float(scale)).float()
        found = torch.round(x * inverse) + _along(zero, x, axis).float()
        return found.clamp(least, greatest).to(kind)
    real = _real(x)
    assert isinstance(real, Tensor)
    steps, zeros = _along(scale, real, axis), _along(zero, real, axis).long()
    made = _rescaled(x, steps) if isinstance(x, _Exact) and not of_run else None
    if made is None:
        is_number = axis is None and not of_run
        inverse = 1 / steps if not is_number else torch.tensor(1 / float(scale)).float().double()
        made = torch.round(real * inverse).long()
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
