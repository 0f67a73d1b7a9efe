"""Tiles: a cascade that takes several coordinates at a time, and rescales once for all of them."""

import numpy as np
import pytest

import samhw
from samhw.cascade import cascaded
from samhw.errors import InputError
from samhw.frontend import dumps, load_cascade, parse
from samhw.schedule import Schedule, cascade_text, with_words
from tests.cascade.test_segments import attention


def test_sums_are_rescaled_once_a_tile() -> None:
    arrays, wanted = attention(2, 64)
    cascades = ("rescaled", {"tile": 4}, {"tile": 16})
    designs = [samhw.compile(load_cascade("attention"), schedule={"cascade": c}) for c in cascades]
    results = [design.run(arrays) for design in designs]
    for result in results:
        assert result.check().verdict == "right"
        np.testing.assert_allclose(result["O"], wanted, atol=1e-5)
    one, four, sixteen = results
    assert one.check().bound > four.check().bound > sixteen.check().bound
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


def test_tiles_divide_what_lies_in_place() -> None:
    program = load_cascade("logsumexp").bind({"S": (2, 12)})
    with pytest.raises(InputError, match="Tiles of 8 do not divide the 12 coordinates of 'S'"):
        cascaded(program, "rescaled", tile=8)
    with pytest.raises(InputError, match="2 lanes do not divide the 3 coordinates of 'S_tiles'"):
        cascaded(program, "rescaled", {"j": 2}, tile=4)


@pytest.mark.parametrize("word", ["rescaled", "tile=16", "finite+tile=4", "off"])
def test_words(word: str) -> None:
    schedule = with_words(Schedule(), {"cascade": word})
    assert cascade_text(schedule.cascade) == word
    assert Schedule.from_fields(schedule.to_json()) == schedule


@pytest.mark.parametrize("word", ["tile=some", "finite+4", "+", "deferred+tile=4", "some", "tile=0"])
def test_words_that_say_nothing(word: str) -> None:
    with pytest.raises(InputError, match="cascade"):
        with_words(Schedule(), {"cascade": word})
