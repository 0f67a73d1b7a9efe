"""Every operator of docs/pytorch.md, on random shapes, broadcast, batched, transposed and split, against
PyTorch."""

import re
from pathlib import Path

import pytest

from samhw.importers.torch import COMPLEX, DECOMPOSED, OPERATORS
from tests.importers.torch.agree import agree
from tests.importers.torch.cases import CASES, Draw, Several

PAGE = Path(__file__).parents[3] / "docs" / "pytorch.md"


BY_PYTORCH = {
    *("chunk", "cross_entropy_loss", "flatten", "frac", "index_add", "index_copy"),
    *("linalg_cholesky", "linalg_det", "linalg_inv", "linalg_slogdet", "linalg_solve"),
    *("instance_norm", "linalg_cross", "masked_fill", "movedim", "msort", "nansum", "narrow", "nll_loss"),
    *("pairwise_distance", "prelu", "reflection_pad2d", "relu6", "replication_pad1d", "roll", "rsub"),
    *("split", "square", "std", "std_mean", "t", "threshold", "trace", "transpose", "unbind", "unflatten"),
}
"""Operators that PyTorch itself writes with others as it exports a module."""


def documented() -> list[str]:
    """The operators of the page's table."""
    table = PAGE.read_text(encoding="utf-8").partition("## Operators")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[2])]


def test_the_page_lists_what_is_tested():
    assert len(documented()) > 100
    assert sorted(documented()) == sorted(CASES)


@pytest.mark.nightly(but=40)
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    draw = Draw(sum(map(ord, name)))
    calls = [CASES[name](draw) for _ in range(4)]
    agree(Several(calls), tuple(draw.arguments))


def test_the_page_lists_what_there_is():
    """But for other names of the same, and what only decompositions give."""
    known = {
        name.removeprefix("aten.").removesuffix("_")
        for name in {*OPERATORS, *COMPLEX, *DECOMPOSED}
        if name.startswith("aten.")
    }
    assert set(documented()) - known == BY_PYTORCH
