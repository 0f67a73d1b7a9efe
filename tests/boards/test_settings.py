"""Clocks of PLLs, the boards' own figures, and what is refused before anything is built."""

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import samhw.installed
from samhw.app.cli import main
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.cost import Use
from samhw.errors import InputError, RunError
from samhw.graph import Design
from samhw.lang import parse
from samhw.targets import boards
from samhw.targets.backends import find_backend, find_target
from samhw.targets.boards import board_file, board_names
from samhw.targets.boards.board import find_board
from samhw.targets.boards.ecp5 import ECP5, place_options
from samhw.targets.boards.xilinx7 import XILINX7
from samhw.targets.building.boards import BoardDesign
from samhw.targets.building.boards.bitstream import _check_clock, load_bitstream
from samhw.targets.building.boards.netlist import check_size, least_use, use_of

from .emulated import design_on, small


def refused(*words: str) -> str:
    """What a command says that ends with code 2."""
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 2, result.output
    return result.stderr


def test_each_board_is_a_file() -> None:
    folder = Path(__file__).parents[2] / "boards"
    assert board_names() == ("arty_a7", "ecpix5", "ulx3s")
    for name in board_names():
        assert board_file(name) == folder / f"{name}.py"
        board = find_board(name)
        assert (board.name, board.file) == (name, folder / f"{name}.py")
        assert board.input_clock in (25e6, 100e6)
        assert board.frequency(board.clock) == board.clock


@pytest.mark.parametrize(
    ("source", "wanted", "parameters"),
    [
        # By hand: 25 MHz / 1 * 2, with the oscillator at 50 * 16 = 800 MHz.
        (25e6, 50e6, {"CLKI_DIV": 1, "CLKFB_DIV": 2, "CLKOP_DIV": 16}),
        (25e6, 25e6, {"CLKI_DIV": 1, "CLKFB_DIV": 1, "CLKOP_DIV": 32}),
        (100e6, 80e6, {"CLKI_DIV": 5, "CLKFB_DIV": 4, "CLKOP_DIV": 10}),
        (25e6, 62.5e6, {"CLKI_DIV": 2, "CLKFB_DIV": 5, "CLKOP_DIV": 12}),
    ],
)
def test_ecp5(source: float, wanted: float, parameters: dict[str, int]) -> None:
    found = ECP5.settings(source, wanted)
    assert (found.frequency, found.parameters) == (wanted, parameters)


@pytest.mark.parametrize("family", [ECP5, XILINX7])
@pytest.mark.parametrize("source", [25e6, 48e6, 100e6])
def test_every_clock_is_one_that_the_pll_makes(family, source: float) -> None:
    for wanted in (11e6, 33.3e6, 47e6, 50e6, 83e6, 99.9e6, 125e6):
        found = family.settings(source, wanted)
        assert 0.85 * wanted < found.frequency <= wanted * (1 + 1e-9)
        if family is ECP5:
            divider, feedback, output = found.parameters.values()
            assert found.frequency == source * feedback / divider
            assert 400e6 <= found.frequency * output <= 800e6
            assert source / divider >= 3.125e6
        else:
            divider, feedback, output, period = found.parameters.values()
            assert found.frequency == source * feedback / divider / output
            assert 800e6 <= source * feedback / divider <= 1600e6
            assert period == 1e9 / source


@pytest.mark.parametrize("family", [ECP5, XILINX7])
def test_clocks_that_no_pll_makes(family) -> None:
    with pytest.raises(InputError, match="makes no clock of 1 MHz; give samhw build --clock from"):
        family.settings(25e6, 1e6)


def test_what_nextpnr_is_told() -> None:
    options = {name: place_options(find_board(name).platform()) for name in ("ulx3s", "ecpix5")}
    placer = ["--placer", "static"]
    assert options["ulx3s"] == ["--85k", "--package", "CABGA381", "--speed", "6", *placer]
    assert options["ecpix5"] == ["--um5g-45k", "--package", "CABGA554", "--speed", "8", *placer]


def test_too_large_a_design_is_refused_with_what_it_needs() -> None:
    board = find_board("ulx3s")
    check_size(board, "spmv", Use(luts=83_640, registers=10, block_rams=208, multipliers=156))
    with pytest.raises(InputError) as error:
        check_size(board, "spmv", Use(luts=90_000, registers=10, block_rams=209, multipliers=1))
    assert str(error.value).startswith(
        "spmv needs at least 90,000 LUTs, of which the LFE5U-85F has 83,640 and 209 block RAMs, of which the "
        "LFE5U-85F has 208; give it smaller tensors"
    )


def test_too_large_memories_are_refused_at_once(tmp_path: Path) -> None:
    """Before a netlist is made of them, and in emulation too, which is to be of the board."""
    program = tmp_path / "copy.ein"
    program.write_text("tensor a[i=100000] : dense\ntensor b[i] : dense\nb[i] = a[i] * a[i]\n")
    _, compiled = small("spmv")
    assert least_use(find_board("ulx3s"), compiled.design, compiled.arch).block_rams == 0
    # Two memories of 100,000 words of 32 bits, in blocks of 18,432 bits; with data 100,352 words.
    said = "copy needs at least {} block RAMs, of which the LFE5U-85F has 208: "
    out = str(tmp_path / "out")
    told = refused("build", str(program), "--target", "board:ulx3s", "-o", out)
    assert said.format(348) in told
    # 208 times 16 Kb without the parity are 416 KB, of which the smaller one takes 400,000 bytes.
    assert "b.vals would not fit beside a.vals" in told
    assert "leave the rest to the board's SDRAM (--memory sdram, --on-chip 416KB)" in told
    assert said.format(349) in refused("run", str(program), "--backend", "board:ulx3s", "--emulate")
    assert [path.name for path in tmp_path.iterdir()] == ["copy.ein"]


def test_what_yosys_counts() -> None:
    cells = {"LUT4": 100, "CCU2C": 10, "TRELLIS_DPR16X4": 3, "TRELLIS_FF": 7, "DP16KD": 2, "MULT18X18D": 1}
    assert use_of(cells) == Use(138, 7, 2, 1)
    assert use_of({}) == Use(0, 0, 0, 0)


def test_a_clock_that_is_not_reached_is_refused() -> None:
    on_board = design_on(small("spmv")[1])
    _check_clock(on_board, 50e6)
    with pytest.raises(
        RunError, match=r"reaches 40\.0 MHz on ulx3s, not 50; leave out samhw build --clock, or give 25\."
    ):
        _check_clock(on_board, 40e6)


def test_the_build_depends_on_all_that_is_chosen() -> None:
    _, spmv = small("spmv")
    _, spmm = small("spmm")
    found = {
        design_on(spmv).build,
        design_on(spmm).build,
        design_on(spmv, "ecpix5").build,
        BoardDesign.named("ulx3s", spmv.design, spmv.arch, None, 115_200).build,
    }
    assert len(found) == 4
    # Not on the clock, which a bitstream gets at the end.
    assert design_on(spmv).build == BoardDesign.named("ulx3s", spmv.design, spmv.arch, 25, 3_000_000).build
    slow, fast = (BoardDesign.named("ulx3s", spmv.design, spmv.arch, period).netlist() for period in (20, 25))
    assert slow != fast


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--clock", "nan"), "nan is no clock"),
        (("--clock", "-3ns"), "-3ns is no clock"),
        (("--clock", "1000ns"), "makes no clock of 1 MHz; give --clock from 2.5 to 250 ns"),
        (("--clock", "100ns"), "3,000,000 baud need a clock of 12 MHz, but it has 10"),
        (("--clock", "fast"), "fast is no clock; give its frequency, as 80MHz, or its period, as 12.5ns"),
        (("--clock", "0MHz"), "0MHz is no clock"),
        (("--baud", "0"), "cannot have 0 baud"),
        (("--baud", "99999999"), "cannot have 99,999,999 baud; give --baud 1 to 12,000,000"),
        (("--name", "conv"), "--name belongs to '--target verilog'"),
    ],
)
def test_bad_choices(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert message in refused(
        "build", "spmv", "--data", "karate", "--target", "board:ulx3s", *words, "-o", str(out)
    )
    assert not list(tmp_path.iterdir())


def test_boards_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are where pip says that it has put them, and a stranger's folder beside the package is not looked
    at."""
    root = Path(__file__).parents[2]
    placed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    (where,) = (folder for folder, files in placed.items() if files == ["boards/*.py"])
    site = tmp_path / "lib" / "site-packages"
    (site / "boards").mkdir(parents=True)
    (site / "boards" / "strange.py").touch()
    (tmp_path / where).mkdir(parents=True)
    (tmp_path / where / "ulx3s.py").touch()
    info = site / "samhw-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: samhw\nVersion: 0\n")
    (info / "RECORD").write_text(f"samhw/__init__.py,,\n../../{where}/ulx3s.py,,\n")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(samhw.installed, "__file__", str(site / "samhw" / "installed.py"))
    boards._known.cache_clear()
    try:
        assert board_names() == ("ulx3s",)
        assert board_file("ulx3s").samefile(tmp_path / where / "ulx3s.py")
    finally:
        boards._known.cache_clear()


OWN = (Path(__file__).parents[2] / "boards" / "ecpix5.py").read_text()


def test_a_board_of_ones_own(tmp_path: Path) -> None:
    """A file anywhere is a board; what is in it decides what is built."""
    path = tmp_path / "mine.py"
    path.write_text(OWN.replace('name="ecpix5"', 'name="mine"').replace("clock=50e6", "clock=40e6"))
    _, spmv = small("spmv")
    mine = BoardDesign.named(str(path), spmv.design, spmv.arch)
    assert (mine.board.name, mine.clock) == ("mine", 40e6)
    assert mine.build != design_on(spmv, "ecpix5").build
    assert find_backend(f"board:{path}").name == find_target(f"board:{path}").target == f"board:{path}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "There is no file"),
        ("", "describes no board; give it a line BOARD = Board(..), as boards/ulx3s.py has"),
        ("BOARD = 3", "describes no board"),
        ("BOARD = (", "mine.py:1: SyntaxError: '(' was never closed"),
        ("raise SystemExit(3)", "mine.py:1: SystemExit: 3; fix the file"),
        (
            "import nothing_like_it",
            "mine.py:1: ModuleNotFoundError: No module named 'nothing_like_it'; install",
        ),
    ],
)
def test_files_that_describe_no_board(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)
    for words in (
        ("build", "spmv", "--data", "karate", "--target", f"board:{path}", "-o", str(tmp_path / "out")),
        ("run", "spmv", "--backend", f"board:{path}", "--emulate"),
    ):
        assert message in refused(*words)
    assert [p.name for p in tmp_path.iterdir()] == ([] if text is None else ["mine.py"])


def test_a_name_that_no_board_has() -> None:
    with pytest.raises(
        InputError,
        match=r"no board 'ulx4s' \(did you mean 'ulx3s'\?\); choose one of arty_a7, ecpix5, ulx3s, or give",
    ):
        find_board("ulx4s")
    assert "did you mean 'board:ulx3s'?" in refused("run", "spmv", "--backend", "board:ulx4s", "--emulate")
    assert "or board:FILE.py" in refused(
        "build", "spmv", "--data", "karate", "--target", "board:ulx4s", "-o", "out"
    )


@pytest.mark.parametrize("package", ["amaranth", "amaranth_boards"])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "spmv", "--backend", "board:ulx3s", "--emulate"),
        ("build", "spmv", "--data", "karate", "--target", "board:ulx3s", "-o", "out"),
        ("build", "spmv", "--data", "karate", "--target", "verilog", "-o", "out"),
    ],
)
def test_packages_that_are_missing(package: str, words: tuple[str, ...], tmp_path: Path) -> None:
    """In a process of its own: this one has them already."""
    if "verilog" in words and package == "amaranth_boards":
        pytest.skip("Verilog needs no boards")
    script = f"""if True:
        import sys, importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else find(name, *rest)
        class Nothing:
            def find_spec(self, name, *rest):
                if name.partition(".")[0] == {package!r}:
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Nothing())
        from samhw.app.cli import main
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "was not found; install it with pip install 'samhw[rtl]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [(), ("--emulate", "--port", "/dev/ttyUSB0")])
def test_a_board_is_emulated_or_behind_a_cable(words: tuple[str, ...]) -> None:
    assert "give one of --emulate and --port" in refused("run", "spmv", "--backend", "board:ulx3s", *words)


def test_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    board = find_board("ulx3s")
    loader = tmp_path / "loader"
    loader.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\n')
    loader.chmod(0o755)
    monkeypatch.setenv("OPENFPGALOADER", str(loader))
    load_bitstream(board, Path("top.bit"))
    assert (tmp_path / "said").read_text() == "-b ulx3s top.bit\n"
    loader.write_text("#!/bin/sh\necho no device >&2\nexit 1\n")
    with pytest.raises(RunError, match=r"was not loaded \(no device\); look whether the cable"):
        load_bitstream(board, Path("top.bit"))
    monkeypatch.setenv("OPENFPGALOADER", str(tmp_path / "nothing"))
    with pytest.raises(RunError, match="cannot be run"):
        load_bitstream(board, Path("top.bit"))
    monkeypatch.delenv("OPENFPGALOADER")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with caplog.at_level("INFO", "samhw"):
        load_bitstream(board, Path("top.bit"))
    assert "openFPGALoader -b ulx3s top.bit" in caplog.text


def test_the_key_of_a_netlist_is_of_all_that_is_in_the_design() -> None:
    """Designs of one name and one size differ in a channel, or in a latency."""
    compiled = compile_job(Job(parse("tensor a[i=4]\ny[i] = a[i] * 2\n")))
    (graph,) = compiled.design.regions
    deeper = Design.of(graph.with_depths({graph.channels[0].name: 33}))
    slower = replace(compiled.arch, memory=compiled.arch.memory + 1)
    choices = [(compiled.design, compiled.arch), (deeper, compiled.arch), (compiled.design, slower)]
    assert len({BoardDesign.named("ulx3s", *choice).key for choice in choices}) == 3
