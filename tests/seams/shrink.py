"""Makes a case that shows a fault as small as it can be while the fault stays the same."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from samhw.errors import SamhwError
from samhw.lang import parse
from tests.seams.arithmetic import UnclearError
from tests.seams.case import Case
from tests.seams.oracle import evaluate
from tests.seams.run import Outcome, run_case

__all__ = ["cause", "shrunk"]


def cause(outcome: Outcome) -> tuple[str, str, str]:
    """What two faults have in common that are the same one, as far as one can tell without looking."""
    stage, _, rest = outcome.message.partition(": ")
    if outcome.kind == "wrong":
        return outcome.kind, stage, ""
    sentence = re.sub(r"'[^']*'|\b[A-Za-z]+\d+\w*\b|\d+", "_", rest)
    return outcome.kind, outcome.place, sentence if outcome.kind != "traceback" else sentence[:40]


def shrunk(case: Case, outcome: Outcome, most: int = 80, run: Callable[[Case], Outcome] = run_case) -> Case:
    """A smaller case with the same fault, after at most this many runs."""
    wanted, runs = cause(outcome), 0
    is_smaller = True
    while is_smaller and runs < most:
        is_smaller = False
        for smaller in _smaller(case):
            runs += 1
            if runs > most:
                break
            try:
                outcome = run(smaller)
            except Exception:  # Not a program any more.
                continue
            if cause(outcome) == wanted:
                case, is_smaller = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for face in case.faces:
        yield replace(case, faces=case.faces - {face})
    for name in case.schedule:
        yield replace(case, schedule={key: kept for key, kept in case.schedule.items() if key != name})
    declarations, units = _parts(case.text)
    for n in reversed(range(len(units))):
        yield case.with_text(_tidy(declarations, [*units[:n], *units[n + 1 :]]))
    yield from _with_results_given(case, declarations, units)
    for n, unit in enumerate(units):
        for other in _simpler(unit):
            yield case.with_text(_tidy(declarations, [*units[:n], other, *units[n + 1 :]]))
    for n, line in enumerate(declarations):
        if " : " in line and not line.endswith(" : dense"):
            plain = line.partition(" : ")[0]
            yield case.with_text(_tidy([*declarations[:n], plain, *declarations[n + 1 :]], units))
    if any(np.any(np.abs(array) > 1) for array in case.data.values()):
        yield replace(case, data={name: np.sign(array) for name, array in case.data.items()})


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The declarations of a text, and its statements; a scan is one."""
    declarations, units = [], []
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if line.startswith(("index ", "tensor ", "value ")):
            declarations.append(line)
            continue
        while line.startswith("scan ") and not line.endswith("\n}"):
            line += "\n" + lines.pop(0)
        units.append(line)
    return declarations, units


def _tidy(declarations: list[str], units: list[str]) -> str:
    """A text without declarations that nothing uses."""
    words = set(re.findall(r"\w+", "\n".join(units)))
    kept = []
    for line in declarations:
        if line.startswith("index "):
            named = [item for item in line[6:].split(", ") if item.partition("=")[0] in words]
            kept += [f"index {', '.join(named)}"] if named else []
        elif not line.startswith("tensor ") or re.findall(r"\w+", line)[1] in words:
            kept.append(line)
    return "\n".join([*kept, *units])


def _with_results_given(case: Case, declarations: list[str], units: list[str]) -> Iterator[Case]:
    """Without the first statement, whose result becomes an input."""
    try:
        statement = case.program.statements[0]
        if statement.scan is not None or len(units) < 2:
            return
        name = statement.lhs.tensor
        values = evaluate(case.program, case.data, case.value).values[name]
    except (SamhwError, UnclearError, AssertionError, KeyError):
        return
    modes = ", ".join(f"m{n}={extent}" for n, extent in enumerate(values.shape))
    others = [line for line in declarations if not re.match(rf"tensor {name}\b", line)]
    declared = f"tensor {name}[{modes}]" if modes else f"tensor {name}"
    given = values.astype(np.int64) if case.value[0] == "i" else values
    text = _tidy([*others, declared], units[1:])
    yield replace(case, data={**case.data, name: given}, other={**case.other, name: given}).with_text(text)


def _simpler(unit: str) -> Iterator[str]:
    """A statement without its mask or order, or with a part of its right side alone."""
    for pattern in (r"    order [^\n]*", r" where [^\n]*?(?=$|    order|\n)"):
        for found in re.finditer(pattern, unit):
            yield unit[: found.start()] + unit[found.end() :]
    if unit.startswith("scan "):
        yield from _shorter_scans(unit)
        return
    try:
        (statement,) = parse(unit, implied=True).statements
    except (SamhwError, ValueError):
        return
    for child in statement.rhs.children:
        yield str(replace(statement, rhs=child))


def _shorter_scans(unit: str) -> Iterator[str]:
    lines = unit.split("\n")
    if "  fuse {" in lines:
        yield "\n".join(line for line in lines if line not in ("  fuse {", "  }"))
    for n in range(1, len(lines) - 1):
        if " = " in lines[n] and len(lines) > 3:
            yield "\n".join([*lines[:n], *lines[n + 1 :]])
        for found in re.finditer(r" [*+] [A-Z]\d+\[[^\]]*\]", lines[n]):
            yield "\n".join([*lines[:n], lines[n].replace(found.group(), "", 1), *lines[n + 1 :]])
