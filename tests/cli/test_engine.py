"""What engine simulated a long run, where that is not the fast one."""

from collections.abc import Sequence
from typing import Any

import pytest

from samhw.sim import compiled
from tests.support.command import good, report

LONG = ("run", "spmm", "--data", "karate")


def test_a_run_without_machine_code_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(workers: Sequence[Any], *rest: Any) -> None:
        raise compiled.Untranslatable("the actor 'scan' of node 'n': 'x is y' is not in the subset")

    assert "engine" not in good(*LONG).stdout
    monkeypatch.setattr("samhw.sim.engines.SMALL", 10)
    monkeypatch.setattr(compiled, "run", refuses)
    printed = good(*LONG).stdout
    why = "the actor 'scan' of node 'n': 'x is y' is not in the subset"
    assert f"  engine     spmm without machine code, slower: it has none for {why}\n" in printed
    (region,) = report(*LONG)["regions"]
    assert region["uncompiled"] == why
