import importlib.util
import shutil
from dataclasses import replace
from itertools import pairwise

import pytest

from samhw.errors import InputError, RunError
from samhw.graph import DRAWINGS, Design, Payload, Port, Stream, StreamKind, dot, draw, to_dot, to_svg
from samhw.graph.dot import COLOURS
from tests.graph.test_validate import example, with_node


def test_nodes_and_edges() -> None:
    text = to_dot(Design.of(with_node(example(), 1, note='cell "i"')))
    assert r'"scan" [label="scan\nscan_dense(extent=i)\ncell \"i\"", fillcolor="#BFE3F7"];' in text
    assert '"root" -> "scan" [style=dashed, label=" 0: out to ref "];' in text
    assert '"scan" -> "write" [style=solid, label=" 1: crd "];' in text


def test_values_are_double_lines() -> None:
    graph = example()
    text = to_dot(Design.of(with_node(graph, 1, outputs=(Port("crd", Stream(Payload(StreamKind.VAL), 1)),))))
    assert 'style=bold, color="black:invis:black"' in text


def test_the_legend_says_what_is_there() -> None:
    text = to_dot(Design.of(example()))
    assert '<td bgcolor="#BFE3F7">scans a level</td>' in text
    assert "solid line: coordinates" in text
    assert "dashed line: references" in text
    for absent in ("double line", "joins coordinates", "cylinder"):
        assert absent not in text


def test_every_kind_has_a_colour_of_its_own() -> None:
    """They differ in lightness, for eyes that see no hue, and are light enough for black letters."""
    light = sorted(
        sum(weight * int(colour[k : k + 2], 16) for weight, k in ((0.299, 1), (0.587, 3), (0.114, 5)))
        for colour in COLOURS.values()
    )
    assert light[0] > 150
    assert all(after - before > 5 for before, after in pairwise(light))


@pytest.mark.parametrize("form", DRAWINGS)
def test_the_package_draws_where_there_is_no_program(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygraphviz", exc_type=ImportError)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    drawn = draw(Design.of(example()), form)
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert drawn.startswith(begin[form])
    assert form != "svg" or b"scan_dense(extent=i)" in drawn


def test_svg_needs_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs Graphviz; install"):
        to_svg(Design.of(example()))


def test_svg_by_dot(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\necho "<svg $1>"\ncat\n')
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(program))
    assert to_svg(Design.of(example())) == "<svg -Tsvg>\n" + to_dot(Design.of(example()))
    program.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    with pytest.raises(RunError, match="'dot' failed: broken"):
        to_svg(Design.of(replace(example(), name="x")))


def test_a_package_that_lacks_a_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(dot, "_PYGRAPHVIZ", "raise ImportError('libgobject-2.0.so.0: no such file')")
    with pytest.raises(InputError, match=r"cannot be loaded \(libgobject-2.0.so.0: no such file\); install"):
        draw(Design.of(example()), "png")
