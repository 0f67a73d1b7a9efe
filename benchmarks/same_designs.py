"""Two checkouts of samhw side by side: do they give the same designs?

For every kernel and model, at each level of fusion, it runs the simulator and writes the Verilog with the
code of either checkout, by the command line. It compares the cycles, of the whole and of each region; the
Verilog up to names; and where a program is refused, the reason. For a change that is meant to change nothing.

Usage, from the repository's root:
git worktree add ../before COMMIT
python -m benchmarks.same_designs ../before . [--only spmm,gcn] [--fuse none,full] [--cycles] [--json FILE|-]

It takes some minutes, since Verilog is generated twice; `--cycles` compares the cycles alone, in a
minute. `--keep FILE` keeps what the second checkout gave; FILE serves as the first one then.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

PROGRAMS = "samhw/lang/kernels", "samhw/lang/models"
LEVELS = ("none", "partial", "full")

_KEYWORDS = (
    "module|endmodule|input|output|wire|reg|assign|always|initial|begin|end|if|else|case|casez|default|endcase"
    "|posedge|negedge|or|signed|parameter|localparam"
)
_WORD = re.compile(
    rf"(?P<kept>'s?[bodh][0-9a-fxz_?]+|\b(?:{_KEYWORDS})\b)|(?P<name>\\\S+\s|[A-Za-z_][A-Za-z0-9_$]*)"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\(\*.*?\*\)", re.DOTALL)


def nameless(verilog: str, identity: int) -> str:
    """Verilog without comments, in which names are numbered as they come, and IDENTITY, in which names have
    a part, is gone."""
    text = _COMMENT.sub("", verilog)
    for literal in (f"32'd{identity}", f"32'h{identity:08x}"):
        text = text.replace(literal, "32'd0")
    numbers: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        if match["kept"]:
            return match[0]
        return f"n{numbers.setdefault(match[0].strip(), len(numbers))} "

    return re.sub(r"\s+", " ", _WORD.sub(numbered, text))


def samhw(*arguments: str) -> str:
    """What a command prints; raises samhw's errors. A checkout may be from before there were wings."""
    import samhw as package

    home = "samhw.app.cli" if (Path(package.__file__).parent / "app").is_dir() else "samhw.cli"
    main = import_module(home).main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        main.main(list(arguments), standalone_mode=False)
    return out.getvalue()


def probe(program: str, fuse: str, *, cycles: bool) -> dict[str, Any]:
    """What the samhw of this process makes of a program."""
    from samhw.errors import SamhwError

    try:
        run = json.loads(samhw("run", program, "--fuse", fuse, "--json", "-"))
        texts = [] if cycles else verilog(program, fuse)
    except SamhwError as error:
        return {"refused": str(error)}
    return {
        "cycles": [run["cycles"], *(region["cycles"] for region in run["regions"])],
        "verilog": sha256("\n".join(texts).encode()).hexdigest(),
        "words": sum(text.count(" ") for text in texts),
    }


def verilog(program: str, fuse: str) -> list[str]:
    """The Verilog of a program, without names."""
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()):
        folder = Path(name)
        samhw(
            "build", program, "--data", "auto", "--fuse", fuse, "--target", "verilog", "-o", f"{folder}/out"
        )
        (identity,) = (
            found["identity"]
            for path in folder.rglob("*.json")
            if isinstance(found := json.loads(path.read_text()), dict) and "identity" in found
        )
        # A file is called as its module is, so it is its text that says which one comes first.
        return sorted(nameless(path.read_text(), identity) for path in folder.rglob("*.v"))


def probes(checkout: Path, jobs: Sequence[tuple[str, str]], *, cycles: bool) -> Iterator[dict[str, Any]]:
    """`probe` for each job, by the code of a checkout, in a process of its own."""
    command = [sys.executable, str(Path(__file__).absolute()), "--probe"]
    environment = {**os.environ, "PYTHONPATH": str(checkout.absolute())}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"jobs": jobs, "cycles": cycles}) + "\n")
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise SystemExit(f"The code of {checkout} ended with exit code {process.returncode}.")


def before(old: Path, jobs: Sequence[tuple[str, str]], *, cycles: bool) -> Iterator[dict[str, Any]]:
    """What the first checkout gives, or gave."""
    if old.is_dir():
        return probes(old, jobs, cycles=cycles)
    kept = json.loads(old.read_text())
    return (kept[" ".join(job)] for job in jobs)


def row(job: tuple[str, str], old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the report."""
    if "refused" in old or "refused" in new:
        same = old == new
        what = "refused alike" if same else f"{old.get('refused')!r}, now {new.get('refused')!r}"
        return {"program": job[0], "fuse": job[1], "cycles": what, "verilog": "", "same": same}
    cycles = f"{new['cycles'][0]:,}"
    if old["cycles"] != new["cycles"]:
        cycles = f"{old['cycles']}, now {new['cycles']}"
    verilog = "the same" if new["words"] else "not asked for"
    if old["verilog"] != new["verilog"]:
        verilog = f"{old['words']:,} words, now {new['words']:,}"
    same = old["cycles"] == new["cycles"] and old["verilog"] == new["verilog"]
    return {"program": job[0], "fuse": job[1], "cycles": cycles, "verilog": verilog, "same": same}


def main() -> None:
    """Prints the rows and exits with 1 if two designs differ."""
    from benchmarks.common import follow, parser, report

    arguments = parser(__doc__)
    arguments.add_argument("old", type=Path, help="a checkout, or what --keep has written")
    arguments.add_argument("new", type=Path, help="another one")
    arguments.add_argument("--only", help="programs, joined by commas; by default all kernels and models")
    arguments.add_argument("--fuse", default=",".join(LEVELS), help="levels of fusion, joined by commas")
    arguments.add_argument("--keep", type=Path, metavar="FILE", help="keep what the second one gave")
    arguments.add_argument("--cycles", action="store_true", help="compare cycles alone")
    chosen = arguments.parse_args()
    names = [path.stem for folder in PROGRAMS for path in sorted((chosen.new / folder).glob("*.ein"))]
    names = chosen.only.split(",") if chosen.only else names
    jobs = [(name, fuse) for name in names for fuse in chosen.fuse.split(",")]
    rows, kept = [], {}
    olds = before(chosen.old, jobs, cycles=chosen.cycles)
    news = probes(chosen.new, jobs, cycles=chosen.cycles)
    for job, old, new in follow(zip(jobs, olds, news, strict=True), len(jobs)):
        rows.append(row(job, old, new))
        kept[" ".join(job)] = new
    if chosen.keep:
        chosen.keep.write_text(json.dumps(kept, indent=1) + "\n")
    report("the same designs?", rows, chosen.json)
    sys.exit(0 if all(row["same"] for row in rows) else 1)


def serve() -> None:
    """Answers the jobs on stdin, a line each."""
    out = sys.stdout
    asked = json.loads(sys.stdin.readline())
    for program, fuse in asked["jobs"]:
        out.write(json.dumps(probe(program, fuse, cycles=asked["cycles"])) + "\n")
        out.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--probe"]:
        serve()
    else:
        main()
