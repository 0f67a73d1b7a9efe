"""Errors say where they came up, and go from process to process."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import samhw
from samhw.errors import InputError, SamhwError, shown
from samhw.graph.liveness import DeadlockError
from samhw.words import did_you_mean

REFUSALS = ("ScheduleError", "StreamError", "Refusal")


def sentences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Of every refusal, its cause and its ways out, with a mark where a value comes in."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REFUSALS:
            for argument in call.args:
                yield from ((call.lineno, said) for said in texts(argument))


def texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "_" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


@pytest.mark.parametrize("text", ["'So it is.'", "f'So is {it}.'", "f'It is {it}; do {that}'"])
def test_a_whole_sentence_in_a_refusal_is_found(text: str) -> None:
    assert [at for at, said in sentences(ast.parse(f"Refusal({text})")) if said.endswith(".") or ";" in said]


def test_refusals_have_no_full_stop_and_no_way_out_in_their_cause() -> None:
    """`ScheduleError` puts them there."""
    root = Path(samhw.__file__).parent
    wrong = [
        f"{path.relative_to(root)}:{line}: {said}"
        for path in root.rglob("*.py")
        for line, said in sentences(ast.parse(path.read_text()))
        if said.endswith(".") or ";" in said
    ]
    assert not wrong


def test_errors_are_sent_between_processes() -> None:
    error = DeadlockError("Nothing moves.", ["a->b"]).within("gcn on karate")
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), sent.waiting) == (DeadlockError, "gcn on karate: Nothing moves.", ["a->b"])


def test_an_error_keeps_its_kind_where_a_place_is_added() -> None:
    error: SamhwError = InputError("Give a number.")
    assert error.within("--depth") is error
    assert (str(error), error.exit_code) == ("--depth: Give a number.", 2)


def test_what_was_given_is_shown_if_it_is_short() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert [shown(given) for given in (3, "x", None, [1, 2])] == ["3", "'x'", "None", "[1, 2]"]
    assert shown(np.eye(20)) == "of type ndarray"
    assert shown(object()) == "of type object"
    assert "Loud" in shown(Loud())
    assert len(shown(10**5000)) < 100


WRITTEN_LIST = re.compile(r"""['"](, | or )['"]\.join\((?!.* for )""")
MEANT = re.compile(r"did_you_mean\(|\bmeant\b|\bhint\b")
OTHER_LISTS = {
    "app/api/arguments.py",  # An object of a wrong kind.
    "app/report/recorded.py",  # Suffixes of files.
    "compiler/program_to_design.py",  # What samhw itself has done wrong.
    "cost/devices.py",  # Says it in a word of its own.
    "graph/numerics/valuetype.py",  # An operation that is right, and has no unit.
    "graph/spec/base.py",
    "importers/mlir/program_as_mlir.py",
}
"""Files with another sentence of `no` and a list."""


def test_a_word_that_a_list_lacks_is_answered_by_the_nearest_that_it_has() -> None:
    root = Path(samhw.__file__).parent
    wrong = []
    for path in sorted(root.rglob("*.py")):
        name = str(path.relative_to(root))
        for node in ast.walk(ast.parse(path.read_text())) if name not in OTHER_LISTS else ():
            if not isinstance(node, ast.JoinedStr):
                continue
            (said,) = texts(node)
            held = [ast.unparse(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
            is_list = any(map(WRITTEN_LIST.match, held)) and re.search(
                r"\b((is|has|have|such) no|unknown|Unknown)\b", said
            )
            if is_list and "has no data" not in said and not MEANT.search(" ".join(held)):
                wrong += [f"{name}:{node.lineno}: {said}"]
    assert not wrong


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("ddr5", ["ddr4", "hbm2"], " (did you mean 'ddr4'?)"),
        ("a", ["A", "X"], " (did you mean 'A'?)"),
        ("zzz", ["A", "X"], ""),
        (3, ["A", "X"], ""),
    ],
)
def test_the_nearest_word_is_named(word: object, known: list[str], said: str) -> None:
    assert did_you_mean(word, known) == said
