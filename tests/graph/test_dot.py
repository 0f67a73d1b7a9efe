import shutil
from dataclasses import replace

import pytest

from samhw.errors import InputError, RunError
from samhw.graph import Design, Payload, Port, Stream, StreamKind, to_dot, to_svg
from tests.graph.test_validate import example, with_node


def test_nodes_and_edges() -> None:
    text = to_dot(Design.of(with_node(example(), 1, note='cell "i"')))
    assert r'"scan" [label="scan\nscan_dense(extent=i)\ncell \"i\""];' in text
    assert '"root" -> "scan" [style=dashed, label="0", taillabel="out", headlabel="ref"];' in text
    assert '"scan" -> "write" [style=solid, label="1", taillabel="crd", headlabel="crd"];' in text


def test_values_are_double_lines() -> None:
    graph = example()
    text = to_dot(Design.of(with_node(graph, 1, outputs=(Port("crd", Stream(Payload(StreamKind.VAL), 1)),))))
    assert 'style=bold, color="black:invis:black"' in text


def test_svg_needs_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="install Graphviz"):
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
