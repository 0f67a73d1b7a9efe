"""Sequences as trees: how they are walked, printed, stored and checked, and who refuses them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.graph import (
    Arch,
    Design,
    Parallel,
    Repeat,
    Run,
    Steps,
    dumps,
    loads,
    runs_of,
    sequence_of,
    validate_design,
)
from samhw.graph.sequence import text_of, times_of, walk
from samhw.sim import simulate_regions
from tests.graph.test_design import whole

INNER = Repeat("u", "i", (Run(2),))
BOTH = Parallel(((Run(1), INNER), (Run(3),)))
OUTER = Repeat("t", "i", (BOTH, Run(4)))
TREE: Steps = (Run(0), OUTER, Run(5))


def of(*steps) -> Design:
    return replace(whole(), sequence=steps)


REPEATED = of(Repeat("t", "i", (Run(0), Run(1))))


def test_every_step_is_met_once_and_before_those_inside() -> None:
    assert list(walk(TREE)) == [Run(0), OUTER, BOTH, Run(1), INNER, Run(2), Run(3), Run(4), Run(5)]


def test_one_line() -> None:
    assert text_of(TREE) == (
        "run 0; repeat t < i { parallel { run 1; repeat u < i { run 2 } | run 3 }; run 4 }; run 5"
    )
    assert text_of((Run(0),)) == "run 0"


def test_round_trip() -> None:
    design = of(*TREE)
    assert loads(dumps(design)).sequence == TREE
    assert dumps(loads(dumps(design))) == dumps(design)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"run": 0', '"run": "0"'),
        ('"repeat": "t"', '"repeat": 1'),
        ('"extent": "i"', '"extends": "i"'),
        ('"parallel": [', '"parallel": 1, "others": ['),
        ('"body": [', '"body": [1,'),
    ],
)
def test_texts_of_no_sequence(before: str, after: str) -> None:
    text = dumps(of(*TREE))
    assert before in text
    with pytest.raises(InputError, match=r"is damaged .*a step of the sequence"):
        loads(text.replace(before, after))


def test_texts_that_nest_without_end() -> None:
    deep = '{"parallel": [[' * 4000 + "]]}" * 4000
    for text in ("[" * 200_000, dumps(of(Run(7))).replace('{\n   "run": 7\n  }', deep)):
        with pytest.raises(InputError, match="recursion"):
            loads(text)


def test_the_turns_of_runs() -> None:
    design = replace(whole(), regions=whole().regions[::-1], sequence=(Run(1), Run(0)))
    assert design.turns == (1, 0)
    assert [graph.name for graph in design.runs] == ["whole_0", "whole_1"]


def test_a_body_beside_another_finds_nothing_of_it_in_a_repeat_either() -> None:
    """Earlier steps of what is written step by step neither: it lies in a memory that changes meanwhile."""
    made = samhw.compile(SCAN, schedule={"fuse": "none"}).run(X=np.ones((3, 2)))
    design = made.compiled.design
    assert text_of(design.sequence) == "repeat t < t { run 0; run 1; run 2 }"
    apart = Repeat("t", "t", (Parallel(((Run(0),), (Run(2),))), Run(1)))
    validate_design(replace(design, sequence=(apart,)))
    together = Repeat("t", "t", (Parallel(((Run(0),), (Run(1),))), Run(2)))
    with pytest.raises(InputError, match=r"reads memory 'F.vals'"):
        validate_design(replace(design, sequence=(together,)))


SCAN = """
value i32
tensor X[t, h]
scan t {
  G[t, h] = relu(F[t-1, h])
  F[t, h] = 2 * X[t, h]
  O[t, h] = relu(X[t, h])
}
"""


def test_a_repeat_that_makes_no_step_is_refused() -> None:
    with pytest.raises(InputError, match="'t' would make no step, as the extent i is 0; give data of one"):
        simulate_regions(REPEATED, Arch(), {}, {"i": 0})


def test_the_runs_of_a_sequence() -> None:
    sequence = (Run(0), Repeat("s", "m", (Repeat("t", "n", (Run(1),)), Run(2))))
    assert [(region, dict(at)) for region, at in runs_of(sequence, {"m": 2, "n": 2})] == [
        (0, {}),
        (1, {"s": 0, "t": 0}),
        (1, {"s": 0, "t": 1}),
        (2, {"s": 0}),
        (1, {"s": 1, "t": 0}),
        (1, {"s": 1, "t": 1}),
        (2, {"s": 1}),
    ]


def test_how_often_a_sequence_runs_each_region() -> None:
    extents = {"i": 3}
    assert times_of(TREE, extents) == Counter(region for region, _ in runs_of(TREE, extents))
    assert times_of(TREE, extents) == {0: 1, 1: 3, 2: 9, 3: 3, 4: 3, 5: 1}


def test_what_is_repeated_together_stands_together() -> None:
    one, other = Repeat("t", "n", ()), Repeat("s", "m", ())
    text = text_of(sequence_of([None, one, None, one, other, None]))
    assert text == "run 0; run 2; repeat t < n { run 1; run 3 }; repeat s < m { run 4 }; run 5"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((Run(0), Repeat("t", "i", ())), "repeats nothing; give"),
        ((Run(0), Repeat("t", "n", (Run(1),))), "repeats a body 'n' times, an extent that it lacks"),
        ((Run(0), Parallel(((Run(1),),))), "two bodies or more"),
        ((Parallel(((Run(0), Run(1)), ())),), "two bodies or more, and none that is empty"),
        ((Run(0), Repeat("t", "i", (Run(0), Run(1)))), "has region 0 2 times"),
        # The second region reads what the first one writes.
        ((Parallel(((Run(0),), (Run(1),))),), "Region whole_1 reads memory 'p', which no earlier region"),
        ((Repeat("t", "i", (Run(1), Run(0))),), "Region whole_1 reads memory 'p', which no earlier region"),
    ],
)
def test_what_is_wrong_with_a_tree(steps: Steps, message: str) -> None:
    with pytest.raises(InputError, match=message):
        validate_design(of(*steps))


def test_bodies_in_parallel_write_memories_of_their_own() -> None:
    twice = replace(
        Design.assemble("twice", [whole().regions[0]] * 2), sequence=(Parallel(((Run(0),), (Run(1),))),)
    )
    with pytest.raises(InputError, match="The regions twice_0 and twice_1 both write memory 'p'"):
        validate_design(twice)
