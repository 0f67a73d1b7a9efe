"""Every model, fused not at all, in part and as a whole, as HLS projects: a kernel for each region."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from samhw.compiler import Compiled
from samhw.frontend import FUSION_LEVELS, model_names
from samhw.hls import Options
from samhw.targets import compile_workload, make_model_workload, run
from samhw.targets.hls import project_files
from samhw.targets.hls_tools import ap_headers
from samhw.targets.workload import Workload

SIZES = {
    "sae": "random:n=2,f=8,h=4,g=4",
    "mlp": "random:n=4,f=8,h=4,g=4,c=3",
    "gin": "random:f=8,h=4,g=4,c=3",
    "gat": "random:f=4,c=3",
    "bigbird_attention": "random:i=16,d=4",
    "gpt3_block": "random:i=8,e=4,h=2,d=2,f=4",
}
"""Small, since what counts is that every construct is met; the graphs are the karate club."""


def compiled(model: str, fuse: str, value: str) -> tuple[Compiled, Workload]:
    workload = make_model_workload(model, [SIZES.get(model, "random:f=8,h=4,c=3")])
    workload = replace(workload, program=workload.program.with_fusion(fuse))
    return compile_workload(workload, value=value), workload


@pytest.mark.slow
@pytest.mark.parametrize("fuse", FUSION_LEVELS)
@pytest.mark.parametrize("model", model_names())
def test_model(model: str, fuse: str) -> None:
    value = ("bf16", "f32")[len(model) % 2]
    program, workload = compiled(model, fuse, value)
    run(program, workload.tensors, "hls", hls=Options(one_top=True))


def test_regions_are_kernels_in_order(tmp_path: Path) -> None:
    """The project as a user runs it: make csim, in a folder of its own."""
    program, workload = compiled("mlp", "partial", "bf16")
    for path, text in project_files(program, workload.tensors).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    order = json.loads((tmp_path / "regions.json").read_text())
    assert [entry["folder"] for entry in order] == [region.graph.name for region in program.regions]
    written: dict[str, str] = {}
    for entry in order:
        for tensor, origin in entry["inputs"].items():
            assert origin == written.get(tensor, "host")
        written |= dict.fromkeys(entry["outputs"], entry["folder"])
    assert set(written) >= {decl.name for decl in program.program.outputs}
    done = subprocess.run(
        ["make", "csim"],
        cwd=tmp_path,
        env={**os.environ, "AP_INCLUDE": str(ap_headers())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if "PASS" in line] == [
        f"{entry['kernel']}: PASS" for entry in order
    ]
    assert "warning" not in done.stderr
