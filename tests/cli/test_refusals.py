"""Options without a meaning are refused by name, before anything is done."""

import json
from pathlib import Path

import pytest

from tests.support.command import refused, report


@pytest.mark.parametrize("clock", ["nan", "inf", "0", "-1", "1e-300", "1e300", "4", "0ns", "-4ns"])
def test_a_clock_that_none_has(clock: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    message = refused(
        "build", "spmv", "--data", "karate", "--target", "vitis-hls", "--clock", clock, "-o", out
    )
    assert "is no clock" in message
    assert not out.exists()


@pytest.mark.parametrize("part", [" ", "a b", "x;exit", "-part", "[exit]", "a\nb"])
def test_a_device_that_is_none(part: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["build", "spmv", "--data", "karate", "--target", "vitis-hls", f"--part={part}", "-o", out]
    assert "There is no device" in refused(*arguments)


@pytest.mark.parametrize(
    "window", ["5:2", "5:5", "0:0", "1:", ":", "1", "-1:5", "\u00b2:9", "0:" + "9" * 5000]
)
def test_a_window_without_a_cycle(window: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    assert "give two cycles" in refused("run", "spmv", "--trace", trace, f"--window={window}")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (("run", "spmv"), ("--trace", "t.json", "--json", "./t.json")),
        (("run", "spmm"), ("--save", "t.json", "--json", "t.json")),
        (("compile", "spmv"), ("--output", "t.json", "--dot", "here/t.json")),
    ],
)
def test_two_outputs_to_one_file(
    command: tuple[str, ...], options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").symlink_to(tmp_path)
    message = refused(*command, *options)
    assert f"{options[0]} and {options[2]} both write {options[3]}; name two files." in message
    assert not Path("t.json").exists()


@pytest.mark.parametrize("option", ["--json", "--save", "--trace", "--wave"])
def test_a_folder_that_is_not_there_is_refused_before_the_run(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samhw.app.cli.run.execute", None)
    arguments = ["run", "spmv", "--backend", "verilator", option, tmp_path / "none" / "x.vcd"]
    assert "No such file or directory" in refused(*arguments)


@pytest.mark.parametrize("entries", ["B", "B=", "=4", "B=-1", "B=x", "B=" + "9" * 5000])
def test_entries_that_are_no_number(entries: str) -> None:
    assert "give a tensor and a number of entries" in refused("run", "spmv", "--capacity", entries)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nosuch"], "No such command 'nosuch'; see 'samhw --help'."),
        (["run"], "Missing argument 'PROGRAM'; see 'samhw run --help'."),
        (["run", "spmv", "--data"], "Option '--data' requires an argument; see 'samhw run --help'."),
        (["build", "spmv", "--target", "sim"], "Missing option '-o' / '--output'; see 'samhw build --help'."),
        (
            ["correlate", "spmv", "--jobs", "two"],
            "'two' is not a valid integer; see 'samhw correlate --help'.",
        ),
    ],
)
def test_a_call_that_no_command_understands(arguments: list[str], sentence: str) -> None:
    message = refused(*arguments)
    assert message.endswith(f"{sentence}\n")
    assert message.count("\n") == 1


def test_programs_or_a_suite() -> None:
    assert "--suite kernels stands for programs" in refused("correlate", "spmv", "--suite", "kernels")


@pytest.mark.parametrize("jobs", [0, -1])
def test_a_number_of_processes_that_none_are(jobs: int, tmp_path: Path) -> None:
    assert f"cannot have {jobs} processes" in refused("correlate", "spmv", f"--jobs={jobs}")
    assert f"cannot have {jobs} processes" in refused(
        "sweep", "spmv", f"--jobs={jobs}", "-o", tmp_path / "t.csv"
    )


@pytest.mark.parametrize(
    "name", ["index_bits", "step", "memory", "locate", "fanout", "slack", "watchdog", "alu.f32.mul"]
)
@pytest.mark.parametrize("value", [-1, 10**12])
def test_numbers_of_an_arch_have_a_range(name: str, value: int, tmp_path: Path) -> None:
    message = refused("sweep", "spmv", "--set", f"{name}={value}", "-o", tmp_path / "t.csv")
    assert f"is {value}; give" in message


@pytest.mark.parametrize(
    "arch",
    [
        {"slack": True},
        {"step": 1.0},
        {"memory": None},
        {"alu": 3},
        {"alu": {"f32": []}},
        {"reduce": {"f32": {"sum": "x"}}},
    ],
)
def test_an_arch_of_other_kinds(arch: object, tmp_path: Path) -> None:
    (tmp_path / "arch.json").write_text(json.dumps(arch))
    assert "; give " in refused("run", "spmv", "--arch", tmp_path / "arch.json")


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, 10**99])
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_whole_numbers_of_more_than_64_bits(number: int, value: str, tmp_path: Path) -> None:
    path = tmp_path / "p.ein"
    path.write_text(f"tensor a[i] : dense\ntensor y[i] : dense\ny[i] = a[i] * {number}\n")
    assert "a whole number has at most 64 bits" in refused("run", path, "--value", value)


def test_an_order_of_other_indices() -> None:
    assert "does not name each index" in refused("run", "spmv", "--order", "k,j,i", "--permute")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
@pytest.mark.parametrize(
    "arguments",
    [
        "run spmv --data B=FILE.mtx",
        "run spmv --data FILE.tns",
        "run spmv --data FILE.npz",
        "run gcn --data FILE.npz",
        "run gcn --data /dev/zero",
        "run FILE.ein",
        "run spmv --arch FILE.json",
        "run spmv --memory FILE.json",
        "sweep FILE.toml -o t.csv",
    ],
)
def test_a_file_without_an_end(arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for suffix in ("mtx", "tns", "npz", "ein", "json", "toml"):
        (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    refused(*arguments.replace("FILE", "zero").split())


def test_repeated_options_of_a_choice_add_up() -> None:
    words = ("run", "spmm", "--data", "karate", "--formats", "A=csr")
    both = report(*words, "--formats", "X=csr", "--lanes", "i=2", "--deal", "i=ranges")["schedule"]
    assert both["formats"]["X"] == "csr"
    assert both["lanes"] == {"i": 2}
    assert "formats: 'A' has both csr and csc; leave one of them out, or give both to 'samhw compare'." in (
        refused(*words, "--formats", "A=csc")
    )


@pytest.mark.parametrize("command", ["compare spmm", "sweep spmm -o t.csv"])
def test_choices_of_one_tensor_are_given_at_once(command: str) -> None:
    message = refused(*command.split(), "--formats", "A=csr", "--formats", "A=csc")
    assert "--formats names 'A' twice; give it all choices at once, as in '--formats A=csr,csc'." in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "spmv", "--no-check"), "'samhw compare' has no --no-check, which run has;"),
        (("run", "spmv", "--suite", "kernels"), "'samhw run' has no --suite, which correlate has;"),
        (("run", "spmv", "--onchip", "all"), "Did you mean '--on-chip'?; see 'samhw run --help'."),
    ],
)
def test_an_option_of_another_command(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments)
