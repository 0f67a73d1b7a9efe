"""Commands that refuse an option which counts for nothing without another."""

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from samhw.errors import InputError

__all__ = ["NEEDS", "Command"]

NEEDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "": {
        "--width": ("--plot",),
        "--window": ("--trace",),
        "--ports": ("--memory",),
        "--memory-log": ("--memory",),
        "--against": ("--plot", "--report"),
    },
    "compile": {"--part": ("--estimate",)},
}
"""By command, or for all of them, and by option those of which it needs one."""

EXAMPLES = {
    "--plot": "--plot FILE",
    "--report": "--report DIR",
    "--trace": "--trace run.json",
    "--memory": "--memory ddr4",
}
"""How these are written."""


class Command(click.Command):
    """A command whose options are looked over before it does anything."""

    def invoke(self, ctx: click.Context) -> Any:
        given = {option for param in self.params if _is_given(ctx, param) for option in param.opts}
        for option, others in {**NEEDS[""], **NEEDS.get(self.name or "", {})}.items():
            if option in given and not given.intersection(others):
                ways = " or ".join(f"'{EXAMPLES.get(other, other)}'" for other in others)
                raise InputError(f"{option} counts for nothing without {' or '.join(others)}; add {ways}.")
        return super().invoke(ctx)


def _is_given(ctx: click.Context, param: click.Parameter) -> bool:
    return ctx.get_parameter_source(param.name or "") not in (
        ParameterSource.DEFAULT,
        ParameterSource.DEFAULT_MAP,
        None,
    )
