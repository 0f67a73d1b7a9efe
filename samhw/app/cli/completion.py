"""What a shell completes: programs, data, value types, files, and words that stand for one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from samhw.app.workload import SYNTHETIC, stand_ins_for
from samhw.compiler import AUTO
from samhw.errors import SamhwError
from samhw.graph.numerics import FLOATS, INTEGERS

__all__ = ["complete_data", "complete_files", "complete_programs", "complete_values"]

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _words_or_files(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The words that begin so, with the files that do; where no word does, files alone, by the shell: bash
    offers its own only where it is given nothing else."""
    if found := [word for word in words if word.startswith(incomplete)]:
        return [CompletionItem(word) for word in (*found, *_files(incomplete))]
    return [CompletionItem(incomplete, type="file")]


def _files(incomplete: str) -> Iterator[str]:
    """The files and folders whose paths begin so, but for hidden ones that are not asked for."""
    before, slash, begun = incomplete.rpartition("/")
    with suppress(OSError, ValueError):
        for path in sorted(Path(f"{before}{slash}").iterdir()):
            if path.name.startswith(begun) and (begun or not path.name.startswith(".")):
                yield f"{before}{slash}{path.name}{'/' if path.is_dir() else ''}"


def complete_files(*words: str) -> Completer:
    """What completes the name of a file, or one of some words instead of it."""
    return lambda ctx, param, incomplete: _words_or_files(words, incomplete)


def complete_programs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The built-in programs, or files."""
    from samhw.lang import built_in_names

    return _words_or_files(built_in_names(), incomplete)


def complete_data(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words of --data, of data sets those that the programs take; or files."""
    from samhw.tensors.stand_ins import STAND_INS

    # An option without its value ends click's parsing before it names arguments.
    programs = ctx.args or ctx.params.get("programs") or filter(None, [ctx.params.get("program")])
    taken = [set(_stand_ins(program)) for program in programs]
    names = [name for name in STAND_INS if not taken or any(name in own for own in taken)]
    words = ("karate", "random", "random:size=", *(f"{SYNTHETIC}:{name}" for name in names))
    return _words_or_files(words, incomplete)


def _stand_ins(program: str) -> Sequence[str]:
    """The stand-ins that a program takes; all where finding out runs a file of Python, or fails."""
    from samhw.tensors.stand_ins import STAND_INS

    if ".py:" not in program:
        with suppress(SamhwError):
            return list(stand_ins_for(program))
    return STAND_INS


def complete_values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The value types that begin so, after what stands before a comma."""
    before, comma, last = incomplete.rpartition(",") if "<" not in incomplete else ("", "", incomplete)
    words = (AUTO, *INTEGERS, "fixed<16,8>", *FLOATS)
    return [CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last)]
