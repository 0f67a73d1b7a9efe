"""What a payload is: its words, its bits, and its text."""

import numpy as np
import pytest

from samhw.graph import Graph, make
from samhw.graph.numerics import value_type
from samhw.graph.spec import Payload, StreamKind

F32, I8 = value_type("f32"), value_type("i8")


@pytest.mark.parametrize(
    ("payload", "words", "width", "text"),
    [
        (Payload(StreamKind.CRD), 1, 20, "crd"),
        (Payload(StreamKind.REF), 1, 20, "ref"),
        (Payload(StreamKind.VAL, F32), 1, 32, "f32"),
        (Payload(StreamKind.VAL, I8), 1, 8, "i8"),
        (Payload(StreamKind.VAL, F32, (4,)), 4, 128, "f32[4]"),
        (Payload(StreamKind.VAL, I8, (4, 4)), 16, 128, "i8[4,4]"),
    ],
)
def test_words_bits_and_text(payload: Payload, words: int, width: int, text: str) -> None:
    assert (payload.words, payload.width(20), str(payload)) == (words, width, text)
    assert payload == Payload(payload.kind, payload.element, payload.shape)
    assert len({payload, Payload(StreamKind.VAL, value_type("bf16"))}) == 2


def test_words_of_values_and_of_indices() -> None:
    assert Payload(StreamKind.VAL, F32).encode(np.array([1.0])).tolist() == [0x3F80_0000]
    assert Payload(StreamKind.CRD).encode(np.array([3, 1])).tolist() == [3, 1]


def test_a_node_takes_and_gives_the_types_that_it_names_or_the_graphs() -> None:
    narrow = make("alu", "narrow", 1, op="convert", to="i8")
    drop = make("drop_val", "drop", 1, value="i8")
    graph = Graph("g", F32, (narrow, drop), (), (), ())
    assert graph.taken(narrow, "a") == Payload(StreamKind.VAL, F32)
    assert graph.given(narrow, "val") == graph.taken(drop, "val") == Payload(StreamKind.VAL, I8)
    assert graph.given(drop, "crd") == Payload(StreamKind.CRD)
