"""What is not in the subset is refused by name, and so is what would mean something else than in Python.

docs/simulator.md lists what is in it.
"""

import importlib.util
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from samhw.sim.machine_code import Record, Untranslatable, address_of

TABLE = np.array([3, 1, 4])


class Both(NamedTuple):
    left: int
    right: int


class Point(Record):
    x: int


class Spot(Point):
    y: int


def plus(x: int, y: int = 1) -> int:
    return x + y


def f(x: int) -> int:
    return f(x - 1)


def several(x: int) -> int | tuple[int, int]:
    if x:
        return 1
    return 1, 2


EXPRESSIONS = {
    "{1: 2}[a]": "'{1: 2}' is not in the subset",
    "plus(a, y=b)": "'plus(a, y=b)' is not in the subset",
    "(1, 2)[1:]": "'1:' is not in the subset",
    "[a][0]": "'[a]' is not in the subset",
    "(lambda: a)()": "'lambda: a' is not in the subset",
    "sum(n for n in (a, b))": "'(n for n in (a, b))' is not in the subset",
    "(c := a)": "'(c := a)' is not in the subset",
    "a if a is not None else b": "'None' is not in the subset",
    "a.real": "'a.real' is not in the subset",
    "Both(a, b).middle": "'Both(a, b).middle' is not in the subset",
    "a ** 2": "Pow is not in the subset",
    "a / b": "Div is not in the subset",
    "nowhere + a": "function: 'nowhere' has no value",
    "print(a)": "<built-in function print> cannot be called",
    "plus(a)": "plus takes other arguments",
    "Both(a)": "Both has other items",
    "f(a)": "function calls itself, or a function that does",
    "several(a)": "several returns things that differ in form",
    "a + (1, 2)": "(1, 2) is no integer",
    "a[b]": "Computed(name='%p0') has no words",
    "len(3)": "3 has no length",
    "plus(*a)": "'*a' is no tuple",
    "a or b": "'a' is no truth value",
    "(a < b) and 2": "'2' is no truth value",
    "a in TABLE": "`in` looks only into tuples",
    "((1, 2), (3, 4))[a]": "the index of a tuple must be known",
    "a + (1 << 63)": "9223372036854775808 does not fit into 64 bits with a sign",
    "(1 << 64, 5)[a]": "18446744073709551616 does not fit into 64 bits with a sign",
}
"""Of a and b, and how they are refused."""

STATEMENTS = {
    "def g(): pass": "'def g():' is not in the subset",
    "raise ValueError": "'raise ValueError' is not in the subset",
    "with a: pass": "'with a:' is not in the subset",
    "del a": "'del a' is not in the subset",
    "for i in range(3): pass\nelse: a = b": "'for i in range(3):' is not in the subset",
    "for i in (a, b): pass": "`for` goes only over a range",
    "for i in range(0, a, b): pass": "the step of a range must be known",
    "for i in range(a): pass\nb = i": "function: 'i' has no value",
    "for i in range(3): pass\nb = i": "function: 'i' has no value",
    "for i in range(a): i += 1": "'i' is the variable of a loop, and assigned otherwise too",
    "for a in range(3): pass": "'a' is the variable of a loop, and assigned otherwise too",
    "t = 1, 2\nif a: t = 3, 4": "'t' is given several values of which one is no word",
    "if a: g = plus\nelse: g = several": "'g' is given several values of which one is no word",
    "if a: w = words_at(a, 1)\nelse: w = 1": "'w' is given values of several kinds",
    "if a: w = Point.at(a)\nelse: w = Spot.at(a)": "'w' is given values of several kinds",
    "c, d = a": "nothing can be assigned to '(c, d)'",
}
"""Before `return b`, and how they are refused."""


def refusal(body: str, folder: Path) -> str:
    """How a function of a and b is refused."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path = folder / "refused.py"
    path.write_text(
        f"from {__name__} import *\n"
        f"from samhw.sim.machine_code import words_at\ndef function(a, b):\n{lines}\n"
    )
    spec = importlib.util.spec_from_file_location("refused", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(Untranslatable) as error:
        address_of(module.function, {})
    return str(error.value)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str, tmp_path: Path) -> None:
    assert refusal(f"return {text}", tmp_path) == EXPRESSIONS[text]


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text: str, tmp_path: Path) -> None:
    assert refusal(f"{text}\nreturn b", tmp_path) == STATEMENTS[text]
