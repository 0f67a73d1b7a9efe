"""Scans: the slices that their statements become ones over, and what programs with them compute."""

from itertools import islice, permutations, product

import numpy as np
import pytest

import samhw
from samhw.app.api.design_result import DesignResult
from samhw.choices.schedule import Schedule
from samhw.compiler.passes import apply_passes
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Repeat
from samhw.lang import dumps, parse
from samhw.lang.reference import evaluate_program
from tests.support.placed_recurrences import random_placed_recurrence
from tests.support.recurrences import Recurrence, random_recurrence
from tests.support.thorough import THOROUGH

RNN = """tensor X[n=2, t=3, k=4]
tensor W[k, h=3] : csr
tensor U[g=3, h] : csr
tensor I[n, h]
scan t {
  fuse {
    Z[n, h] = X[n, t, k] * W[k, h] + H[n, t-1, g] * U[g, h]
    H[n, t, h] = relu(Z[n, h])
  }
}
H[n, -1, h] = I[n, h] * 2
"""


def sliced(text: str) -> str:
    return dumps(apply_passes(Job(parse(text)).lowerable(), "slice_steps").program)


def test_statements_become_ones_over_slices() -> None:
    assert sliced(RNN).splitlines()[4:] == [
        "tensor Z[n=2, h=3] : dense",
        "tensor H[n=2, t=3, h=3] : dense @ (1, 0, 2)",
        "tensor H_start[n=2, h=3] : dense",
        "tensor X_steps[n=2, t=3, k=4] : dense @ (1, 0, 2)",
        "tensor X_now[n=2, k=4] : dense",
        "tensor H_before[n=2, h=3] : dense",
        "tensor H_now[n=2, h=3] : dense",
        "H_start[n, h] = I[n, h] * 2",
        "X_steps[n, t, k] = X[n, t, k]",
        "scan t {",
        "  X_now[n, k] = X_steps[n, t, k]",
        "  H_before[n, h] = H[n, t - 1, h]",
        "  fuse {",
        "    Z[n, h] = X_now[n, k] * W[k, h] + H_before[n, g] * U[g, h]",
        "    H_now[n, h] = relu(Z[n, h])",
        "  }",
        "  H[n, t, h] = H_now[n, h]",
        "}",
        "H[n, -1, h] = H_start[n, h]",
    ]


@pytest.mark.parametrize("seed", range(12))
def test_what_comes_out_comes_out_once_more(seed: int) -> None:
    made = random_recurrence(seed)
    text = sliced(made.text)
    assert sliced(text) == text
    found = evaluate_program(parse(text), made.inputs)
    assert all(np.array_equal(found[name], expected) for name, expected in made.expected.items())


def ran(made: Recurrence, backend: str = "sim", **options: object) -> DesignResult:
    result = samhw.compile(parse(made.text), permute=True, **options).run(made.inputs, backend=backend)
    assert result.check().verdict == "right"
    for name, expected in made.expected.items():
        if name in result.tensors:
            assert np.array_equal(result.tensors[name].to_dense(), expected), made.text
        else:
            assert name.startswith("Z"), made.text
    return result


def test_random_recurrences() -> None:
    for seed in range(200 if THOROUGH else 8):
        ran(random_recurrence(seed))


def test_random_recurrences_at_places() -> None:
    """Steps read at places that are computed or named, and write what runs along an index."""
    for seed in range(400 if THOROUGH else 12):
        ran(random_placed_recurrence(seed), fuse=(None, "full", "none")[seed % 3])


@pytest.mark.slow
@pytest.mark.verilator
def test_random_recurrences_at_places_in_hardware() -> None:
    for seed in range(12 if THOROUGH else 1):
        made = random_placed_recurrence(seed)
        assert ran(made, "verilator").cycles == ran(made).cycles


@pytest.mark.parametrize("fuse", ["none", "full", "kinds"])
def test_regions_stay_in_their_blocks(fuse: str) -> None:
    for seed in (5, 8, 24):
        ran(random_recurrence(seed), fuse=fuse)


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(("backend", "count"), [("verilator", 40), ("hls", 20)])
def test_random_recurrences_in_hardware(backend: str, count: int) -> None:
    """With as many cycles as in the simulator, where there are cycles."""
    for seed in range(8, 8 + (count if THOROUGH else 1)):
        made = random_recurrence(seed)
        found = ran(made, backend)
        if backend == "verilator":
            model = ran(made)
            assert found.cycles == model.cycles
            assert [r.cycles for r in found.run.regions] == [r.cycles for r in model.run.regions]


def test_an_estimate_counts_all_steps() -> None:
    rng = np.random.default_rng(0)
    design = samhw.compile(parse(RNN))
    shapes = {"X": (2, 3, 4), "W": (4, 3), "U": (3, 3), "I": (2, 3)}
    data = {name: rng.integers(-2, 3, shape) for name, shape in shapes.items()}
    cycles = design.run(data).cycles
    assert 0.7 * cycles < design.estimate(data).cycles < 1.3 * cycles


def test_one_region_is_repeated() -> None:
    rng = np.random.default_rng(0)
    design = samhw.compile(parse(RNN))
    shapes = {"X": (2, 3, 4), "W": (4, 3), "U": (3, 3), "I": (2, 3)}
    result = design.run({name: rng.integers(-2, 3, shape) for name, shape in shapes.items()})
    assert result.check().verdict == "right"
    *once, repeat = result.compiled.design.sequence
    assert isinstance(repeat, Repeat)
    assert len(repeat.body) == 1
    assert len(once) == 2
    cycles = [region.cycles for region in result.run.regions]
    assert result.cycles == sum(cycles) + 2


def test_one_design_takes_other_numbers_of_steps() -> None:
    text = "tensor X[t, h=2]\nscan t down {\n  H[t, h] = X[t, h] + H[t+2, h]\n}"
    design = samhw.compile(text)
    for steps in (1, 2, 5, 8):
        x = np.arange(2 * steps).reshape(steps, 2)
        want = np.array([x[t::2].sum(0) for t in range(steps)])
        assert np.array_equal(design.run(X=x).tensors["H"].to_dense(), want)


def test_what_a_step_writes_under_a_name_of_its_own_is_no_result() -> None:
    text = "tensor X[t, h=2]\nscan t {\n  V[h] = X[t, h] + H[t-1, h]\n  H[t, h] = V[h]\n}"
    x = np.arange(8).reshape(4, 2)
    for fuse in (None, "full"):
        result = samhw.compile(text, fuse=fuse).run(X=x)
        assert result.check().good
        assert "V" not in result.tensors
        assert np.array_equal(result.tensors["H"].to_dense(), x.cumsum(0))


@pytest.mark.parametrize("fuse", [None, "full"])
@pytest.mark.parametrize("way", ["", "down"])
def test_a_scan_may_start_from_what_another_one_ends_with(way: str, fuse: str | None) -> None:
    """Which is what its last step gives, and not what lies in the first place."""
    other = "t-1" if not way else "t+1"
    text = (
        f"tensor X[t, h=2]\ntensor Y[s, h]\n"
        f"scan t {way} {{\n  V[h] = X[t, h] + H[{other}, h]\n  H[t, h] = V[h]\n}}\n"
        "scan s {\n  W[h] = Y[s, h] + S[s-1, h]\n  S[s, h] = W[h]\n}\nS[-1, h] = V[h]"
    )
    x, y = np.arange(8).reshape(4, 2), np.arange(6).reshape(3, 2)
    result = samhw.compile(text, fuse=fuse).run(X=x, Y=y)
    assert result.check().good
    assert np.array_equal(result["S"], x.sum(0) + y.cumsum(0))


def test_a_schedule_is_chosen_for_scans_one_behind_the_other() -> None:
    """Statements read what earlier steps give, which stands after them in the text."""
    text = (
        "tensor X[t, h=2]\ntensor Y[s, h]\nscan t {\n  V[h] = X[t, h] + H[t-1, h]\n  H[t, h] = V[h]\n}\n"
        "R[h] = V[h] * 3\nscan s {\n  W[h] = S[s-1, h] + Y[s, h] + R[h]\n  S[s, h] = W[h]\n}\nS[-1, h] = V[h]"
    )
    x, y = np.arange(8).reshape(4, 2), np.arange(6).reshape(3, 2)
    result = samhw.compile(text, schedule="auto").run(X=x, Y=y)
    assert np.array_equal(result["S"], x.sum(0) + (y + 3 * x.sum(0)).cumsum(0))


def test_all_steps_are_copied_behind_the_scan() -> None:
    """For a statement that reads them in another order."""
    text = (
        "tensor X[t, h=3]\ntensor W[t]\nscan t {\n  H[t, h] = X[t, h] + H[t-1, h]\n}\n"
        "S[h] = W[t] * H[t, h]    order h, t"
    )
    x, w = np.arange(12).reshape(4, 3), np.arange(1, 5)
    result = samhw.compile(text, permute=True).run(X=x, W=w)
    assert result.check().good
    assert np.array_equal(result["S"], w @ x.cumsum(0))


def test_floats_are_compared_step_by_step() -> None:
    text = (
        "value f32\ntensor X[t, h]\nscan t {\n  Z[h] = X[t, h] + 0.5 * H[t-1, h]\n  H[t, h] = tanh(Z[h])\n}"
    )
    x = np.random.default_rng(0).normal(size=(12, 3))
    found = samhw.compile(text).run(X=x).check()
    assert found.verdict == "right"
    assert found.bound < 1e-5


def orders(rank: int) -> list[str]:
    return [f"{levels} @ {order}" for levels in ("dense", "csf") for order in permutations(range(rank))]


@pytest.mark.parametrize("storage", orders(3))
@pytest.mark.parametrize("rows", [2, 3])
def test_a_scan_reads_tensors_in_any_mode_order(storage: str, rows: int) -> None:
    """Also at other steps, which are zero outside."""
    text = (
        f"tensor A[i, t, k] : {storage}\ntensor x[k]\nscan t {{\n"
        "  Z[i] = A[i, t, k] * x[k]\n  U[i] = A[i, t+1, k] * x[k]\n  H[t, i] = Z[i] - U[i] + 2 * H[t-1, i]\n}"
    )
    a = np.arange(rows * 2 * 3).reshape(rows, 2, 3) % 5
    x = np.array([1, 2, -1])
    first = (a[:, 0] - a[:, 1]) @ x
    found = samhw.compile(parse(text), permute=True).run(A=a, x=x)
    assert found.tensors["H"].to_dense().tolist() == [first.tolist(), (a[:, 1] @ x + 2 * first).tolist()]


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_a_scan_writes_its_states_in_any_mode_order(rank: int) -> None:
    """One whose steps are not outermost is copied after the scan."""
    shape = (3, 2, 2, 2)[:rank]
    x = np.arange(int(np.prod(shape))).reshape(shape) % 7
    start = x[0] - 1
    # Of rank 4 some: 5 has no factor with the 96 in common.
    for mode, order in islice(
        product(range(rank), permutations(range(rank))), 0, None, 5 if rank == 4 else 1
    ):
        names = ["i", "j", "k"][: rank - 1]
        left, before, first = (
            f"H[{', '.join([*names[:mode], step, *names[mode:]])}]" for step in ("t", "t - 1", "-1")
        )
        sizes = [f"{n}=2" for n in names]
        declared = ", ".join([*sizes[:mode], "t=3", *sizes[mode:]])
        of = ", ".join(names)
        text = (
            f"tensor X[t, {of}]\ntensor S[{of}]\ntensor H[{declared}] : dense @ {order}\n"
            f"scan t {{\n  {left} = X[t, {of}] + {before}\n}}\n{first} = S[{of}]"
        )
        found = samhw.compile(parse(text), permute=True).run(X=x, S=start)
        expected = np.moveaxis(np.cumsum(x, 0) + start, 0, mode)
        assert np.array_equal(found.tensors["H"].to_dense(), expected), text


@pytest.mark.parametrize("schedule", [*({"fuse": f} for f in ("none", "kinds", "full", "auto")), "auto"])
@pytest.mark.parametrize("down", [False, True])
def test_a_mask_that_the_scan_writes_further_down(down: bool, schedule: str | dict[str, str]) -> None:
    """Searches ask how dense a mask is."""
    way, before = (" down", "t+1") if down else ("", "t-1")
    text = (
        f"tensor H[t, i=3]\nscan t{way} {{\n  Z[i] = H[{before}, i] + X[t, i] where H[{before}, i]\n"
        "  H[t, i] = Z[i] + X[t, i]\n}"
    )
    x = np.array([[1, 0, 2], [3, 4, 0], [-1, 1, 1], [2, 2, 2]])
    state, expected = np.zeros(3, int), []
    for step in x[::-1] if down else x:
        state = np.where(state != 0, state + step, 0) + step
        expected.append(state)
    found = samhw.compile(text, schedule=schedule).run(X=x)
    assert np.array_equal(found.tensors["H"].to_dense(), expected[::-1] if down else expected)


def test_a_state_that_is_too_large_to_be_copied() -> None:
    text = "tensor X[t, i]\ntensor H[i=4, t=4] : dense\nscan t {\n  H[i, t] = X[t, i] + H[i, t-1]\n}"
    with pytest.raises(InputError, match=r"store H with the mode order '@ \(1, 0\)'"):
        samhw.compile(parse(text), schedule=Schedule(largest_copy=8)).run(X=np.eye(4))
    stored = parse(text.replace("dense", "dense @ (1, 0)"))
    found = samhw.compile(stored, schedule=Schedule(largest_copy=8)).run(X=np.eye(4))
    assert np.array_equal(found.tensors["H"].to_dense(), np.cumsum(np.eye(4), 0).T)


@pytest.mark.filterwarnings("ignore:.*product by product")
def test_steps_are_not_in_blocks() -> None:
    text = "tensor X[t=4, h=4] : bcsr(2)\nscan t {\n  H[t, h] = X[t, h] + H[t-1, h]\n}"
    with pytest.raises(
        InputError, match="'X' is stored in blocks along t and h, and 'scan t' steps through it"
    ):
        samhw.compile(text).run(X=np.eye(4))


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("tensor A[i]\ntensor H[t=3, i=4]\nscan t {\n  H[t, i] = A[i] + H[t-1, i]\n}", "i"),
        ("tensor A[i]\ntensor H[t=3, i=4]\nscan t {\n  H[t, i] = A[i] * 2\n}\nH[-1, i] = A[i]", "i"),
        ("tensor A[j]\ntensor H[j=4]\nscan t {\n  H[t] = A[t] + H[t-1]\n}\nz[j] = 2 * H[j]", "j"),
    ],
)
def test_a_schedule_whose_blocks_a_state_cannot_have(text: str, index: str) -> None:
    says = f"'[AH]' is stored in blocks along {index}, and 'scan t' steps through it; store it without blocks"
    with pytest.raises(InputError, match=says):
        samhw.compile(parse(text), schedule=Schedule(blocks={index: 2})).run(A=np.arange(4))


def test_blocks_of_what_a_scan_reads_whole() -> None:
    text = (
        "tensor W[g=4, k=6]\ntensor c[k=6]\ntensor H[t=3]\n"
        "scan t {\n  Z = W[g, k] * c[k]\n  H[t] = Z + 2 * H[t-1]\n}"
    )
    w, c = np.arange(24).reshape(4, 6) % 5, np.arange(6) - 2
    for blocks in ({"k": 2}, {"g": 2, "k": 3}):
        found = samhw.compile(parse(text), schedule=Schedule(blocks=blocks)).run(W=w, c=c)
        assert found.tensors["H"].to_dense().tolist() == [(w @ c).sum() * n for n in (1, 3, 7)]


@pytest.mark.parametrize(
    "schedule", [{"lanes": {"n": 2}}, {"cascade": "auto"}, {"iteration": "global"}, {"permute": True}]
)
def test_schedules_change_no_result(schedule: dict[str, object]) -> None:
    rng = np.random.default_rng(0)
    design = samhw.compile(parse(RNN), schedule=Schedule(**schedule))
    shapes = {"X": (2, 3, 4), "W": (4, 3), "U": (3, 3), "I": (2, 3)}
    result = design.run({name: rng.integers(-2, 3, shape) for name, shape in shapes.items()})
    assert result.check().verdict == "right"


def test_a_step_is_not_split() -> None:
    text = "tensor X[t=4, h=4] : csr\nscan t {\n  H[t, h] = X[t, h] + H[t-1, h]\n}"
    with pytest.raises(InputError, match="'X' is split into parts, and 'scan t' steps through it"):
        samhw.compile(parse(text), schedule=Schedule(split={"X": "hyb(1, 2)"})).run(X=np.eye(4))


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("direction", ["", " down"])
def test_two_starts_from_one_tensor(direction: str, value: str) -> None:
    """A state that starts from one tensor twice has it before both steps."""
    step = -1 if direction else 1
    text = (
        f"tensor H[t=4, i=2]\ntensor B[i]\nscan t{direction} {{\n"
        f"  H[t, i] = H[t{-step:+d}, i] + 2 * H[t{-2 * step:+d}, i]\n}}\n"
        "H[-1, i] = B[i]\nH[-2, i] = B[i]"
    )
    b = np.array([1, 2])
    rows = [b, b]
    for _ in range(4):
        rows.append(rows[-1] + 2 * rows[-2])
    want = np.array(rows[2:])[::step]
    r = samhw.compile(text, value=value).run(B=b)
    np.testing.assert_array_equal(r["H"], want)
    assert r.check().good


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_a_check_of_a_scan_between_whose_regions_a_copy_stands(value: str) -> None:
    e = np.arange(6).reshape(3, 2) % 3
    text = (
        "tensor H[t=3, j=2, n=3] : dense\ntensor E[n=3, j=2]\nscan t {\n"
        "  Z[j, n] = H[t - 1, j, n] * E[n, j]\n  H[t, j, n] = Z[j, n] + 1\n}"
    )
    rows, h = [], np.zeros((2, 3))
    for _ in range(3):
        h = h * e.T + 1
        rows.append(h)
    r = samhw.compile(text, schedule={"permute": True}, value=value).run(E=e)
    np.testing.assert_array_equal(r["H"], rows)
    assert r.check().good
