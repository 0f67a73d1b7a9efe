"""The validator runs after each graph pass, and names the one that left a wrong graph."""

import importlib
from dataclasses import replace

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.compiler.graph_passes import GRAPH_PASSES, Assembly
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import parse

TEXT = "tensor A[i=3, k=4] : csr\ntensor x[k=4]\ny[i] = A[i, k] * x[k]\n"


@pytest.fixture(params=GRAPH_PASSES)
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a pass, which loses a channel."""
    name: str = request.param
    module = importlib.import_module(f"samhw.compiler.graph_passes.{name}")
    whole = getattr(module, name)

    def lossy(assembly: Assembly) -> Assembly:
        found: Assembly = whole(assembly)
        return replace(found, graph=replace(found.graph, channels=found.graph.channels[1:]))

    monkeypatch.setattr(module, name, lossy)
    return name


def test_a_broken_pass_is_named(broken: str) -> None:
    with pytest.raises(
        InputError, match=rf"^The graph pass '{broken}' leaves a wrong graph: Input \S+ has no channel"
    ):
        compile_job(Job(parse(TEXT)))


def test_a_broken_pass_is_named_where_passes_stop_there(broken: str) -> None:
    result = CliRunner().invoke(main, ["compile", TEXT, "--after", broken])
    assert result.exit_code == 2
    assert f"The graph pass '{broken}' leaves a wrong graph" in result.output


def test_passes_before_a_broken_one_print_their_graphs(broken: str) -> None:
    for name in GRAPH_PASSES[: GRAPH_PASSES.index(broken)]:
        result = CliRunner().invoke(main, ["compile", TEXT, "--after", name])
        assert result.exit_code == 0, result.output
