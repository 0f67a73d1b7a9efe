"""Regions side by side: cycles, words and errors of the RTL under Verilator are those of the simulator."""

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, RunError
from samhw.graph import Parallel, Repeat, Run
from samhw.graph.numerics import value_type
from samhw.graph.off_chip_memory import load_memory
from samhw.graph.sequence import beside, first_of, starts_of, text_of, total_of
from samhw.lang import Capacity, parse
from samhw.sim import simulate_regions, total_cycles
from samhw.sim.token_traces import traced_regions
from samhw.targets.backends import run as simulated
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load
from samhw.tensors import Tensor

HEADS = """
tensor A[i=6, k=6] : csr
tensor B[i, k] : csr
tensor x[k]
tensor b[i]
tensor u[i] : csf
tensor w[i] : csf
y[i] = A[i, k] * x[k] + b[i]
z[i] = B[i, k] * x[k] + b[i]
u[i] = relu(2 * y[i] - 1)
v[i] = A[i, k] * z[k] + y[i]
w[i] = relu(3 * v[i] - 2)
m = y[i] * z[i]
"""
"""y beside z, then u, v and m, then w: v is on the fabric of y or z, and w on that of u."""

STEPS = (
    Parallel(((Run(0),), (Run(1),))),
    Parallel(((Run(2), Repeat("t", "T", (Run(3), Run(4)))), (Run(5),))),
    Run(6),
)


def compiled(parallel: Any = "all", share: Any = "auto") -> Compiled:
    capacity = Capacity({"i": 6}, {"A": 20, "B": 36, "u": 6, "w": 4})
    schedule = Schedule(fuse="none", share_hardware=share, parallel=parallel)
    return compile_job(Job(parse(HEADS, "heads.ein"), schedule, value=value_type("i32"), capacity=capacity))


def inputs(seed: int, most: int = 5) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))

    def matrix() -> Any:
        return rng.integers(-most, most + 1, (n, n)) * (rng.random((n, n)) < rng.random())

    few = rng.permutation(n) < 3
    return {
        "A": Tensor.from_dense(matrix() * few[:, None], "csr"),
        "B": Tensor.from_dense(matrix(), "csr"),
        "x": Tensor.from_dense(rng.integers(-most, most + 1, n), "dense"),
        "b": Tensor.from_dense(rng.integers(-most, most + 1, n) * few, "dense"),
    }


def test_a_sequence_says_what_starts_when() -> None:
    cycles = dict(enumerate((10, 30, 5, 7, 8, 40, 3)))
    assert first_of(STEPS) == (0, 1)
    assert total_of(STEPS, cycles) == 30 + 1 + 40 + 1 + 3
    assert starts_of(STEPS, cycles) == {0: 0, 1: 0, 2: 31, 3: 37, 4: 37 + 8, 5: 31, 6: 72}
    assert beside(STEPS)[3] == {5}
    assert beside(STEPS)[5] == {2, 3, 4}
    assert not beside(STEPS)[6]


def test_independent_regions_run_side_by_side() -> None:
    found = compiled().design
    assert text_of(found.sequence) == (
        "parallel { run 0 | run 1 }; parallel { run 2 | run 3 | run 4 }; run 5"
    )
    assert found.fabrics == ((0, 3), (2, 5))
    assert [next(t.name for t in g.tensors if t.role == "output") for g in found.regions] == [*"yzuvmw"]
    together = compiled(share="all").design
    assert together.fabrics == ((0, 1, 3), (2, 5))
    assert text_of(together.sequence) == "run 0; run 1; parallel { run 2 | run 3 | run 4 }; run 5"
    assert not compiled("none").design.is_parallel


@pytest.mark.parametrize(
    ("lists", "steps"),
    [
        ([["y", "z"]], "parallel { run 0 | run 1 }; run 2; run 3; run 4; run 5"),
        # v waits for z, and m for both.
        ([["y", "z"], ["u", "m"]], "parallel { run 0 | run 1 }; parallel { run 2 | run 3 }; run 4; run 5"),
        ([["w", "m"]], "run 0; run 1; run 2; run 3; parallel { run 4 | run 5 }"),
    ],
)
def test_lists_say_which_regions_run_side_by_side(lists: list[list[str]], steps: str) -> None:
    assert text_of(compiled(lists).design.sequence) == steps


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ([["y", "v"]], "'v' beside 'y', for which it waits"),
        ([["y", "w"]], "'w' beside 'y', for which it waits"),
        ([["y", "z"], ["z", "u"]], "in two lists"),
        ([["y", "nothing"]], "names 'nothing'"),
    ],
)
def test_lists_that_cannot_be(lists: list[list[str]], why: str) -> None:
    with pytest.raises(InputError, match=why):
        compiled(lists)


CROSSED = """
tensor x[i]
a[i] = 2 * x[i]
b[i] = a[i] + 1
c[i] = 3 * x[i]
d[i] = c[i] + 1
"""


def test_lists_that_wait_for_each_other() -> None:
    schedule = Schedule(fuse="none", parallel=[["a", "d"], ["b", "c"]])
    with pytest.raises(InputError, match="wait for each other"):
        compile_job(Job(parse(CROSSED), schedule, capacity=Capacity({"i": 4}, {})))


X, W, V = np.arange(12).reshape(4, 3), np.array([1, 5, 2]), np.array([0, 2, 4])

BOTH_WAYS = """
value i32
tensor X[t, h]
scan t { F[t, h] = F[t-1, h] + X[t, h] }
scan t down { B[t, h] = B[t+1, h] + X[t, h] }
Y[t, h] = F[t, h] * B[t, h]
"""


IN_TURNS = """
value i32
tensor X[t, h]
scan t {
  G[t, h] = relu(F[t-1, h] - 1)
  F[t, h] = G[t, h] + X[t, h]
}
scan t down { B[t, h] = B[t+1, h] + X[t, h] }
"""


def test_scans_run_side_by_side() -> None:
    apart = samhw.compile(BOTH_WAYS, schedule={"fuse": "none"}).run(X=X)
    beside = samhw.compile(BOTH_WAYS, schedule={"fuse": "none", "parallel": "all"}).run(X=X)
    assert beside.compiled.design.is_parallel
    np.testing.assert_array_equal(beside["Y"], X.cumsum(0) * X[::-1].cumsum(0)[::-1])
    assert beside.cycles < apart.cycles


GATES = """
value i32
tensor X[t, h]
tensor W[h]
tensor V[h]
scan t {
  F[t, h] = relu(C[t-1, h] - W[h])
  G[t, h] = C[t-1, h] + X[t, h]
  O[t, h] = relu(C[t-1, h] - V[h])
  C[t, h] = F[t, h] + G[t, h]
  H[t, h] = C[t, h] * O[t, h]
}
"""
"""Of one form are F and O."""


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        ({"parallel": "all"}, "parallel { run 0 | run 1 | run 2 }; run 3; run 4"),
        ({"parallel": [["F", "G"]]}, "parallel { run 0 | run 1 }; run 2; run 3; run 4"),
        ({"parallel": [["G", "O"]]}, "run 0; parallel { run 1 | run 2 }; run 3; run 4"),
        (
            {"parallel": "all", "share_hardware": [["F", "O"]]},
            "parallel { run 0; run 2 | run 1 }; run 3; run 4",
        ),
    ],
)
def test_regions_of_a_scan_run_side_by_side_in_each_step(schedule: dict[str, Any], steps: str) -> None:
    result = samhw.compile(GATES, schedule={"fuse": "none", **schedule}).run(X=X, W=W, V=V)
    assert text_of(result.compiled.design.sequence) == f"repeat t < t {{ {steps} }}"
    c = np.zeros(3, int)
    found = np.asarray(result["H"])
    for t, x in enumerate(X):
        o, c = np.maximum(c - V, 0), np.maximum(c - W, 0) + c + x
        np.testing.assert_array_equal(found[t], c * o)
    apart = samhw.compile(GATES, schedule={"fuse": "none"}).run(X=X, W=W, V=V)
    assert result.cycles < apart.cycles


@pytest.mark.parametrize("parallel", ["none", "all"])
@pytest.mark.parametrize("window", [(0, 20), (60, 61), (100, 140), (10, 10**6)])
def test_a_window_of_a_scan_has_the_tokens_in_it(window: tuple[int, int], parallel: str) -> None:
    """Also where it lies in one step of several."""
    made = samhw.compile(GATES, schedule={"fuse": "none", "parallel": parallel}).run(X=X, W=W, V=V).compiled
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in (("X", X), ("W", W), ("V", V))}
    data = made.design, made.arch, *load(made.design, tensors)
    whole, part = (
        traced_regions(zip(made.design.runs, simulate_regions(*data, trace=True, **options), strict=True))
        for options in ({}, {"window": window})
    )
    for all_of_it, within in zip(whole, part, strict=True):
        for channel in all_of_it.graph.channels:
            passages = [p for p in all_of_it.passages(channel) if window[0] <= p.popped < window[1]]
            assert list(within.passages(channel)) == passages
            assert within.has_all(channel) == (passages == list(all_of_it.passages(channel)))


@pytest.mark.parametrize(
    ("lists", "why"), [([["F", "C"]], "beside 'F', for which it waits"), ([["F", "H"]], "for which it waits")]
)
def test_lists_that_cannot_be_in_a_scan(lists: list[list[str]], why: str) -> None:
    with pytest.raises(InputError, match=why):
        samhw.compile(GATES, schedule={"fuse": "none", "parallel": lists}).run(X=X, W=W, V=V)


def test_a_run_takes_the_longest_of_its_bodies() -> None:
    design, apart = compiled().design, compiled("none").design
    memories, extents = load(design, inputs(0))
    arch = compiled().arch
    results = simulate_regions(design, arch, memories, extents)
    alone = {
        g.tensors[-1].name: r
        for g, r in zip(apart.runs, simulate_regions(apart, arch, *load(apart, inputs(0))), strict=True)
    }
    y, z, u, v, m, w = (result.cycles for result in results)
    assert [r.cycles for r in results] == [alone[g.tensors[-1].name].cycles for g in design.runs]
    assert total_cycles(results) == max(y, z) + 1 + max(u, v, m) + 1 + w


def test_where_regions_meet_at_a_memory_each_has_its_own_result() -> None:
    """They take their turns by their fabrics, whose order is another."""
    found = compiled()
    beside = simulated(found, inputs(0), memory=load_memory("constant:20"), trace=True)
    for region in beside.regions:
        assert region.statistics is not None
        assert region.statistics.nodes.keys() == region.graph.node.keys()


FORMS = (
    "T{n}[i] = A[i, k] * {a}[k] + {b}[i]",
    "T{n}[i] = B[i, k] * {a}[k] + {b}[i]",
    "T{n}[i] = 2 * {a}[i] - {b}[i]",
    "T{n}[i] = relu(3 * {a}[i] - 1) + {b}[i]",
    "T{n}[i] max= A[i, k] * {a}[k]",
)


def drawn(number: int) -> tuple[str, dict[str, Any]]:
    """A program of equal and nearly equal regions, and a schedule."""
    source = random.Random(f"side by side {number}")
    lines = ["tensor A[i, k] : csr", "tensor B[i, k] : csr", "tensor x[i]", "tensor y[i]"]
    known = ["x", "y"]
    for n in range(source.randint(2, 7)):
        a, b = (source.choice(known[-4:]) for _ in "ab")
        lines.append(source.choice(FORMS).format(n=n, a=a, b=b))
        known.append(f"T{n}")
    schedule: dict[str, Any] = {
        "fuse": "none",
        "parallel": source.choice(["all", "all", "none"]),
        "share_hardware": source.choice(["auto", "all", "none"]),
    }
    if source.random() < 0.3 and any("[i, k]" in line for line in lines[4:]):
        schedule["lanes"] = {"i": 2}
    return "\n".join(lines), schedule


def random_data(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    matrices = {name: rng.integers(-3, 4, (6, 6)) * (rng.random((6, 6)) < 0.4) for name in "AB"}
    return matrices | {name: rng.integers(-4, 5, 6) for name in "xy"}


def as_numpy(text: str, data: dict[str, Any]) -> dict[str, Any]:
    """What a program of `FORMS` gives, statement by statement."""
    known = {name: value.astype(np.int64) for name, value in data.items()}
    for line in text.splitlines():
        if line.startswith("T"):
            name, right = line.split("[")[0], line.split("= ")[1]
            used = re.findall(r"(\w+)\[(\w(?:, \w)?)\]", right)
            if "max=" in line:
                found = (known["A"] * known[used[1][0]]).max(axis=1)
            elif used[0][1] == "i, k":
                found = known[used[0][0]] @ known[used[1][0]] + known[used[2][0]]
            elif "relu" in right:
                found = np.maximum(3 * known[used[0][0]] - 1, 0) + known[used[1][0]]
            else:
                found = 2 * known[used[0][0]] - known[used[1][0]]
            known[name] = found
    return known


def made(number: int, **more: Any) -> tuple[samhw.RunnableDesign, dict[str, Any]]:
    text, schedule = drawn(number)
    data = {name: value for name, value in random_data(number).items() if re.search(rf"= .*\b{name}\[", text)}
    lines = [n for n in text.splitlines() if not (m := re.match(r"tensor (\w)", n)) or m[1] in data]
    return samhw.compile("\n".join(lines), schedule=schedule | more, value="i32"), data


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("number", range(500))
def test_random_programs_give_what_numpy_does(number: int) -> None:
    design, data = made(number)
    result = design.run(data)
    expected = as_numpy(drawn(number)[0], random_data(number))
    for name in result:
        np.testing.assert_array_equal(result[name], expected[name])


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("number", range(60))
def test_random_programs_take_the_cycles_of_the_simulator(number: int) -> None:
    design, data = made(number)
    model, rtl = design.run(data), design.run(data, backend="verilator")
    assert [region.cycles for region in rtl.run.regions] == [region.cycles for region in model.run.regions]
    assert rtl.cycles == model.cycles
    for name in model:
        np.testing.assert_array_equal(rtl[name], model[name])


@pytest.mark.slow
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("number", range(30))
def test_random_programs_as_hls(number: int) -> None:
    """The C simulation has the simulator's tokens and depths."""
    design, data = made(number, parallel="all")
    model, hls = design.run(data), design.run(data, backend="hls")
    for name in model:
        np.testing.assert_array_equal(hls[name], model[name])


@pytest.mark.slow
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize(
    "text", [GATES.replace("scan t", "scan t down").replace("t-1", "t+1"), IN_TURNS, BOTH_WAYS]
)
def test_scans_as_hls(text: str) -> None:
    design = samhw.compile(text, schedule={"fuse": "none", "parallel": "all"})
    data = {"X": X, "W": W, "V": V} if "W[" in text else {"X": X}
    model, hls = design.run(data), design.run(data, backend="hls")
    for name in model:
        np.testing.assert_array_equal(hls[name], model[name])


@pytest.fixture(scope="module")
def design() -> VerilatedDesign:
    made = compiled()
    return VerilatedDesign.build(made.design, made.arch, stall_ports=True, probes=True)


@pytest.mark.slow
@pytest.mark.verilator
def test_cycles_and_words_are_those_of_the_simulator(design: VerilatedDesign) -> None:
    with design.session() as session:
        for seed in range(30):
            memories, extents = load(design.design, inputs(seed))
            rtl = session.run(memories, extents, buffers=True)
            model = simulate_regions(design.design, design.arch, memories, extents)
            cycles = tuple(result.cycles for result in model)
            assert (rtl.region_cycles, rtl.cycles) == (cycles, total_cycles(model))
            for result in model:
                for name, words in result.memories.items():
                    np.testing.assert_array_equal(rtl.memories[name][: len(words)], words)


def assert_traces_agree(design: VerilatedDesign, memories: Any, extents: Any) -> None:
    """Tokens of simulator and RTL, on the one axis of cycles of the run."""
    whole = design.design
    rtl = design.run(memories, extents, trace=True)
    results = simulate_regions(whole, design.arch, memories, extents, trace=True)
    traced = traced_regions(zip(whole.runs, results, strict=True))
    assert rtl.traces == {
        whole.label(number, channel.name): [(p.popped, p.token) for p in region.passages(channel)]
        for number, region in zip(whole.turns, traced, strict=True)
        for channel in region.graph.channels
    }


@pytest.mark.slow
@pytest.mark.verilator
def test_a_trace_has_the_cycles_of_the_rtl(design: VerilatedDesign) -> None:
    assert_traces_agree(design, *load(design.design, inputs(1)))


@pytest.mark.slow
@pytest.mark.verilator
def test_a_trace_of_scans_has_the_cycles_of_the_rtl() -> None:
    """Two regions that take turns in a scan, beside another scan."""
    made = samhw.compile(IN_TURNS, schedule={"fuse": "none", "parallel": "all"}).run(X=X)
    whole = made.compiled.design
    assert text_of(whole.sequence) == (
        "parallel { repeat t < t { run 0; run 1 } | repeat t_2 < t { run 2 } }"
    )
    build = VerilatedDesign.build(whole, made.compiled.arch, probes=True)
    assert_traces_agree(build, *load(whole, {"X": Tensor.from_dense(X, "dense")}))


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize(
    "schedule",
    [
        {"parallel": "all", "share_hardware": [["F", "O"]]},
        {"parallel": "all"},
        {"parallel": [["G", "O"]]},
    ],
)
def test_steps_of_a_scan_take_the_cycles_of_the_rtl(schedule: dict[str, Any]) -> None:
    made = samhw.compile(GATES, schedule={"fuse": "none", **schedule}).run(X=X, W=W, V=V).compiled
    build = VerilatedDesign.build(made.design, made.arch, probes=True)
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in (("X", X), ("W", W), ("V", V))}
    memories, extents = load(made.design, tensors)
    model = simulate_regions(made.design, made.arch, memories, extents)
    rtl = build.run(memories, extents, buffers=True)
    cycles = tuple(result.cycles for result in model)
    assert (rtl.region_cycles, rtl.cycles) == (cycles, total_cycles(model))
    for result in model:
        for name, words in result.memories.items():
            np.testing.assert_array_equal(rtl.memories[name][: len(words)], words)
    assert_traces_agree(build, memories, extents)


@pytest.mark.slow
@pytest.mark.verilator
def test_an_error_names_the_region_that_met_it(design: VerilatedDesign) -> None:
    data = inputs(0) | {"b": Tensor.from_dense(np.full(inputs(0)["b"].shape, 1 << 30), "dense")}
    memories, extents = load(design.design, data)
    with pytest.raises(RunError) as model:
        simulate_regions(design.design, design.arch, memories, extents)
    with pytest.raises(RunError) as rtl:
        design.run(memories, extents)
    assert type(rtl.value) is type(model.value)
    assert str(model.value).split(":")[0].split(",")[0] in str(rtl.value)


SCANS = """
tensor A[t=4, i=6]
y[i] = A[t, i] * 2
z[i] = A[t, i] * 3
scan t {
  F[t, i] = F[t - 1, i] + A[t, i]
  G[t, i] = G[t - 1, i] * 2 + A[t, i]
  H[t, i] = F[t, i] * G[t, i]
}
u[i] = H[t, i] + y[i] * z[i]
"""


def test_beside_a_memory_a_scan_is_by_itself_and_divides_its_own_steps() -> None:
    job = Job(parse(SCANS, "scans.ein"), Schedule(fuse="none", parallel="all"), value=value_type("i32"))
    alone = text_of(compile_job(job).design.sequence)
    assert alone.startswith("parallel { run 0 | run 1 | repeat t < t { parallel { run 2 | run 3 }; run 4 } }")
    placed = compile_job(replace(job, memory=load_memory("constant:20")))
    steps = text_of(placed.design.sequence)
    assert steps == "repeat t < t { parallel { run 2 | run 3 }; run 4 }; parallel { run 0 | run 1 }; run 5"


@pytest.mark.parametrize("schedule", [{"share_hardware": "all"}, {"share_hardware": [["s", "t"]]}])
def test_regions_that_all_share_hardware_are_not_said_to_run_side_by_side(schedule: dict[str, Any]) -> None:
    """Of gat only s and t need nothing of each other, and they are equal."""
    fields = {"fuse": "none", "parallel": "all"}
    assert samhw.compile("gat", data="karate", schedule=fields).compiled.design.is_parallel
    with pytest.raises(InputError, match=r"No regions run side by side .* leave out one of the two"):
        samhw.compile("gat", data="karate", schedule={**fields, **schedule})
