"""The project that is kept in examples/hls_spmm. `python -m tests.hls.example` writes it again."""

import shutil
from pathlib import Path

from samhw.app.workload import compile_workload, make_workload
from samhw.graph import Arch
from samhw.lang import load_kernel
from samhw.targets.running.csim import project_files
from samhw.targets.running.images import inputs_of

FOLDER = Path(__file__).parents[2] / "examples" / "hls_spmm"


def files() -> dict[str, str]:
    """The texts that the generator emits, by their paths in the folder."""
    workload = make_workload(load_kernel("spmm"), ["karate"])
    program = compile_workload(workload, arch=Arch.vitis())
    return project_files(program, inputs_of(program, workload.tensors))


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, text in files().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(text, encoding="utf-8")
