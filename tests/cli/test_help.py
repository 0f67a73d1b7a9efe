"""`samhw --help` reads a table, so that no command has to be imported for it."""

import subprocess
import sys

import click

from samhw.app.cli import COMMANDS, main


def test_the_table_has_the_commands_own_sentences() -> None:
    for name, sentence in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        assert command.help is not None
        assert " ".join(command.help.partition("\n\n")[0].split()) == sentence


def test_help_imports_nothing_that_takes_long() -> None:
    run = "from samhw.app.cli import main; main(['--help'], standalone_mode=False)"
    code = f"import sys; {run}; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = set(out.split())
    assert "samhw.app.cli" in modules
    assert not modules & {"numpy", "scipy", "networkx", "llvmlite", "amaranth"}
