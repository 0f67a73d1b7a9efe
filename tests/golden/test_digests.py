"""What samhw makes of some programs is what it made before: a digest of each text stands in `digests.txt`.

The files of a pass say what is right; these lines say that something is no longer as it was, in a second or
two, whatever no other test asks. If it is to be so, `pytest tests/golden --update` writes them anew, and
`python -m benchmarks.same_designs` shows what became of the cycles and the Verilog.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tests.golden.views import VIEWS, made_by, texts

FILE = Path(__file__).with_name("digests.txt")


@cache
def kept() -> dict[str, str]:
    lines = FILE.read_text("utf-8").splitlines() if FILE.exists() else []
    return {of: digest for digest, of in (line.split(" ", 1) for line in lines)}


@pytest.mark.parametrize(("view", "name"), texts(), ids=lambda word: word.replace(" ", "_"))
def test_it_is_as_it_was(view: str, name: str, request: pytest.FixtureRequest) -> None:
    text = VIEWS[view](name)
    digest, line = sha256(text.encode()).hexdigest()[:16], f"{view} {name}{made_by(view)}"
    if request.config.getoption("--update", False):
        others = {of: old for of, old in kept().items() if _without_packages(of) != f"{view} {name}"}
        _write(others | {line: digest})
    elif line in kept():
        assert digest == kept()[line], f"{view} {name} changed; if it is to, run pytest tests/golden --update"
    else:
        pytest.skip(f"no digest of {line}")


def test_each_digest_is_of_something() -> None:
    lines = {f"{view} {name}" for view, name in texts()}
    assert set(map(_without_packages, kept())) == lines


def _without_packages(line: str) -> str:
    return re.sub(r" \(\w+ [\d.]+.*\)$", "", line)


def _write(digests: dict[str, str]) -> None:
    FILE.write_text("".join(f"{digests[line]} {line}\n" for line in sorted(digests)), "utf-8")
    kept.cache_clear()
