"""Errors say where they came up, and go from process to process."""

import pickle

from samhw.errors import InputError, SamhwError
from samhw.graph.deadlock import DeadlockError


def test_errors_are_sent_between_processes() -> None:
    error = DeadlockError("Nothing moves.", ["a->b"]).within("gcn on karate")
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), sent.waiting) == (DeadlockError, "gcn on karate: Nothing moves.", ["a->b"])


def test_an_error_keeps_its_kind_where_a_place_is_added() -> None:
    error: SamhwError = InputError("Give a number.")
    assert error.within("--depth") is error
    assert (str(error), error.exit_code) == ("--depth: Give a number.", 2)
