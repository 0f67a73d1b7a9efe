"""The tools of the rounds: what is chosen covers most for its seconds, and mutations are code."""

import ast
from itertools import islice
from random import Random

from tests.rounds.choose import Cover, Timed, _chosen, _deep
from tests.rounds.mutate import ROOT, _drawn


def test_the_most_lines_a_second_come_first() -> None:
    dear = Timed("tests/a.py::all", 3.0, {"x.py": 0b1111})
    cheap = Timed("tests/b.py::three", 0.1, {"x.py": 0b0111})
    repeated = Timed("tests/b.py::again", 0.01, {"x.py": 0b0010})
    assert [test.name for test in _chosen([dear, cheap, repeated], 1.0, Cover(1.0))] == [cheap.name]
    assert [test.name for test in _chosen([dear, cheap], 10.0, Cover(1.0))] == [cheap.name, dear.name]


def test_a_line_counts_again_but_less() -> None:
    cover = Cover(1.0, 0.25)
    first = Timed("tests/a.py::first", 1.0, {"x.py": 0b0111})
    second = Timed("tests/a.py::second", 1.0, {"x.py": 0b1100})
    cover.add(first)
    assert cover.worth(second) == 1.25  # A new line, and one for the second time.
    cover.add(second)
    assert cover.worth(first) == 0.5  # Its third line has been run twice.
    assert cover.lines() == 4


def test_what_is_deep() -> None:
    """What adds no lines to quick tests and other cases, but for a cheap case of each function."""
    quick = Timed("tests/a.py::quick", 0.1, {"x.py": 0b0001})
    adds = Timed("tests/b.py::slow[adds]", 5.0, {"x.py": 0xFF})
    adds_nothing = Timed("tests/b.py::slow[more]", 1.0, {"x.py": 0b0001})
    dear, cheap = (Timed(f"tests/c.py::other[{s}]", s, {"x.py": 0b0010}) for s in (1.9, 1.5))
    hardware = Timed("tests/agreement/d.py::rtl", 20.0, {"x.py": 0b0001})
    long = Timed("tests/e.py::long", 20.0, {"x.py": 0b0001})
    tests = [quick, adds, adds_nothing, dear, cheap, hardware, long]
    slow = frozenset(test.function for test in tests[1:])
    assert _deep(tests, slow) == {adds_nothing.name, dear.name, long.name}


def test_a_mutation_is_code() -> None:
    for mutation in islice(_drawn(Random(7), 60), 60):
        text = (ROOT / mutation.path).read_text(encoding="utf-8")
        changed = mutation.applied(text)
        assert changed != text, mutation
        if mutation.path.suffix == ".py":
            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutation
