"""Operators that order elements by their values: known by name, and refused until there is hardware."""

from samhw.importers.core import UnsupportedError
from samhw.importers.torch.registry import operator

__all__: list[str] = []

_AFTER = "return the values and do this after the run, or give the places as an argument"


@operator("topk", "sort", "msort", "argsort", "kthvalue", "median", "nanmedian", "mode", places=True)
def refuse_order(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError("orders elements by their values, for which there is no hardware yet", _AFTER)


@operator("argmax", "argmin", places=True)
def refuse_places(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError("finds the places of extremes, for which there is no hardware yet", _AFTER)


@operator("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def refuse_sampling(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "reads at places that are computed, for which there is no hardware yet",
        "sample before, and give the samples as an argument",
    )
