"""Splits as typed: --split of every command, in schedules, and swept."""

import csv
from pathlib import Path

import pytest

from samhw.choices.schedule import Schedule
from tests.support.command import good, refused, report, samhw


@pytest.mark.parametrize(
    "rule",
    ["rows(4)", "even(3)", "columns(2)", "hyb(1,2)", "dia + csr", "blocks(4, density=0.5) + dcsr"],
)
def test_a_run_over_parts(rule: str) -> None:
    found = report("run", "spmm", "--data", "karate", "--split", f"A={rule}")
    assert found["checked"]
    assert found["schedule"]["split"] == {"A": rule}


def test_the_program_over_parts() -> None:
    after = good("compile", "spmm", "--data", "karate", "--split", "A=hyb(1,1)", "--after", "split_formats")
    assert after.stdout == (
        "# A_w1: of A the rows of 1\n"
        "# A_w2: of A the rows of 2 or more\n"
        "# T has all entries of T_w1, T_w2: the host puts it together\n"
        "tensor A_w1[i=34, k=34] : dcsr\n"
        "tensor A_w2[i=34, k=34] : dcsr\n"
        "tensor X[k=34, j=16] : dense\n"
        "tensor T[i=34, j=16] : csr\n"
        "tensor T_w1[i=34, j=16] : dcsr\n"
        "tensor T_w2[i=34, j=16] : dcsr\n"
        "fuse {\n"
        "  T_w1[i_w1, j_w1] = A_w1[i_w1, k_w1] * X[k_w1, j_w1]    order i_w1, k_w1, j_w1\n"
        "  T_w2[i_w2, j_w2] = A_w2[i_w2, k_w2] * X[k_w2, j_w2]    order i_w2, k_w2, j_w2\n"
        "}\n"
        "T[i, j] = T_w1[i, j] + T_w2[i, j]\n"
    )


def test_lanes_are_shared_among_parts() -> None:
    """What was used says how; under that schedule it is the same again, and a part may be given its own."""
    given = ("--data", "karate", "--split", "A=hyb(1,2)", "--lanes")
    found = report("run", "spmm", *given, "i=8")
    assert found["checked"]
    assert found["schedule"]["lanes"] == {"i_w1": 1, "i_w2": 1, "i_w4": 6}
    again = report("run", "spmm", *given, "i_w1=1+i_w2=1+i_w4=6")
    assert again["cycles"] == found["cycles"] < report("run", "spmm", *given, "i_w4=2")["cycles"]


def test_what_parts_hold() -> None:
    """A graph's rows by their lengths; the karate club's are known."""
    found = report("compile", "spmm", "--data", "karate", "--split", "A=hyb(1,2)")["split"]["A"]
    assert found["rule"] == "hyb(1,2)"
    assert [(p["name"], p["width"], p["rows"], p["entries"], p["cells"]) for p in found["parts"]] == [
        ("A_w1", 1, 1, 1, 1),
        ("A_w2", 2, 11, 22, 22),
        ("A_w4", 4, 40, 133, 160),
    ]
    assert (found["cells"], found["padding"]) == (183, 27)
    printed = good("compile", "spmm", "--data", "karate", "--split", "A=hyb(1,2)").stdout
    assert (
        "A_w4, dcsr: of A the rows of 3 or more; 40 rows, 133 entries, 27 of 160 cells padding\n" in printed
    )


def test_more_parts_than_meet_in_one_place(tmp_path: Path) -> None:
    """What was used, as a schedule, gives the same again."""
    arguments = ("run", "spmm", "--data", "karate", "--value", "f32")
    found = report(*arguments, "--split", "A=hyb(4,2)")
    assert found["checked"]
    assert [region["name"] for region in found["regions"]] == ["spmm_0", "spmm_1", "spmm_2"]
    path = tmp_path / "s.toml"
    path.write_text(Schedule.from_fields(found["schedule"]).dumps(), encoding="utf-8")
    assert report(*arguments, "--schedule", path)["cycles"] == found["cycles"]


def test_terms_that_streams_cannot_add_are_stored() -> None:
    """The program that is printed is the one that is compiled."""
    text = (
        "tensor A[r=3, i=8, k=8] : csf\ntensor X[k=8, j=4] : dense\ntensor Y[i=8, j=4] : csr\n"
        "Y[i, j] = A[r, i, k] * X[k, j]"
    )
    after = good("compile", text, "--split", "A=rows(2)", "--after", "split_formats").stdout
    assert after.splitlines()[-1] == "Y[i, j] = Y_sum[i, j] + Y_sum_2[i, j]"
    assert "tensor Y_sum[i=8, j=4] : dcsr\n" in after


def test_a_program_by_itself_has_parts_too() -> None:
    text = "tensor A[i=8, k=8] : csr\ntensor x[k] : dense\ntensor y[i] : dense\ny[i] = A[i, k] * x[k]"
    printed = good("compile", text, "--split", "A=rows(2)").stdout
    assert "A_0, dcsr: of A part 0 of 2 of the rows\n" in printed


def test_a_schedule_and_a_sweep(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[split]\nA = "rows(2)"\n', encoding="utf-8")
    found = report("run", "spmm", "--data", "karate", "--schedule", path)
    assert found["schedule"]["split"] == {"A": "rows(2)"}
    table = tmp_path / "t.csv"
    rules = "split.A=none,rows(2),hyb(1,2)"
    done = samhw("sweep", "spmm", "--data", "karate", "--set", rules, "--jobs", 1, "-o", table)
    assert done.exit_code == 0, done.output
    with table.open(encoding="utf-8") as file:
        rows = {row["split.A"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"", "rows(2)", "hyb(1,2)"}
    assert all(row["status"] == "right" for row in rows.values())
    assert int(rows["rows(2)"]["cycles"]) == found["cycles"]


def test_a_build_says_what_its_host_has_to_make(tmp_path: Path) -> None:
    options = ("--data", "karate", "--split", "A=rows(2)", "--target", "verilog")
    good("build", "spmm", *options, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "derived.txt").read_text() == (
        "A_0: of A part 0 of 2 of the rows\nA_1: of A part 1 of 2 of the rows\nT: all entries of T_0, T_1\n"
    )


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("A", "split 'A': give each tensor one rule, as in A = rows(4), and a ; between them."),
        ("A=rows(2);A=rows(3)", "'A' has both rows(2) and rows(3)"),
        ("A=row(2)", "there is no rule 'row(2)'"),
        ("T=rows(2)", "reads no tensor 'T'"),
        ("A=no.py:rule", "there is no file 'no.py'"),
    ],
)
def test_a_split_that_there_is_not(split: str, message: str) -> None:
    assert message in refused("run", "spmm", "--data", "karate", "--split", split)


def test_rules_and_orders_are_compared() -> None:
    """Schedules of one design on data in other orders are measured each."""
    options = ("--lanes", "i=4", "--fuse", "none")
    rules = ("--split", "A=none,rows(4),even(4)", "--permute-rows", "A=none,even(4)")
    found = report("compare", "spmm", "--data", "karate", *options, *rules)["outcomes"]
    cycles = {
        (row["schedule"].get("split", {}).get("A"), row["schedule"].get("permute_rows", {}).get("A")): row[
            "cycles"
        ]
        for row in found
    }
    assert len(cycles) == 6
    assert cycles["even(4)", None] < cycles["rows(4)", None]
    assert cycles[None, "even(4)"] < cycles[None, None]


def test_partial_sums_as_typed() -> None:
    """Terms in regions of their own and one that adds them, or all in one region; as a run and compared."""
    given = ("spmm", "--data", "karate", "--split", "A=columns(2)")
    apart = report("run", *given, "--partial-sums", "T")
    assert apart["checked"]
    assert apart["schedule"]["partial_sums"] == ["T"]
    found = report(
        "compare", *given[:3], "--split", "A=columns(2)", "--partial-sums", "none,T", "--fuse", "none"
    )
    rows = {tuple(row["schedule"]["partial_sums"]): row for row in found["outcomes"]}
    assert {words: row["regions"] for words, row in rows.items()} == {(): 1, ("T",): 3}
    assert rows["T",]["cycles"] == apart["cycles"] > rows[()]["cycles"]
    message = "'partial_sums' names 'A', which no statement of 'spmm' computes"
    assert message in refused("run", *given, "--partial-sums", "A")


def test_an_order_as_typed(tmp_path: Path) -> None:
    found = report("run", "gcn", "--data", "karate", "--permute-rows", "A=reverse Cuthill-McKee")
    assert found["checked"]
    assert found["schedule"]["permute_rows"] == {"A": "reverse Cuthill-McKee"}
    lines = good("compile", "spmm", "--data", "karate", "--permute-rows", "A=by length").stdout
    assert "A: its rows by length, the longest first; so renumbered: A (mode 0), T (mode 0)\n" in lines
    assert "no order 'by width'" in refused("run", "spmm", "--permute-rows", "A=by width")
