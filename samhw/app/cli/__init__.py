"""The command line: a file for each command, and what they share in `options`, `backends`, `output` and
`progress`.

A command is imported when it is used, and so is all that it needs: NumPy alone takes longer than `--help`.
"""

import errno
import os
import re
import shlex
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from itertools import pairwise
from textwrap import shorten
from typing import Any, NoReturn

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

import samhw
from samhw.errors import InputError, RunError, SamhwError
from samhw.faces import on_command_line
from samhw.interpreter import no_collection
from samhw.words import and_more, did_you_mean

__all__ = ["COMMANDS", "TYPED", "WRITTEN", "main"]

TYPED = "samhw.typed"
"""In the context of a command, the words that were typed after `samhw`."""

WRITTEN = "samhw.written"
"""In the context of a command, the files that it writes, each with the option for it and its name there."""


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says when no more can be written."""


COMMANDS = {
    "accuracy": (
        "Run PROGRAM in several value types on several inputs and compare its results with float64."
    ),
    "build": "Write a build of PROGRAM to a directory.",
    "compare": "Simulate PROGRAM under every combination of schedules and compare cost.",
    "compile": "Compile PROGRAM to a SAMML graph.",
    "correlate": "Run programs by simulator and RTL and compare cycles and results.",
    "examples": "The examples, a line each; or writes them to a directory, with the documents.",
    "hls-report": (
        "Print what Vitis HLS reports of the project in DIRECTORY beside what was expected of it."
    ),
    "kernels": "The built-in programs, a line each: kernels, cascades, sequences, then models.",
    "merge": "Put the journals of a sweep's shards together, into one table.",
    "papers": "Measure the figures of papers, beside the papers' own numbers.",
    "run": "Run PROGRAM on data and check the result.",
    "sweep": (
        "Simulate every combination of programs, data, schedules and hardware parameters, into one table."
    ),
    "tune": "Search a schedule for PROGRAM on data, and write it.",
}
"""The commands, each in a file of its name, with the first sentence of its help."""


RENAMED = {
    "--off-chip": "--off-chip A,X is now '--place A=ddr,X=ddr', which also takes chip",
    "--memories": "--memories is now '--on-chip', which takes all, none, or a size such as 512KB",
}
"""Options that samhw had before, and what stands for them."""


@add_completion_class
class _Bash(BashComplete):
    """What bash completes. It ends words at `:` and `=`, and replaces what follows the last of them; and it
    quotes nothing, where other shells do."""

    source_template = BashComplete.source_template.replace(
        "COMP_CWORD=$COMP_CWORD", 'COMP_CWORD=$COMP_CWORD COMP_LINE="${COMP_LINE:0:COMP_POINT}"'
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE")
        if line is None:  # Its script is that of an older samhw.
            return super().get_completion_args()
        words = split_arg_string(line)
        begun = "" if line[-1:].isspace() else words.pop()
        return words[1:], begun

    def format_completion(self, item: CompletionItem) -> str:
        begun = os.environ.get("COMP_LINE", "").split(" ")[-1]
        if item.type != "plain" or begun[:1] in ("'", '"'):  # bash closes a quote that is open.
            return super().format_completion(item)
        if begun.startswith("--"):
            begun = begun.partition("=")[2]
        kept = max(begun.rfind(mark) for mark in ":=") + 1
        return f"{item.type},{shlex.quote(item.value[kept:])}"


class _Group(click.Group):
    """Imports a command when it is used, and turns what ends it into one sentence on stderr and an exit
    code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        file = name.replace("-", "_")
        with no_collection():
            command: click.Command = getattr(import_module(f"samhw.app.cli.{file}"), file)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            width = formatter.width - 6 - max(map(len, COMMANDS))  # As in click, with the frame.
            formatter.write_dl(
                [(name, shorten(text, width, placeholder="...")) for name, text in COMMANDS.items()]
            )

    @on_command_line()
    def invoke(self, ctx: click.Context) -> Any:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # Not every terminal has the marks of a table.
        try:
            return self._invoke(ctx)
        except SamhwError as error:
            _end(str(error), error.exit_code)
        except click.NoSuchOption as error:
            said = RENAMED.get(error.option_name) or self._elsewhere(ctx, error.option_name)
            said = said or error.format_message().removesuffix(".")
            _end(f"{said}; see '{_name(ctx)} --help'.", error.exit_code)
        except click.UsageError as error:
            message = f"{error.format_message().removesuffix('.')}{_meant(error)}"
            _end(f"{message}; see '{_name(ctx)} --help'.", error.exit_code)
        except KeyboardInterrupt:
            _end(f"'{_name(ctx)}' was interrupted; it left nothing half-written.", 130)
        except MemoryError:
            _end(f"'{_name(ctx)}' needs more memory than there is; use smaller data.", RunError.exit_code)
        except BrokenPipeError:
            _drop_output()
            sys.exit(1)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            _drop_output()
            _end(f"'{_name(ctx)}' could not write ({error.strerror}); make room.", InputError.exit_code)

    def _elsewhere(self, ctx: click.Context, option: str) -> str:
        """Which commands have an option that this one lacks, as a sentence; empty if none has."""
        commands = {name: self.get_command(ctx, name) for name in COMMANDS}
        having = [
            name
            for name, command in commands.items()
            if command and any(option in (*param.opts, *param.secondary_opts) for param in command.params)
        ]
        verb = "have" if len(having) > 1 else "has"
        return f"'{_name(ctx)}' has no {option}, which {and_more(having)} {verb}" if having else ""

    def _invoke(self, ctx: click.Context) -> Any:
        """Runs a command, and says which files it wrote, also after results that are wrong."""
        try:
            return super().invoke(ctx)
        finally:
            if isinstance(sys.exception(), SystemExit | None):
                if sys.stdout:
                    sys.stdout.flush()
                for path, (_, name) in ctx.meta.get(WRITTEN, {}).items():
                    if os.path.exists(path):
                        click.echo(f"samhw: wrote {name}", err=True)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No such command '{args[0]}'{did_you_mean(args[0], COMMANDS)}")
        ctx.meta[TYPED] = tuple(args)
        name, command, rest = super().resolve_command(ctx, args)
        for before, argument in pairwise([str(name), *rest]):
            if not argument or (argument.startswith("--") and argument.endswith("=")):
                place = argument.rstrip("=") or f"what follows {before}"
                raise InputError(f"{place} is empty; give a text, or leave it out.")
        return name, command, rest


def _meant(error: click.UsageError) -> str:
    """What may be meant by a word that an option does not have, if that is what is wrong."""
    option = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    word = re.match(r"'(.*)' is not one of ", error.message)
    return (
        did_you_mean(word[1], map(str, option.choices)) if word and isinstance(option, click.Choice) else ""
    )


def _name(ctx: click.Context) -> str:
    return f"samhw {ctx.invoked_subcommand}" if ctx.invoked_subcommand else "samhw"


def _end(sentence: str, code: int) -> NoReturn:
    click.echo(f"samhw: {sentence}", err=True)
    sys.exit(code)


def _drop_output() -> None:
    """Lets Python's end of the process not try again to write what nobody can take."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(samhw.__version__, prog_name="samhw")
def main() -> None:
    """Sparse tensor programs to streaming hardware.

    PROGRAM is a built-in name (see 'samhw kernels'), a .ein file, or file.py:object.
    """
