"""`samhw compile --estimate`."""

import json

from click.testing import CliRunner

from samhw.cli import main


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["compile", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_regions_and_nodes() -> None:
    text = output("gcn", "--fuse", "partial", "--data", "karate", "--estimate")
    assert text.count("operations,") == 2
    assert "reduce_vector_t1" in text


def test_as_json() -> None:
    found = json.loads(output("spmv", "--data", "karate", "--estimate", "--json", "-"))
    # A product and a sum for each of the 156 entries.
    assert found["operations"] == 312
    assert found["regions"][0]["nodes"]["mul"]["operations"] == 156


def test_nothing_without_data() -> None:
    program = "tensor A[i=4, j=4] : csr\ny[i] = A[i, j] * x[j]"
    assert "--estimate counts what data store; give --data." in output(program, "--estimate", code=2)
