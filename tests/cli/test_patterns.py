"""`samhw compile --patterns`."""

import json
from pathlib import Path

from click.testing import CliRunner

from samhw.app.cli import main
from samhw.choices.schedule import Schedule

EXAMPLE = Path(__file__).parents[2] / "examples" / "patterns.py"


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["compile", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_matches_and_refusals_are_listed(tmp_path: Path) -> None:
    text = output("gpt3_block", "--patterns")
    assert "layer norm: mean2, D2, var2, r2, N2, equal to N1\n  centred: D2[i, e]\n" in text
    assert "refused: softmax: m, E, l, P: 'attention' has some of its statements\n" in text
    (tmp_path / "s.toml").write_text(text[text.index("fuse = ") :], encoding="utf-8")
    assert ("U", "G") in Schedule.load(tmp_path / "s.toml").fuse
    assert "no pattern matches\n" in output("spmv", "--patterns")


def test_as_json() -> None:
    found = json.loads(output("bigbird_attention", "--patterns", "--json", "-", "--data", "random"))
    (match,) = found["matches"]
    assert match["pattern"] == "attention"
    assert match["results"] == ["S", "C", "m", "E", "l", "P", "O"]
    assert match["parts"]["key"] == "K[j, d]"
    assert match["equal_to"] is None
    assert found["refused"][0]["why"] == "'attention' has some of its statements"
    assert found["schedule"]["fuse"] == [match["results"]]


def test_ones_own_patterns_come_first(tmp_path: Path) -> None:
    assert "scaled product: T, Y\n  left: A[i, k]\n" in output(
        f"{EXAMPLE}:program", "--patterns", f"{EXAMPLE}:SCALED"
    )
    for name, said in (
        ("MISSING", "has no 'MISSING' that is a StatementPattern, or a list of them"),
        ("program", "has no 'program' that is a StatementPattern"),
    ):
        assert said in output("spmv", "--patterns", f"{EXAMPLE}:{name}", code=2)
    assert "name patterns in a Python file" in output("spmv", "--patterns", "nothing", code=2)
    own = tmp_path / "own.py"
    own.write_text(
        "from samhw.compiler.search.patterns import *\n"
        "it = StatementPattern('it', reduced('sum', any()), check=lambda match: match.missing)\n"
    )
    assert "own.py:2: AttributeError" in output("spmv", "--patterns", f"{own}:it", code=2)


def test_it_compiles_nothing() -> None:
    assert "--patterns compiles nothing" in output("spmv", "--patterns", "--table", code=2)
