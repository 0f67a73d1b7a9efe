"""Computed indices: what becomes of them, and what programs with them compute."""

import numpy as np
import pytest

import samhw
from samhw.app.api.design_result import DesignResult
from samhw.compiler.passes import apply_passes
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import dumps, parse
from samhw.lang.reference import evaluate_program
from tests.support.computed_programs import ComputedProgram, computed_program
from tests.support.thorough import THOROUGH

WINDOW = "tensor X[n=8]\ntensor K[d=3]\ntensor Y[i=4]\nY[i] = X[2*i + d - 1] * K[d]"


def placed(text: str) -> list[str]:
    return dumps(apply_passes(Job(parse(text)).lowerable(), "place_by_index").program).splitlines()


def test_what_may_lie_outside_is_selected() -> None:
    assert placed(WINDOW)[3:] == [
        "tensor X_places[i=4, d=3, n_2=8] : (dense, dense, singleton)",
        "tensor X_at[i=4, d=3] : dense",
        "tensor X_inside[i=4, d=3] : dense",
        "tensor X_near[i=4, d=3] : dense",
        "fuse {",
        "  X_near[i, d] = X[n_2] where X_places[i, d, n_2]",
        "  X_at[i, d] = select(X_inside[i, d], X_near[i, d], 0)",
        "  Y[i] = X_at[i, d] * K[d]",
        "}",
    ]


@pytest.mark.parametrize(
    ("text", "is_padded"),
    [
        ("tensor X[n=8]\ntensor Y[i=4]\nY[i] = X[2*i + 1]", False),
        ("tensor X[n=8]\ntensor Y[i=4]\nY[i] = X[2*i + 2]", True),
        ("tensor X[n=8]\ntensor Y[i=8]\nY[i] = X[-i + 7]", False),
        ("tensor X[n=8]\ntensor Y[i=8]\nY[i] = X[-i + 6]", True),
        ("tensor X[n=8]\ntensor Y[i=9]\nY[i] = X[wrap(i + 2)] + X[clamp(i - 2)]", False),
    ],
)
def test_where_nothing_lies_outside_nothing_is_selected(text: str, is_padded: bool) -> None:
    assert any("X_inside" in line for line in placed(text)) == is_padded


def test_an_extent_that_follows_keeps_accesses_inside() -> None:
    """In one statement; the others have to take it as it is."""
    follows = "tensor X[n]\nY[i] = X[i + 2] + X[2*i]"
    lowerable = samhw.compile(follows).run(X=np.arange(9)).compiled
    assert not any("inside" in name for name in lowerable.program.tensors)
    other = samhw.compile(f"{follows}\ntensor W[n]\nZ[i] = Y[i] + W[i + 1]").run(X=np.arange(9), W=[1])
    assert any("W_inside" in name for name in other.compiled.program.tensors)
    assert other.tensors["Z"].to_dense().tolist() == [2, 5, 8, 11, 14]


def test_one_design_takes_data_of_other_extents() -> None:
    design = samhw.compile("tensor X[n]\ntensor K[d]\nY[i] = X[2*i + d] * K[d]")
    for n, d in ((9, 3), (8, 2), (4, 3), (16, 5)):
        x, k = np.arange(n), np.arange(1, d + 1)
        result = design.run(X=x, K=k)
        want = [x[i : i + d] @ k for i in range(0, n - d + 1, 2)]
        assert result.tensors["Y"].to_dense().tolist() == want
        assert result.check().verdict == "right"


@pytest.mark.parametrize("value", ["bf16", "f8e4m3", "i8", "fixed<8,7>"])
def test_zeros_outside_and_the_same_bits_inside(value: str) -> None:
    x = np.arange(-4, 4) / (1 if value == "i8" else 8)
    text = "tensor X[n=8]\ntensor Y[i=12]\nY[i] = X[i - 2]"
    found = samhw.compile(text, value=value).run(X=x).tensors["Y"].to_dense()
    assert found.tolist() == [0, 0, *x, 0, 0]


def test_a_window_takes_a_cycle_for_each_element() -> None:
    text = "index d=4\ntensor X[n=64, f=8]\nY[i, f] = X[i + d, f]"
    result = samhw.compile(text).run(X=np.ones((64, 8)))
    assert "pick" in {node.kind for _, node in result.compiled.design.nodes}
    assert result.cycles < 61 * 4 * 9 + 61 * 20 + 60


def test_compressed_levels_meet_where_something_is_stored() -> None:
    """No zeros stand for what lies outside, and none are multiplied."""
    text = (
        "tensor X[n, m] : dcsr\ntensor M[n, m] : dcsr\ntensor K[a=3, b=3]\ntensor Y[n, m] : dcsr\n"
        "Y[n, m] = X[n + a - 1, m + b - 1] * K[a, b] where M[n, m]"
    )
    x, k = np.zeros((20, 20), int), np.arange(1, 10).reshape(3, 3)
    for place in ((0, 0), (0, 1), (7, 19), (19, 18), (12, 12)):
        x[place] = 3
    padded = np.pad(x, 1)
    want = [[(padded[i : i + 3, j : j + 3] * k).sum() * (x[i, j] != 0) for j in range(20)] for i in range(20)]
    result = samhw.compile(text).run(X=x, M=x != 0, K=k)
    assert np.array_equal(result.tensors["Y"].to_dense(), want)
    statistics = result.run.regions[-1].statistics
    assert statistics is not None
    assert statistics.nodes["mul"].firings < 60


@pytest.mark.parametrize("fuse", [None, "full"])
def test_an_extent_that_an_index_has_holds_beside_computed_ones(fuse: str | None) -> None:
    text = (
        "index t=2\ntensor X[s=2, h=2]\nR[s, h] = X[s, h]\nQ[j, h] = R[2*j + 1, h]\n"
        "scan t {\n  S[t, h] = R[t-1, h] + S[t-1, h]\n}"
    )
    found = samhw.compile(text, fuse=fuse).run(X=np.arange(4).reshape(2, 2))
    assert found.tensors["S"].to_dense().tolist() == [[0, 0], [0, 1]]
    assert found.tensors["Q"].to_dense().tolist() == [[2, 3]]


def ran(program: ComputedProgram, backend: str = "sim") -> DesignResult:
    parsed = parse(program.text)
    assert parse(dumps(parsed)) == parsed
    (result,) = parsed.outputs
    assert np.array_equal(evaluate_program(parsed, program.data)[result.name], program.expected), program.text
    found = samhw.compile(parsed, permute=True).run(program.data, backend=backend)
    assert np.array_equal(found.tensors[result.name].to_dense(), program.expected), program.text
    return found


@pytest.mark.filterwarnings("ignore:.*product by product")
def test_random_programs() -> None:
    for seed in range(1000 if THOROUGH else 12):
        ran(computed_program(seed))


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.filterwarnings("ignore:.*product by product")
@pytest.mark.parametrize(("backend", "count"), [("verilator", 60), ("hls", 30)])
def test_random_programs_in_hardware(backend: str, count: int) -> None:
    """With as many cycles as in the simulator, where there are cycles."""
    for seed in range(300, 300 + (count if THOROUGH else 1)):
        program = computed_program(seed)
        found = ran(program, backend)
        if backend == "verilator":
            assert found.cycles == ran(program).cycles


@pytest.mark.parametrize("fuse", ["none", "full"])
@pytest.mark.parametrize("storage", ["dense", "dense @ (1, 0)", "csr", "csc", "dcsr", "csf @ (1, 0)"])
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Y[i, i - 1] = x[i]", [[0, 0, 0], [2, 0, 0], [0, 3, 0]]),
        ("Y[i, -i] = 2 * x[i]", [[2, 0, 0], [0, 0, 0], [0, 0, 0]]),
        ("Y[2*i, i] = x[i]", [[1, 0, 0], [0, 0, 0], [0, 2, 0]]),
        ("Y[2*i, i - 1] = x[i]", [[0, 0, 0], [0, 0, 0], [2, 0, 0]]),
        ("Y[i, clamp(i - 1)] = x[i]", [[1, 0, 0], [2, 0, 0], [0, 3, 0]]),
        ("Y[i, wrap(i - 1)] = x[i]", [[0, 0, 1], [2, 0, 0], [0, 3, 0]]),
        ("Y[i, i + j - 1] = x[i] * x[j]", [[2, 3, 0], [2, 4, 6], [0, 3, 6]]),
    ],
)
def test_what_is_scattered_to_a_place_outside_is_dropped(
    statement: str, expected: list[list[int]], storage: str, fuse: str
) -> None:
    """Also where what the place is computed with is an index of the result, and read again."""
    text = f"tensor x[i]\ntensor Y[a=3, b=3] : {storage}\n{statement}\nz[b] = Y[a, b]"
    found = samhw.compile(parse(text), fuse=fuse, permute=True).run(x=[1, 2, 3])
    assert found.tensors["z"].to_dense().tolist() == np.sum(expected, 0).tolist()
    if fuse == "none":
        assert found.tensors["Y"].to_dense().tolist() == expected


@pytest.mark.parametrize("fuse", ["none", "kinds", "full", "auto"])
@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("S[n] = cumsum(n, A[n])", [1, 3, 6, 10]),
        ("S[n] = recur(n, 2, A[n])", [1, 4, 11, 26]),
        ("S[n] = 2 * A[n]", [2, 4, 6, 8]),
    ],
)
def test_a_sum_that_is_used_inside_of_its_own_index(first: str, expected: list[int], fuse: str) -> None:
    """At two places, one of them beside what the sum is over: where streams cannot follow, regions end."""
    text = f"{first}\nT[i] = B[i] * S[j]\ny = S[j] * T[wrap(j + 1)] + T[wrap(i + 1)]"
    b, s = np.array([2, 1, 0, 1]), np.array(expected)
    found = samhw.compile(text, fuse=fuse).run(A=[1, 2, 3, 4], B=b)
    t = b * s.sum()
    assert found.tensors["y"].to_dense() == s @ np.roll(t, -1) + t.sum()


@pytest.mark.parametrize("text", ["Y[i] = X[i + d]", "Y[i, d] = X[i + d]"])
def test_an_extent_that_nothing_gives(text: str) -> None:
    with pytest.raises(
        InputError, match=r"Nothing gives the extent of index \w in 'text'; declare it, as in"
    ):
        samhw.compile(text).run(X=np.ones(8))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_blocks_along_other_indices(value: str, size: int) -> None:
    """What a pass gathers or scatters lies in the blocks of its dimensions."""
    a, places = np.arange(20).reshape(4, 5) % 7, np.array([2, 0, 1, 1, 4])
    left = np.hstack([a[:, 1:], np.zeros((4, 1))])
    spread = np.zeros((4, 9))
    spread[:, ::2] = a
    for text, want in (
        ("Y[i, j] = A[i, wrap(j + 1)] * 2", 2 * np.roll(a, -1, 1)),
        ("Y[i, j] = A[i, j + 1] * A[i, j]", left * a),
        ("tensor P[j]\nY[i, j] = A[i, P[j]]", a[:, places]),
        ("tensor Y[a=4, b=9] : dense\nY[i, 2*j] = A[i, j]", spread),
    ):
        data = {"A": a, **({"P": places} if "P" in text else {})}
        r = samhw.compile(text, schedule={"blocks": {"i": size}, "permute": True}, value=value).run(data)
        np.testing.assert_array_equal(r["Y"], want)
        assert r.check().good


def test_blocks_along_what_is_computed_are_refused() -> None:
    design = samhw.compile("Y[i, j] = A[i, wrap(j + 1)]", schedule={"blocks": {"j": 5}})
    with pytest.raises(InputError, match="blocks of 5 along j; store them without blocks along j"):
        design.run(A=np.ones((4, 5)))
