"""What of the MLIR files in a folder is imported, compiled, run by the simulator, and right:

    python -m benchmarks.mlir_files DIR [--limit CYCLES-SECONDS] [--list]

Every function that takes and gives tensors, or numbers, and computes with linalg is tried, on small random
data. Files whose parts `// -----` separates are taken part by part. A file is right if all such functions
are. What MLIR itself refuses, as tests of its messages do, is no function.
"""

import argparse
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from samhw.app.checking import check
from samhw.app.workload import compile_workload
from samhw.app.workload.mlir import workload_of
from samhw.errors import SamhwError
from samhw.importers.mlir import MlirFunction, MlirModule, gives_tensors, read_module
from samhw.targets.backends import MODEL
from samhw.targets.backends import run as execute

_STEPS = ("read", "import", "compile", "run", "check", "crash")


def parts_of(path: Path) -> Iterator[str]:
    """The parts of a file, on the lines that they have in it."""
    text = path.read_text(encoding="utf-8")
    start = 0
    for part in text.split("// -----"):
        yield "\n" * text.count("\n", 0, start) + part
        start += len(part) + len("// -----")


def computes(function: MlirFunction) -> bool:
    """Whether a function computes with linalg on tensors, rather than only fills some."""
    names = {op.name for op in function.body.operations}
    return gives_tensors(function) and any(n.startswith("linalg.") and n != "linalg.fill" for n in names)


def tried(module: MlirModule, function: MlirFunction) -> tuple[str, str]:
    """The step at which a function ends, and why; `right` for one that is."""
    step = "import"
    try:
        workload = workload_of(module, function, ("random:size=6,density=0.3",))
        step = "compile"
        compiled = compile_workload(workload)
        step = "run"
        result = execute(compiled, workload.tensors, MODEL)
        step = "check"
        found = check(workload, compiled, result.outputs)
        return ("right", "") if found.good else ("check", "the result is wrong")
    except SamhwError as error:
        return step, str(error).splitlines()[0]
    except TimeoutError:
        return step, "it takes too long"
    except Exception as error:  # A defect, which the walk is to count rather than to end with.
        return "crash", f"{step}: {type(error).__name__}: {error}"


def functions_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """The functions of a file: the name, the step at which it ends, and why."""
    for part in parts_of(path):
        try:
            module = read_module(part, str(path))
        except SamhwError as error:
            yield "", "read", str(error).splitlines()[0]
            continue
        for function in module.functions.values():
            if computes(function):
                yield function.name, *tried(module, function)


def main() -> None:
    """Walks the folder and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seconds", type=int, default=30, help="for each file, after which it counts as too long"
    )
    parser.add_argument("--list", action="store_true", help="name each function that is not right, and why")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    steps: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(given.folder.rglob("*.mlir")):
        signal.alarm(given.seconds)
        try:
            found = list(functions_of(path))
        except TimeoutError:
            found = [("", "run", "it takes too long")]
        finally:
            signal.alarm(0)
        steps.update(step for name, step, _ in found if name)
        has_any = any(name for name, _, _ in found)
        files[
            "right" if has_any and all(s == "right" for _, s, _ in found) else "other" if has_any else "none"
        ] += 1
        for name, step, why in found:
            if given.list and step != "right":
                print(f"{path.name}:{name}: {step}: {why}", flush=True)
    total = sum(steps.values())
    share = steps["right"] / max(total, 1)
    print(f"{total} functions with linalg on tensors: {steps['right']} right ({share:.0%})")
    for step in _STEPS:
        if steps[step]:
            print(f"  {steps[step]} end at the step '{step}'")
    tested = files["right"] + files["other"]
    print(f"{tested} files with such functions: in {files['right']} all are right")


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
