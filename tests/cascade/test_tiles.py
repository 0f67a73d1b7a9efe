"""Tiles: a cascade that takes several coordinates at a time, and rescales once for all of them."""

import numpy as np
import pytest

import samhw
from samhw.choices.choice import choice
from samhw.choices.schedule import Schedule, with_words
from samhw.errors import InputError
from samhw.lang import dumps, load_cascade, parse
from samhw.lang.cascade import cascaded
from tests.cascade.test_segments import SOFTMAX, attention, softmax


def test_sums_are_rescaled_once_a_tile() -> None:
    arrays, wanted = attention(2, 64)
    cascades = ("rescaled", {"tile": 4}, {"tile": 16})
    designs = [samhw.compile(load_cascade("attention"), schedule={"cascade": c}) for c in cascades]
    results = [design.run(arrays) for design in designs]
    for result in results:
        assert result.check().verdict == "right"
        np.testing.assert_allclose(result["O"], wanted, atol=1e-5)
    one, four, sixteen = results
    # Of tiles, which bound is the lesser depends on where the maxima stand.
    assert one.check().bound > max(four.check().bound, sixteen.check().bound)
    assert sixteen.cycles < 1.02 * one.cycles


def test_no_channel_holds_a_row() -> None:
    depths = []
    for keys in (64, 256):
        program = load_cascade("attention").bind({"Q": (2, 8), "K": (keys, 8), "V": (keys, 3)})
        design = samhw.compile(program, value="f32", schedule={"cascade": {"tile": 8}})
        graphs = [region.graph for region in design.compiled.regions]
        depths.append(max(channel.depth for graph in graphs for channel in graph.channels))
    assert depths[0] == depths[1]


def test_the_statements() -> None:
    text = dumps(cascaded(load_cascade("logsumexp"), "rescaled", tile=4).program)
    assert "m_tile[i, j] max= S_tiles[i, j, j_tile]" in text
    assert "m_factor[i, j] = exp(m_before[i, j] - m_running[i, j])" in text
    assert "l_tile[i, j] = exp(S_tiles[i, j, j_tile] - m_running[i, j])" in text
    assert "l[i] = recur(j, m_factor[i, j], l_tile[i, j])" in text
    # What rescales nothing stays as it is.
    sums = load_cascade("sum_sum")
    assert cascaded(sums, "rescaled", tile=4).program == cascaded(sums, "rescaled").program


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p[i] argmax= S[i, j]", "puts all of it in order; leave 'tile' out"),
        ("r[i, j] = cumsum(j, S[i, j])", "goes along all of it; leave 'tile' out"),
    ],
)
def test_what_has_no_tiles(text: str, words: str) -> None:
    program = parse(dumps(load_cascade("logsumexp")).replace("}", f"  {text}\n}}"))
    with pytest.raises(InputError, match=words):
        cascaded(program, "rescaled", tile=2)


def test_ranks_have_no_tiles() -> None:
    text = "tensor A[j=6]\ntensor T[n=4]\nfuse {\nT[n] top= A[j]\nm max= T[n]\nl = exp(T[n] - m)\n}"
    with pytest.raises(InputError, match=r"cannot go by tiles: 'T\[n\] top= A\[j\]' counts the best values"):
        cascaded(parse(text), "rescaled", tile=2)


def test_tiles_divide_what_lies_in_place() -> None:
    program = load_cascade("logsumexp").bind({"S": (2, 12)})
    with pytest.raises(InputError, match="Tiles of 8 do not divide the 12 coordinates of 'S'"):
        cascaded(program, "rescaled", tile=8)
    with pytest.raises(InputError, match="2 lanes do not divide the 3 tiles of 'S'"):
        cascaded(program, "rescaled", {"j": 2}, tile=4)


@pytest.mark.parametrize(("tile", "lanes"), [(2, 1), (2, 2), (2, 4), (4, 2)])
def test_what_is_wanted_whole_has_its_shape_again(tile: int, lanes: int) -> None:
    scores = np.random.default_rng(0).normal(size=(3, 8))
    schedule = {"cascade": {"tile": tile}, "lanes": {"j": lanes}}
    found = samhw.compile(SOFTMAX, schedule=schedule).run({"S": scores})
    np.testing.assert_allclose(found["P"], softmax(scores), rtol=1e-5)


BLOCKS = {"j": 4, "k": 4}


@pytest.mark.parametrize("lanes", [{}, {"j": 2}, {"i": 3}])
def test_blocks_are_tiles(lanes: dict[str, int]) -> None:
    arrays, wanted = attention(3, 16)
    schedule = {"cascade": "rescaled", "blocks": BLOCKS, "lanes": lanes}
    result = samhw.compile(load_cascade("attention"), value="f32", schedule=schedule).run(arrays)
    assert result.check().verdict == "right"
    np.testing.assert_allclose(result["O"], wanted, atol=1e-5)
    single = {"cascade": "rescaled", "lanes": lanes}
    plain = samhw.compile(load_cascade("attention"), value="f32", schedule=single).run(arrays)
    assert result.cycles < plain.cycles


@pytest.mark.slow
@pytest.mark.verilator
def test_blocks_in_rtl() -> None:
    arrays, _ = attention(3, 16)
    design = samhw.compile(
        load_cascade("attention"), value="f32", schedule={"cascade": "rescaled", "blocks": BLOCKS}
    )
    simulated, found = design.run(arrays), design.run(arrays, backend="verilator")
    assert found.cycles == simulated.cycles
    np.testing.assert_array_equal(found["O"], simulated["O"])


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ({"cascade": {"tile": 8}, "blocks": {"j": 4}}, "blocks of 4, which are not tiles of 8"),
        ({"cascade": "rescaled", "blocks": {"i": 4, "j": 4}}, "Blocks come to running_m_running_running"),
        ({"cascade": "rescaled", "blocks": {"v": 4}}, "Blocks come to recur_vector"),
    ],
)
def test_blocks_that_are_no_tiles(schedule: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        samhw.compile(load_cascade("attention"), value="f32", schedule=schedule).run(attention(3, 16)[0])


@pytest.mark.parametrize("word", ["rescaled", "tile=16", "finite+tile=4", "off"])
def test_words(word: str) -> None:
    schedule = with_words(Schedule(), {"cascade": word})
    assert choice("cascade").word(schedule.cascade) == word
    assert Schedule.from_fields(schedule.to_json()) == schedule


@pytest.mark.parametrize("word", ["tile=some", "finite+4", "+", "deferred+tile=4", "some", "tile=0"])
def test_words_that_say_nothing(word: str) -> None:
    with pytest.raises(InputError, match="cascade"):
        with_words(Schedule(), {"cascade": word})
