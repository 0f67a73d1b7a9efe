"""Commands that refuse an option which counts for nothing: without another one, or since it comes again."""

from collections import Counter
from collections.abc import Mapping, Sequence
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._check_once(ctx, args)
        return super().parse_args(ctx, args)

    def _check_once(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Of an option with one value, click would take the last without a word."""
        _, _, given = self.make_parser(ctx).parse_args([*args])
        for param, times in Counter(given).items():
            if not isinstance(param, click.Option) or param.multiple or param.is_flag or times == 1:
                continue
            way = "give it once"
            if (param.metavar or "").endswith(",.."):
                way = "give all of it at once, with commas"
            raise InputError(
                f"{param.opts[0]} is given {times} times, but the last alone would count; {way}."
            )

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
