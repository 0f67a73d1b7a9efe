"""Every graph that the compiler gives hangs together, or the program is refused."""

from collections.abc import Callable

import pytest

from samhw.compiler import region
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph import Graph, validate
from samhw.lang import parse

TEXT = "tensor A[i=3, k=4] : csr\ntensor x[k=4]\ny[i] = A[i, k] * x[k]\n"


def refusing(times: int) -> Callable[[Graph], None]:
    """`validate`, which refuses many graphs first."""
    left = times

    def check(graph: Graph) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise InputError("Channel a -> b joins a val stream of depth 2 to an input for val of depth 3.")
        validate(graph)

    return check


def test_a_graph_that_does_not_hang_together_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "validate", refusing(100))
    with pytest.raises(
        ScheduleError, match=r"cannot be lowered .* joins a val stream .* regions of their own"
    ):
        compile_job(Job(parse(TEXT)))


def test_another_order_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse("tensor a[i=3]\ntensor b[j=4]\ns = a[i] * b[j]\n")
    first = compile_job(Job(program)).regions[0].order
    monkeypatch.setattr(region, "validate", refusing(1))
    assert compile_job(Job(program)).regions[0].order == first[::-1]
