"""What a user waits for: each command in a fresh process, on an empty cache and on a full one.

Prints the seconds of both, of the engine's own start (from the compiled design to the first firing, on a full
cache), and with `--rtl` those of the same run in Verilator, which has to be built first.

Usage, from the repository's root: python -m benchmarks.first_run [--data FOLDER] [--rtl] [--only TEXT]
[--json FILE|-]
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common import data_option, follow, parser, report

SAMHW = (sys.executable, "-c", "from samhw.app.cli import main; main()")

START = """
import sys, time
from samhw.graph.numerics import value_type
from samhw.sim.compiled import compiled_engine as engine
from samhw.sim.design_run import simulate_regions
from samhw.targets.running.images import load_inputs
from samhw.app.workload import bind_program, compile_workload

workload = bind_program(sys.argv[1], sys.argv[2:])
built = compile_workload(workload, value=value_type("f32"))
inputs = load_inputs(built.program, built.design, workload.tensors)
started = []
call = engine.call

def first_call(*words):
    started.append(time.perf_counter() - begin)
    return call(*words)

engine.call = first_call
begin = time.perf_counter()
simulate_regions(built.design, built.arch, *inputs, engine="compiled")
print(started[0])
"""
"""Prints the seconds from a compiled design to its first firing."""


def cases(data: Path | None) -> dict[str, list[str]]:
    """Programs with their data."""
    known = {
        "SpMM, karate club": ["spmm", "--data", "karate"],
        "SDDMM, random": ["sddmm"],
        "BigBird attention": ["bigbird_attention"],
        "GPT-3 block": ["gpt3_block"],
    }
    if data:
        known["GCN, Cora"] = ["gcn", "--data", str(data / "cora.npz")]
    return known


def seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """How long a command takes, which must end well."""
    begin = time.perf_counter()
    subprocess.run(command, env=dict(environment), check=True, capture_output=True)
    return time.perf_counter() - begin


def engine_start(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """The seconds from a compiled design to its first firing, on a full cache."""
    program, *rest = [word for word in arguments if word != "--data"]
    command = [sys.executable, "-c", START, program, *rest]
    done = subprocess.run(command, env=dict(environment), check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure(arguments: Sequence[str], rtl: bool) -> dict[str, float]:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"SAMHW_CACHE": cache}
        # Whoever runs samhw twice has its modules compiled, whatever this shell says.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [*SAMHW, "run", *arguments, "--value", "f32"]
        empty = seconds(command, environment)
        # What only the compiled engine needs is there after the first of these.
        engine_start(arguments, environment)
        start = engine_start(arguments, environment)
        full = min(seconds(command, environment) for _ in range(2))
        row = {
            "empty cache": round(empty, 1),
            "full cache": round(full, 1),
            "engine's start": round(start, 2),
        }
        if rtl:
            command += ["--backend", "verilator"]
            row |= {key: round(seconds(command, environment), 1) for key in ("Verilator: first", "again")}
        return row


def main() -> None:
    options = parser(__doc__)
    data_option(options)
    options.add_argument("--rtl", action="store_true", help="run the RTL under Verilator too")
    options.add_argument("--only", default="", metavar="TEXT", help="the cases whose name has this text")
    given = options.parse_args()
    known = cases(Path(given.data) if given.data else None)
    chosen = {name: words for name, words in known.items() if given.only in name}
    rows = [{"command": name, **measure(words, given.rtl)} for name, words in follow(chosen.items())]
    report("seconds from a command to its end", rows, given.json)


if __name__ == "__main__":
    main()
