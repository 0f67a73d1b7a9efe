"""What stopped pipelines keep, in the replay of the C simulation."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.graph import Arch
from samhw.graph.liveness import DeadlockError
from samhw.graph.numerics import value_type
from samhw.hls.region_builder import SPARE
from samhw.lang import parse
from samhw.targets.building.hls_tools import compile_cpp
from samhw.targets.running import csim
from tests.support.hls_bench import run_hls, run_model

SOFTMAX = """
tensor A[i=200, j=6] : csr
tensor E[i, j] : csr
fuse {
  m[i] max= A[i, j]             order i, j
  E[i, j] = exp(A[i, j] - m[i]) where A[i, j]  order i, j
}
"""


def blocking(path: str, text: str) -> str:
    """No loop polls: each waits for its inputs with all that is in its pipeline."""
    return text.replace("return !needed || in.has_come();", "return (void)in, (void)needed, true;")


def shallow(path: str, text: str) -> str:
    """No stream has room for what is between the outputs of a process."""

    def depth(found: re.Match[str]) -> str:
        return f"{found[1]}{max(int(found[2]) - SPARE, 1)},"

    return re.sub(r'(\{"[\w.]+", )(\d+),', depth, text) if path.startswith("tb/") else text


@pytest.mark.slow
@pytest.mark.parametrize("change", [blocking, shallow])
def test_a_pipeline_that_keeps_tokens_is_seen(
    change: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The maximum of a row stays in its reducer until the next row comes, which has no room before."""
    plain = compile_cpp

    def changed(files: Mapping[str, str], units: Sequence[str], *flags: Sequence[str]) -> Path:
        other = {path: change(path, text) for path, text in files.items()}
        assert other != files
        return plain(other, units, *flags)

    monkeypatch.setattr(csim, "compile_cpp", changed)
    workload = make_workload(parse(SOFTMAX, "softmax.ein"), ["random:density=0.6"], value=value_type("f32"))
    program = compile_workload(workload, value=value_type("f32"), arch=Arch.vitis())
    with pytest.raises(DeadlockError, match="with what stopped pipelines keep"):
        run_hls(program, *run_model(program, workload.tensors))
