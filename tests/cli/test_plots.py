"""`--plot` of the commands that have several results."""

from pathlib import Path

import pytest

from tests.support.command import good, refused

BEGIN = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("form", BEGIN)
def test_bars_by_the_suffix(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"bars.{form.upper()}"
    good("compare", "spmv", "--data", "karate", "--plot", path, "--clock", "100MHz")
    assert path.read_bytes().startswith(BEGIN[form])


def test_a_plot_is_beside_what_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "bars.svg"
    plain = good("compare", "spmv", "--data", "karate").stdout
    assert good("compare", "spmv", "--data", "karate", "--plot", path).stdout == plain


def test_a_sweep(tmp_path: Path) -> None:
    table, path = tmp_path / "s.csv", tmp_path / "s.svg"
    command = ("sweep", "spmv", "--data", "karate", "--depth", "2,8", "--jobs", "1", "-o", table)
    good(*command, "--plot", path, "--against", "depth")
    assert "spmv on karate" in path.read_text()


@pytest.mark.parametrize("name", ["plot.txt", "plot", "-"])
@pytest.mark.parametrize("command", ["compare spmv", "correlate spmv", "sweep spmv -o s.csv"])
def test_another_form_is_refused(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = refused(*command.split(), "--plot", name)
    suffix = "as .txt" if name.endswith("txt") else "without a suffix"
    assert f"--plot {name}: nothing is drawn {suffix}; give .png or .svg or .pdf" in found
    assert not list(tmp_path.iterdir())


def test_what_a_sweep_cannot_draw_is_refused_before_it_begins(tmp_path: Path) -> None:
    sweep = ("sweep", "spmv", "-o", tmp_path / "s.csv")
    assert "add '--plot FILE'" in refused(*sweep, "--against", "bytes")
    found = refused(*sweep, "--plot", tmp_path / "s.png", "--against", "price")
    assert "--against price: there is no such column" in found
    assert not list(tmp_path.iterdir())
