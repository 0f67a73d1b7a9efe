"""What `--schedule auto` chooses: no worse than the levels of fusion, for every program that any accepts."""

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import samhw
from samhw.app.checking import check
from samhw.app.cli import main
from samhw.app.workload import Workload, bind_program, compile_workload, job_of
from samhw.choices.formats.candidates import turned_schedules
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import Lowerings
from samhw.compiler.pipeline import Job, candidates, choose_schedule
from samhw.compiler.search import Room, Sizes, bracket_choices
from samhw.compiler.search.decide import decide
from samhw.compiler.search.tried import AutoChoice, Search, candidates_of
from samhw.cost import FITS, Budget, estimate_area, find_device
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import Program, parse
from samhw.lang.decision import Refusal, Sharing
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import RTL, run
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

LANES = frozenset({"lanes"})

AUTO = Schedule.of("auto")
RUNS = int(os.environ.get("SAMHW_RANDOM_CHOICES", "25"))
"""How many random programs are drawn."""

CHAIN = """
tensor A[i, k] : csr
tensor X[k, f] : dense
tensor W[f, h] : dense
T[i, f] = A[i, k] * X[k, f]    order i, k, f
Y[i, h] = T[i, f] * W[f, h]    order i, f, h
"""


def cycles(workload: Workload, schedule: Schedule) -> int:
    return run(compile_workload(workload, schedule), workload.tensors).cycles


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("model", ["gat", "gcn", "mlp", "sae"])
def test_it_is_as_fast_as_the_best_level(model: str) -> None:
    workload = bind_program(model)
    best = min(cycles(workload, Schedule(fuse=level)) for level in FUSION_LEVELS)
    assert cycles(workload, AUTO) <= 1.05 * best


def test_brackets_are_chosen_where_they_take_less_work() -> None:
    workload = Workload("dense", *bound(parse(CHAIN), i=30, k=30, f=20, h=2))
    compiled = compile_workload(workload, AUTO)
    assert compiled.schedule.brackets == {"Y": "A * (X * W)"}
    regions, brackets, zeros = compiled.why
    assert zeros.startswith("formats: ")
    assert re.fullmatch(r"regions: \w+, about [\d,]+ cycles \([\d,]+ as written\)", regions)
    assert brackets.startswith("brackets: Y = A * (X * W), ")
    result = run(compiled, workload.tensors)
    assert check(workload, compiled, result.outputs).good
    assert result.cycles < 0.5 * cycles(workload, Schedule(fuse="none"))
    # A wide result is better off with the other ones.
    workload = Workload("wide", *bound(parse(CHAIN), i=30, k=30, f=2, h=20))
    assert not compile_workload(workload, AUTO).schedule.brackets


AGAINST_STORAGE = """
tensor A[l=16, k=16, i=13] : (compressed, dense, dense)
tensor T[l=16, i=13, k=16] : dense @ (0, 2, 1)
tensor y
fuse {
  T[l, i, k] = abs(A[l, k, i])    order i, k, l
  y max= T[l, i, k]               order i, k, l
}
"""
APART = """
tensor a[l=13] : dense
tensor t[l=13] : csf
tensor B[l=13, j=6, i=15] : dense @ (1, 2, 0)
tensor y
t[l] = a[l] * 0.5
y = t[l] * B[l, j, i]    order i, l, j
"""


@pytest.mark.parametrize("text", [AGAINST_STORAGE, APART])
def test_other_orders_than_those_of_statements(text: str) -> None:
    """As they are written, they go through an input against its storage, or through a vector again."""
    program = parse(text)
    workload = Workload("orders", program, random_tensors(program, np.random.default_rng(3)))
    compiled = compile_workload(workload, AUTO)
    assert compiled.why[-1].startswith("orders: ")
    result = run(compiled, workload.tensors)
    assert check(workload, compiled, result.outputs).good
    assert 2 * result.cycles < cycles(workload, Schedule(fuse="partial", permute=True))


def test_orders_that_are_given_stay() -> None:
    program = parse(AGAINST_STORAGE)
    workload = Workload("orders", program, random_tensors(program, np.random.default_rng(3)))
    compiled = compile_workload(workload, Schedule(fuse="auto", order={"y": ("l", "i", "k")}, permute=True))
    assert compiled.schedule.order == {"y": ("l", "i", "k")}


def test_a_bracket_differs_from_what_is_written() -> None:
    program = parse("tensor X[i=4, j=5] : csr\nm[i] = X[i, j] / 3")
    assert not bracket_choices(program, Sizes({"X": 0.5}, {"X": (4, 5)}), worth=1e9)


def bound(program: Program, **extents: int) -> tuple[Program, dict[str, samhw.tensors.Tensor]]:
    program = program.with_extents(
        {"i": extents["i"], "f": extents["f"], "h": extents["h"]}
        | ({"k": extents["k"]} if "k" in program.dimensions.extents else {})
    )
    return program, random_tensors(program, np.random.default_rng(7))


def test_what_is_given_stays() -> None:
    workload = Workload("dense", *bound(parse(CHAIN), i=30, k=30, f=20, h=2))
    schedule = Schedule(fuse="auto", brackets={"Y": "A * X * W"}, formats={"X": "csr"})
    compiled = compile_workload(workload, schedule)
    assert compiled.schedule.brackets == {"Y": "A * X * W"}
    assert compiled.schedule.formats["X"] == "csr"


def test_a_concatenation_may_have_an_operand_twice() -> None:
    program = parse(
        "tensor A[i=3] : (compressed)\ntensor C[i=3]\ntensor B[i=2]\n"
        "T[i] = A[i] + C[i]\nY[i] = concat(i, T[i], T[i], B[i])"
    )
    workload = Workload("twice", program, random_tensors(program, np.random.default_rng(0)))
    compiled = compile_workload(workload, AUTO)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


@pytest.mark.parametrize("cascade", ["auto", "rescaled", "deferred"])
def test_cascades_are_estimated_too(cascade: str) -> None:
    workload = bind_program("bigbird_attention", ["random:i=16"])
    compiled = compile_workload(workload, Schedule.from_fields({"fuse": "auto", "cascade": cascade}))
    assert compiled.schedule.cascade == cascade
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


def test_operands_that_stream() -> None:
    workload = bind_program("sae")
    compiled = compile_workload(workload, AUTO)
    assert {compiled.schedule.formats[name] for name in ("W2", "W3")} == {"csc"}
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


def test_operands_are_turned_only_where_regions_have_the_orders() -> None:
    program = parse(CHAIN.replace("W[f, h]", "W[h, f]"))
    ordered = Schedule(order={"T": ("i", "f", "k")})
    (turned, *_) = turned_schedules(program, replace(ordered, fuse="none"))
    assert turned.formats == {"W": "dense @ (1, 0)"}
    assert not list(turned_schedules(program, replace(ordered, fuse="full")))


def test_operands_of_regions_with_too_many_loops_may_be_turned() -> None:
    powers = [f"T{n + 1}[i, j] = T{n}[i, k] * T{n}[k, j]" for n in range(9)]
    text = "\n".join(
        ["tensor T0[i, j] : dense", "tensor W[i, j] : dense", *powers, "Y[i, k] = T9[i, j] * W[k, j]"]
    )
    program = parse(text).with_extents({"i": 4})
    (turned,) = turned_schedules(program, Schedule(fuse="full"))
    assert turned == Schedule(fuse="full", formats={"W": "dense @ (1, 0)"})


def test_storage_that_conflicts_is_copied() -> None:
    program = parse("tensor A[i, k] : csr\ntensor B[i, k] : csc\nC[i, k] = A[i, k] + B[i, k]")
    program = program.with_extents({"i": 5, "k": 4})
    workload = Workload("both", program, random_tensors(program, np.random.default_rng(0)))
    with pytest.raises(InputError):
        compile_workload(workload, Schedule())
    compiled = compile_workload(workload, AUTO)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


@given(
    program=st.one_of(programs(), chained_programs(), chained_programs(concordant=False)),
    seed=st.integers(0, 99),
)
@settings(max_examples=RUNS, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_any_level_accepts_it_accepts(program: Program, seed: int) -> None:
    tensors = random_tensors(program, np.random.default_rng(seed))
    workload = Workload("random", program, tensors)
    try:
        compiled = compile_workload(workload, AUTO)
    except InputError:
        for level in FUSION_LEVELS:
            with pytest.raises(InputError):
                compile_workload(workload, Schedule(fuse=level, permute=True))
        return
    outputs = run(compiled, tensors).outputs
    assert check(workload, compiled, outputs).good
    wanted = evaluate_program(program, tensors)
    for decl in program.outputs:
        np.testing.assert_allclose(outputs[decl.name].to_dense(), wanted[decl.name], rtol=1e-4, atol=1e-4)


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("model", ["gcn", "mlp", "sae"])
def test_what_it_chooses_runs_in_rtl(model: str) -> None:
    workload = bind_program(model)
    compiled = compile_workload(workload, AUTO)
    ours, theirs = run(compiled, workload.tensors), run(compiled, workload.tensors, RTL)
    assert [r.cycles for r in ours.regions] == [r.cycles for r in theirs.regions]
    assert check(workload, compiled, theirs.outputs).good


# Commands and Python


def test_commands_say_what_was_chosen(tmp_path: Path) -> None:
    text = CHAIN.replace("f]", "f=20]", 1).replace("h]", "h=2]", 1).replace("[i, k]", "[i=30, k=30]", 1)
    (tmp_path / "chain.ein").write_text(text, encoding="utf-8")
    arguments = [str(tmp_path / "chain.ein"), "--data", "random"]
    found = CliRunner().invoke(main, ["run", *arguments])
    assert found.exit_code == 0
    assert "note: --brackets 'Y = A * (X * W)' is expected to take " in found.stderr
    found = CliRunner().invoke(main, ["run", *arguments, "--schedule", "auto"])
    assert found.exit_code == 0
    assert "  chosen     brackets: Y = A * (X * W), " in found.stdout
    assert not found.stderr
    found = CliRunner().invoke(main, ["compile", *arguments, "--schedule", "auto", "--json", "-"])
    assert '"why"' in found.stdout
    found = CliRunner().invoke(main, ["compare", *arguments, "--fuse", "none,auto"])
    assert found.exit_code == 0
    assert "auto" in found.stdout


def test_python_chooses_for_the_first_data() -> None:
    design = samhw.compile("T[i,j] = A[i,k] * X[k,l] * W[l,j]", schedule="auto")
    rng = np.random.default_rng(0)
    a, x, w = rng.random((12, 24)), rng.random((24, 24)), rng.random((24, 1))
    result = design.run(A=a, X=x, W=w)
    np.testing.assert_allclose(result["T"], a @ x @ w, rtol=1e-5)
    assert design.compiled.schedule.brackets
    assert design.compiled.why


def luts(most: int) -> Budget:
    return Budget("ecp5", {"luts": most})


def test_lanes_and_area() -> None:
    """Lanes come only where they are asked for, and no further than there is room."""
    workload = bind_program("spmm", ["karate"])
    plain = choose_schedule(job_of(workload, AUTO))
    wide = choose_schedule(job_of(workload, AUTO, room=Room(LANES)))
    assert not plain.schedule.lanes
    assert wide.cycles < 0.5 * plain.cycles
    assert wide.luts > 1.5 * plain.luts
    assert any(line.startswith("lanes: i=") for line in wide.why)
    between = round((plain.luts + wide.luts) / 2)
    some = choose_schedule(job_of(workload, AUTO, room=Room(LANES, luts(between))))
    assert some.luts <= between
    assert wide.cycles < some.cycles < plain.cycles
    few = choose_schedule(job_of(workload, AUTO, room=Room(LANES, luts(100))))
    assert not few.schedule.lanes
    assert "the least that was found, and more than 100 LUTs" in few.why[-1]


def test_every_resource_is_limited() -> None:
    """Lanes that read one memory take a copy of it each."""
    text = "tensor A[i=64, k=64] : csr\ntensor x[k=64] : dense\ny[i] = A[i, k] * x[k]"
    workload = bind_program(text, ["random:density=0.3"])
    wide = choose_schedule(job_of(workload, AUTO, room=Room(LANES)))
    used = wide.area.use
    budget = Budget("ecp5", {"luts": 2 * used.luts, "block_rams": used.block_rams / 2})
    found = choose_schedule(job_of(workload, AUTO, room=Room(LANES, budget)))
    assert found.area.use.block_rams <= used.block_rams / 2
    assert found.cycles > wide.cycles
    small = find_device("XC7A35T")
    found = choose_schedule(job_of(workload, AUTO, room=Room(LANES, small.budget)))
    assert small.verdict(estimate_area(found.compiled.design, found.compiled.arch, "xc7").use) == FITS


HEADS = """
tensor A[i, k] : csr
tensor B[i, k] : csr
tensor C[i, k] : csr
y[i] = A[i, k] * x[k]
z[i] = B[i, k] * x[k]
u[i] = relu(C[i, k] * x[k])
v[i] = A[i, k] * y[k]
w[i] = v[i] + z[i] + u[i]
"""
"""y, z and u need nothing of each other; v is equal to y."""


def test_regions_run_side_by_side_where_there_is_room() -> None:
    workload = bind_program(HEADS, ["random:i=12,density=0.5"])
    given = Schedule(fuse=[[name] for name in "yzuvw"])

    def chosen(budget: Budget | None) -> tuple[Schedule, float, float]:
        found = explore_sizes(workload, given, budget)
        return found.schedule, found.cycles, found.luts

    one_by_one, slow, small = chosen(None)
    assert one_by_one.parallel == "none"
    wide, fast, large = chosen(luts(100_000))
    assert wide.parallel == "all"
    assert fast < 0.8 * slow
    assert large > small
    some, between, middle = chosen(luts(round(large) - 1))
    assert not isinstance(some.parallel, str)
    assert fast < between < slow
    assert middle < large


def explore_sizes(workload: Workload, given: Schedule, budget: Budget | None) -> AutoChoice:
    """What is chosen of the regions of a schedule within a budget, but for lanes."""
    room = Room(frozenset() if budget is None else frozenset({"parallel"}), budget)
    job = job_of(workload, AUTO, room=room)
    lowerings = Lowerings()
    search = Search(job, candidates(job, lowerings), lowerings)
    best = search.tried(given)
    assert best is not None
    notes: list[str] = []
    for choice, stage in (("share_hardware", "folded"), ("parallel", "more")):
        found = candidates_of(choice)
        assert found is not None
        best = found.STAGES[stage](search, best, notes)
    return best


FOLDED = """
tensor A[i=64, k=64] : csr
tensor B[i=64, k=2048] : csr
Y[k] = A[i, k] * x[i]    order i, k
Z[k_2] = B[i, k_2] * x[i]    order i, k_2
"""
"""Accumulators of 6 and of 11 bits, of which the wider one has more bitmaps to go through."""


def test_what_does_not_fit_is_folded() -> None:
    workload = bind_program(FOLDED.replace("k_2", "l").replace("k=2048", "l=2048"), ["random:density=0.05"])
    given = Schedule(fuse=[["Y"], ["Z"]])
    apart = explore_sizes(workload, given, None)
    together = compile_workload(workload, replace(given, share_hardware="all"))
    least = estimate_area(together.design, together.arch).use.luts
    assert least < 0.8 * apart.luts
    found = explore_sizes(workload, given, luts(round(least) + 1))
    assert found.schedule.share_hardware == "all"
    assert found.cycles >= apart.cycles


def test_a_limit_of_area_says_what_was_not_measured() -> None:
    workload = bind_program("spmm", ["karate"])
    request = job_of(workload, AUTO, value=value_type("fixed<12,4>"), room=Room(budget=luts(20_000)))
    assert "by the area of other types or widths" in choose_schedule(request).why[-1]


def test_what_fits_is_taken_in_the_place_of_what_is_faster() -> None:
    workload = bind_program("sae")
    best = choose_schedule(job_of(workload, AUTO))
    written = compile_workload(workload)
    least = estimate_area(written.design, written.arch).use.luts
    if least < best.luts:
        found = choose_schedule(job_of(workload, AUTO, room=Room(budget=luts(round(least) + 1))))
        assert found.luts <= least + 1


def test_weights_of_a_scan_are_stored_so_that_their_sums_do_not_wait() -> None:
    text = (
        "value f32\ntensor X[t, n, k]\ntensor W[k, h] : csr\ntensor U[g, h] : csr\nscan t {\n  fuse {\n"
        "    Z[n, h] = X[t, n, k] * W[k, h] + H[t-1, n, g] * U[g, h]\n    H[t, n, h] = tanh(Z[n, h])\n  }\n}"
    )
    rng = np.random.default_rng(0)
    data = {name: rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.4) for name in "WU"}
    data["X"] = rng.normal(size=(3, 8, 8))
    plain = samhw.compile(text).run(data)
    chosen = samhw.compile(text, schedule="auto").run(data)
    assert {"W": "csc", "U": "csc"}.items() <= chosen.compiled.schedule.formats.items()
    assert chosen.cycles < 0.95 * plain.cycles
    np.testing.assert_allclose(chosen["H"], plain["H"], rtol=1e-5)


def test_auto_beside_a_scan_and_computed_places() -> None:
    """What passes add to a region leaves the orders of statements whole that its order does not name."""
    text = """tensor A[j=5, i=4]
tensor H[n=6, i=4] : dense
tensor Q[l=3, i, k=2]
tensor p[k] : dense
tensor Y[m=6, i]
scan n {
    Z[i] = H[n - 2, i]
    H[n, i] = min(max(Z[i], -4), 4)
}
T[j] = A[j, i]
U[l, i, k] = Q[l, i, k] where Y[p[k], i]"""
    rng = np.random.default_rng(5)
    q, y, p = rng.integers(-3, 4, (3, 4, 2)), rng.integers(0, 2, (6, 4)), [2, 2]
    design = samhw.compile(text, schedule={"fuse": "auto"}, value="i16")
    result = design.run(A=np.ones((5, 4)), Q=q, Y=y, p=p)
    result.check()
    np.testing.assert_array_equal(result["U"], np.where(y[p].T, q, 0))


def test_brackets_part_a_dimension() -> None:
    """`D0` shares its rows with `H0` in a sum of both, but not once each is multiplied by itself."""
    program = parse(
        "index i=3\ntensor A0[i, l] : (dense, ragged)\ntensor H0[l=3, i=3] : dense\n"
        "tensor C0[i, l] : dense\ntensor D0[i, l] : dcsr\ntensor F0[i, k] : dense\n"
        "scan l down {\n  H0[l, i] = H0[l + 1, i] + A0[i, l] * A0[i, wrap(-i + 2)]\n}\n"
        "T0[i, l] = H0[i, l] * C0[i, l] - D0[i, l]\nT1 = T0[k, l] * F0[i, l]"
    )
    a0 = np.array([[0, 0, 0], [0, -3, 0], [-2, 1, 0]], float)
    c0 = np.array([[0, 3, 3], [-3, 0, 3], [-2, -1, 1]], float)
    d0 = np.array([[0, 2, 2], [0, 0, 1], [-3, -1, 2]], float)
    f0 = np.array([[-3, 0, 0], [0, 0, -3], [-1, 0, 0]], float)
    mirrored = a0.T * a0[np.arange(3), [2, 1, 0]]
    states = np.cumsum(mirrored[::-1], axis=0)[::-1]
    expected = np.einsum("kl,il->", states * c0 - d0, f0)
    data = {"A0": a0, "C0": c0, "D0": d0, "F0": f0}
    result = samhw.compile(program, schedule="auto", value="f32").run(data)
    assert result.tensors["T1"].to_dense() == expected


def test_a_choice_that_takes_too_many_steps_stops_with_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = job_of(bind_program("gat"), AUTO)
    whole = choose_schedule(job)
    assert not any(line.startswith("stopped") for line in whole.why)
    monkeypatch.setattr("samhw.compiler.search.auto.STEPS", 0)
    found = []
    for times in (1, 3, 3):
        monkeypatch.setattr("samhw.compiler.search.auto.TIMES", times)
        found.append(choose_schedule(job))
        assert re.fullmatch(r"stopped: after graphs of [\d,]+ nodes, .*", found[-1].why[-1])
    assert found[0].schedule == Schedule(fuse="partial")
    assert found[0].cycles >= found[1].cycles >= whole.cycles
    assert found[1].schedule == found[2].schedule


def test_a_region_with_too_many_loops_is_not_tried_in_every_order() -> None:
    letters = "abcdefghijklmnop"
    declared = "\n".join(f"tensor V{i}[{i}=2] : dense" for i in letters)
    text = f"{declared}\nX[{', '.join(letters)}] = {' * '.join(f'V{i}[{i}]' for i in letters)}\n"
    lowerings = Lowerings()
    found = decide(Job(parse(text)), lowerings)
    assert isinstance(found, Refusal)
    assert found.cause == "More than 15 loops would be nested"
    assert len(lowerings) <= 2 * len(Sharing)
