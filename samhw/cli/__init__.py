"""The command line: a file for each command, and what they share in `options`, `output` and `progress`."""

import sys
from typing import Any

import click

import samhw
from samhw.cli.build import build
from samhw.cli.compare import compare
from samhw.cli.compile import compile
from samhw.cli.correlate import correlate
from samhw.cli.kernels import kernels
from samhw.cli.run import run
from samhw.cli.sweep import sweep
from samhw.errors import SamhwError

__all__ = ["main"]


class _Group(click.Group):
    """Turns samhw's errors into one sentence on stderr and their exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SamhwError as error:
            click.echo(f"samhw: {error}", err=True)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            sys.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(samhw.__version__, prog_name="samhw")
def main() -> None:
    """Sparse tensor programs to streaming hardware.

    PROGRAM is a built-in name (see 'samhw kernels'), a .ein file, or file.py:object.
    """


for _command in (kernels, compile, run, compare, build, correlate, sweep):
    main.add_command(_command)
