"""Errors say where they came up, and go from process to process."""

import pickle

import numpy as np

from samhw.errors import InputError, SamhwError, shown
from samhw.graph.deadlock import DeadlockError


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
