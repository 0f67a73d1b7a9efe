"""A matrix of 10^6 rows and 10^7 nonzeros from a file, through the command line: the seconds of a processor
from the start of the command to the first firing, beside those of SciPy's `mmread` in a fresh process, taking
turns; seconds and memory of the whole run; and whether all of its result was checked.

Usage, from the repository's root: python -m benchmarks.large_data [--rows N] [--nonzeros N] [--folder FOLDER]
[--json FILE|-]
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import follow, parser, report
from samhw.tensors import Tensor, write_tensor

RUN = """
import sys, time
from samhw.app.cli import main
from samhw.sim import engine

run = engine.run

def first_run(*words, **options):
    print("first", time.process_time(), file=sys.stderr)
    return run(*words, **options)

engine.run = first_run
try:
    main()
finally:
    status = open("/proc/self/status").read()
    print("peak", status.partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""
"""The command, which says on stderr when the first actor fires, and its greatest memory in KB."""

READ = """
import sys, time
import scipy.io

scipy.io.mmread(sys.argv[1])
print(time.process_time())
"""

PROGRAMS = {"spmv": "B", "spmm": "A"}
"""With the name of the matrix."""


def matrix(rows: int, nonzeros: int) -> Tensor:
    """A square matrix with integers at random places."""
    rng = np.random.default_rng(0)
    places = np.unique(rng.integers(0, rows * rows, nonzeros + nonzeros // 1000 + 100))
    places = np.sort(rng.permutation(places)[:nonzeros])
    values = rng.integers(1, 10, len(places))
    return Tensor.from_coo(np.stack(np.divmod(places, rows)), values, (rows, rows), "csr")


def measure(program: str, path: Path) -> dict[str, object]:
    """A row: a run, and beside it what SciPy takes to read the file."""
    read = subprocess.run([sys.executable, "-c", READ, path], check=True, capture_output=True, text=True)
    words = ["run", program, "--data", f"{PROGRAMS[program]}={path}", "--json", "-"]
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", RUN, *words], check=True, capture_output=True, text=True)
    whole = time.perf_counter() - begin
    said = dict(line.split() for line in done.stderr.splitlines() if line.startswith(("first ", "peak ")))
    found = json.loads(done.stdout)
    return {
        "program": program,
        "cycles": found["cycles"],
        "checked": found["checked"] and not found.get("sampled"),
        "mmread, s": round(float(read.stdout), 1),
        "to the first firing, s": round(float(said["first"]), 1),
        "whole run, s": round(whole, 1),
        "GB": round(int(said["peak"]) / 2**20, 2),
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=10**6)
    arguments.add_argument("--nonzeros", type=int, default=10**7)
    arguments.add_argument("--folder", type=Path, help="where the file is written, for a while")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder) / "large.mtx"
        write_tensor(path, matrix(chosen.rows, chosen.nonzeros))
        rows = [measure(program, path) for program in follow(PROGRAMS)]
    report(f"{chosen.rows:,} rows, {chosen.nonzeros:,} nonzeros", rows, chosen.json)


if __name__ == "__main__":
    main()
