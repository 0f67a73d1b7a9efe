"""Helpers that assemble modules: the same object files, and nothing lost when one fails."""

import os
import sys
import time
from collections.abc import Iterator

import pytest

from samhw.sim.machine_code import code_cache
from samhw.sim.machine_code.code import assemble
from samhw.sim.machine_code.code_cache import Helper, ModuleText, assemble_all

MODULES = [
    ModuleText(
        f"define i64 @add{n}(i64 %a, i64 %b) {{\n  %c = add i64 %a, {n}\n  ret i64 %c\n}}\n", f"add{n}", False
    )
    for n in range(30)
]


@pytest.fixture(autouse=True)
def helped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Helper]]:
    """A machine with room for two helpers; those that have nothing to do."""
    monkeypatch.setattr(code_cache, "_spare", lambda: 2)
    idle: list[Helper] = []
    monkeypatch.setattr(code_cache, "_idle", idle)
    yield idle
    for helper in idle:
        helper.end()


@pytest.fixture
def by_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process assembles only when nothing is left for helpers."""

    def wait(text: str, name: str, thorough: bool) -> bytes:
        time.sleep(0.05)
        return assemble(text, name, thorough)

    monkeypatch.setattr(code_cache, "assemble", wait)


def test_object_files_are_the_same(by_helpers: None, helped: list[Helper]) -> None:
    alone = {module.name: assemble(*module) for module in MODULES}
    assert assemble_all(iter(MODULES)) == alone
    assert len(helped) == 2
    first = list(helped)
    assert assemble_all(MODULES[:2]) == {module.name: alone[module.name] for module in MODULES[:2]}
    assert sorted(map(id, helped)) == sorted(map(id, first)), "who helped helps again"
    for helper in first:
        helper.end()
    assert assemble_all(iter(MODULES)) == alone
    assert set(map(id, helped)).isdisjoint(map(id, first)), "but not who has lost patience"


def test_few_modules_start_nobody(helped: list[Helper]) -> None:
    assert len(assemble_all(MODULES[: code_cache.FEW - 1])) == code_cache.FEW - 1
    assert not helped


def test_helpers_that_end_leave_nothing_undone(
    by_helpers: None, helped: list[Helper], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def end(self: Helper, module: ModuleText) -> bytes:
        asked.append(module.name)
        self._process.kill()
        return done(self, module)

    done = Helper.assemble
    monkeypatch.setattr(Helper, "assemble", end)
    assert assemble_all(MODULES) == {module.name: assemble(*module) for module in MODULES}
    assert len(asked) == 2
    assert not helped


def test_who_cannot_start_is_done_without(helped: list[Helper], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert len(assemble_all(MODULES)) == len(MODULES)
    assert not helped


def test_an_error_here_is_the_callers(helped: list[Helper]) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        assemble_all([*MODULES, ModuleText("no module", "none", False)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_no_helpers() -> None:
    program = (
        "import os, sys\n"
        "from samhw.sim.machine_code import code_cache\n"
        "code_cache._idle.append(code_cache.Helper())\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(len(code_cache._idle))\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert len(code_cache._idle) == 1\n"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", program]) == 0
