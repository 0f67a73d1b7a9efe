"""The note about dense results of which a sparse operand says the places."""

import re
import warnings
from pathlib import Path

import pytest

import samhw
from tests.support.command import samhw as command

SDDMM = "S[i, j] = B[i, j] * Q[i, d] * K[j, d]"


def cycles(*words: str) -> int:
    found = re.search(r"simulator  ([\d,]+) cycles", command("run", SDDMM, "--data", "karate", *words).stdout)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_a_sampled_product_says_how_it_takes_fewer_cycles() -> None:
    """And takes about as few as it says."""
    said = command("run", SDDMM, "--data", "karate").stderr
    found = re.fullmatch(
        r"samhw: note: S is stored dense, and takes cycles where B stores nothing too: --formats 'S = csr' "
        r"leaves that out, and expects ([\d,]+) cycles for ([\d,]+)\.\n",
        said,
    )
    assert found is not None, said
    fewer, now = (int(text.replace(",", "")) for text in found.groups())
    assert abs(cycles() / now - 1) < 0.01
    assert abs(cycles("--formats", "S = csr") / fewer - 1) < 0.01
    assert command("run", SDDMM, "--data", "karate", "--formats", "S = csr").stderr == ""


@pytest.mark.parametrize(
    "program",
    [
        "S[i, j] = Q[i, d] * K[j, d] where B[i, j]",  # The mask leaves the other places out already.
        "S[i, j] = B[i, k] * Q[k, j]",
        "tensor B[i, j] : csr\ntensor S[i, j] : csr\nS[i, j] = B[i, j] * Q[i, d] * K[j, d]",
        "s[i] = B[i, j] * q[j]",
    ],
)
def test_others_are_not_noted(program: str) -> None:
    assert command("run", program, "--data", "karate").stderr == ""


def test_python_warns_once() -> None:
    with pytest.warns(UserWarning, match=r"schedule=\{'formats': \{'S': 'csr'\}\} leaves that out"):
        design = samhw.compile(SDDMM, data="karate")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design.run("random")
        samhw.compile(SDDMM, data="karate", schedule={"formats": {"S": "csr"}})


def test_a_module_that_is_fused_by_its_tree_runs() -> None:
    """The note looks at formats alone, and needs no tree."""
    pytest.importorskip("torch")
    model = Path(__file__).parents[2] / "examples/pytorch/models.py"
    assert "simulator" in command("run", f"{model}:gcn", "--fuse", "module").stdout


def test_formats_of_what_brackets_add(tmp_path: Path) -> None:
    """As a search writes them: the note is of the program in its brackets."""
    schedule = tmp_path / "tuned.toml"
    schedule.write_text('fuse = "none"\n[brackets]\nU1 = "A * (X * W1)"\n[formats]\nX_W1 = "dense"\n')
    assert "right" in command("run", "gcn", "--data", "karate", "--schedule", schedule).stdout
