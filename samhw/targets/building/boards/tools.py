"""The programs that make bitstreams."""

import sys
from pathlib import Path

from samhw.errors import RunError
from samhw.processes import run

__all__ = ["run_tool"]


def run_tool(folder: Path, name: str, *arguments: str) -> str:
    """Runs a program of WebAssembly, which sees the folder that it runs in and little else; gives what it
    says on its error stream.

    Raises:
        RunError: if it fails.
    """
    beside = Path(sys.executable).with_name(name)
    done = run([beside if beside.exists() else name, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        telling = [line for line in lines if line.lower().startswith("error")]
        raise RunError(f"{name} failed: {(telling or lines[-1:])[0]}")
    return str(done.stderr)
