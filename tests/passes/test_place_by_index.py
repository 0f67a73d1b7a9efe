"""Index tensors: what becomes of them, and what programs with them compute."""

from collections.abc import Mapping

import numpy as np
import pytest

import samhw
from samhw.app.api.design_result import DesignResult
from samhw.compiler.passes import apply_passes
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import dumps, parse
from samhw.lang.reference import evaluate_program
from tests.support.gathered_programs import GatheredProgram, gathered_program
from tests.support.thorough import THOROUGH

GATHER = "tensor src[e=5]\ntensor E[n=4, f=3]\nY[e, f] = E[src[e], f]\n"
SCATTER = "tensor dst[e=5]\ntensor M[e, f=3]\ntensor Y[n=4, f]\nY[dst[e], f] = M[e, f]\n"
MESSAGES = (
    "tensor src[e=7]\ntensor dst[e]\ntensor w[e]\ntensor X[n=4, f=3]\ntensor Y[n=4, f]\n"
    "Y[dst[e], f] = w[e] * X[src[e], f]    order e, f\n"
)


def placed(text: str) -> str:
    return dumps(apply_passes(Job(parse(text)).lowerable(), "place_by_index").program)


def test_a_gather_is_a_sum_under_a_mask_with_a_point_in_each_row() -> None:
    assert placed(GATHER) == (
        "tensor E[n=4, f=3] : dense\n"
        "tensor Y[e=5, f=3] : dense\n"
        "tensor E_places[e=5, n_2=4] : (dense, singleton)\n"
        "tensor E_at[e=5, f=3] : dense\n"
        "fuse {\n"
        "  E_at[e, f] = E[n_2, f] where E_places[e, n_2]\n"
        "  Y[e, f] = E_at[e, f]\n"
        "}\n"
    )


def test_a_scatter_is_a_sum_under_a_mask_with_its_rows_by_the_places() -> None:
    assert placed(SCATTER).splitlines()[-1] == "Y[n_2, f] = M[e, f] where Y_places[e, n_2]"
    assert "tensor Y_places[e=5, n_2=4] : csc" in placed(SCATTER)


def test_what_is_computed_and_scattered_keeps_its_order() -> None:
    assert placed(MESSAGES).splitlines()[-4:] == [
        "  X_at[e, f] = X[n_2, f] where X_places[e, n_2]",
        "  Y_from[e, f] = w[e] * X_at[e, f]    order e, f",
        "  Y[n_3, f] = Y_from[e, f] where Y_places[e, n_3]",
        "}",
    ]


def test_what_it_leaves_is_compiled_to_the_same() -> None:
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 4, (2, 7))
    w, x = rng.integers(-3, 4, 7), rng.integers(-3, 4, (4, 3))
    before = samhw.compile(parse(MESSAGES)).run(src=src, dst=dst, w=w, X=x)
    hot = np.eye(4, dtype=int)
    after = samhw.compile(parse(placed(MESSAGES))).run(X_places=hot[src], Y_places=hot[dst], w=w, X=x)
    assert np.array_equal(after.tensors["Y"].to_dense(), before.tensors["Y"].to_dense())
    assert after.cycles == before.cycles


def kinds(result: DesignResult) -> set[str]:
    return {node.kind for _, node in result.compiled.design.nodes}


def test_a_gather_has_no_reducer_and_takes_a_cycle_a_value() -> None:
    rng = np.random.default_rng(1)
    src, table = rng.integers(0, 40, 64), rng.integers(-4, 5, (40, 8))
    text = "tensor src[e]\ntensor E[n, f]\nY[e, f] = E[src[e], f]"
    result = samhw.compile(parse(text)).run(src=src, E=table)
    assert np.array_equal(result.tensors["Y"].to_dense(), table[src])
    assert "pick" in kinds(result)
    assert "reduce_vector" not in kinds(result)
    # 64 fibers of 8 values and a stop, and the way through the graph.
    assert result.cycles < 64 * 9 + 30


def test_edge_lists_are_one_region() -> None:
    rng = np.random.default_rng(2)
    src, dst = rng.integers(0, 4, (2, 7))
    w, x = rng.integers(-3, 4, 7), rng.integers(-3, 4, (4, 3))
    want = np.zeros((4, 3), int)
    np.add.at(want, dst, w[:, None] * x[src])
    result = samhw.compile(parse(MESSAGES.replace("    order e, f", ""))).run(src=src, dst=dst, w=w, X=x)
    assert np.array_equal(result.tensors["Y"].to_dense(), want)
    assert len(result.compiled.regions) == 1
    assert result.check().verdict == "right"


def test_rows_of_a_sparse_matrix() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(-3, 4, (6, 9)) * (rng.random((6, 9)) < 0.3)
    src = np.array([5, 0, 5, 2])
    text = "tensor src[e]\ntensor A[n, f] : csr\ntensor Y[e, f] : csr\nY[e, f] = A[src[e], f]"
    result = samhw.compile(parse(text)).run(src=src, A=a)
    assert (result.tensors["Y"].to_dense() == a[src]).all()
    assert "pick" in kinds(result)


def test_other_data_name_other_places() -> None:
    design = samhw.compile(parse(GATHER))
    table = np.arange(12).reshape(4, 3)
    for src in ([0, 1, 2, 3, 3], [3, 3, 0, 0, 1]):
        assert np.array_equal(design.run(src=src, E=table).tensors["Y"].to_dense(), table[src])


@pytest.mark.parametrize("value", ["bf16", "i8", "fixed<8,7>"])
def test_places_are_no_values_of_the_type(value: str) -> None:
    table = np.arange(600).reshape(300, 2) % 2 / 4
    src = np.array([299, 257, 0])
    table = table * 4 if value == "i8" else table
    text = "tensor src[e]\ntensor E[n, f]\nY[e, f] = E[src[e], f]"
    result = samhw.compile(parse(text), value=value).run(src=src, E=table)
    assert np.array_equal(result.tensors["Y"].to_dense(), table[src])
    assert result.check().verdict == "right"


@pytest.mark.parametrize("src", [[0, 1, 2, 3, 4], [0, 0, -1, 0, 0], [0, 0.5, 0, 0, 0]])
@pytest.mark.parametrize("text", [GATHER, SCATTER])
def test_a_number_that_is_no_place(text: str, src: list[float]) -> None:
    program = parse(text)
    name, other = (decl.name for decl in program.operands)
    data: Mapping[str, object] = {name: src, other: np.ones((4 if other == "E" else 5, 3))}
    told = {4: "4", -1: "-1", 0.5: "0.5"}[next(x for x in src if x not in (0, 1, 2, 3))]
    with pytest.raises(InputError, match=f"holds {told}, which is none of the places 0 to 3; fix"):
        samhw.compile(program).run(data)
    with pytest.raises(InputError, match="names a place outside of 0 to 3; fix"):
        evaluate_program(program, {key: np.asarray(array) for key, array in data.items()})


def ran(program: GatheredProgram, backend: str = "sim") -> DesignResult:
    parsed = parse(program.text)
    assert parse(dumps(parsed)) == parsed
    (result,) = parsed.outputs
    assert (evaluate_program(parsed, program.data)[result.name] == program.expected).all()
    found = samhw.compile(parsed, permute=True).run(program.data, backend=backend)
    assert np.array_equal(found.tensors[result.name].to_dense(), program.expected), program.text
    return found


@pytest.mark.filterwarnings("ignore:.*product by product")
def test_random_programs() -> None:
    for seed in range(1000 if THOROUGH else 12):
        ran(gathered_program(seed))


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.filterwarnings("ignore:.*product by product")
@pytest.mark.parametrize(("backend", "count"), [("verilator", 60), ("hls", 30)])
def test_random_programs_in_hardware(backend: str, count: int) -> None:
    """With as many cycles as in the simulator, where there are cycles."""
    for seed in range(count if THOROUGH else 1):
        program = gathered_program(seed)
        found = ran(program, backend)
        if backend == "verilator":
            assert found.cycles == ran(program).cycles


@pytest.mark.parametrize(
    ("text", "blocks", "reason"),
    [
        (
            "Y[k, j] = A[P[k], j]",
            {"k": 2},
            r"'A\[P\[k\], j\]' names places .* blocks of 2 along k; store them",
        ),
        (
            "Y[k, j] = A[P[k], j]",
            {"a": 2},
            r"'A\[P\[k\], j\]' names places .* blocks of 2 along a; store them",
        ),
        (
            "Y[k, j] = A[wrap(k + 1), j]",
            {"k": 3},
            r"'A\[wrap\(k \+ 1\), j\]' names .* of 3 along k; store them",
        ),
    ],
)
def test_places_are_not_in_blocks(text: str, blocks: dict[str, int], reason: str) -> None:
    program = parse(f"tensor A[a=4, b=4]\n{'tensor P[c]' * ('P' in text)}\nindex k=4\n{text}")
    data = {"A": np.arange(16).reshape(4, 4), "P": np.array([2, 0, 1, 3])}
    data = {name: array for name, array in data.items() if name in program.tensors}
    with pytest.raises(InputError, match=reason):
        samhw.compile(program, schedule={"blocks": blocks}).run(data)


def test_blocks_beside_places() -> None:
    """Along an index that no place follows from, all may lie in blocks; those at the edge have fewer."""
    program = parse(
        "tensor A[a=4, b=5]\ntensor P[c]\nY[k, j] = 2 * A[P[k], j]\nZ[k, j] = A[k - 1, j] + 1\n"
        "tensor S[a=4, b=5]\nS[P[k], j] = A[k, j] * 3"
    )
    a, p = np.arange(20).reshape(4, 5), np.array([2, 0, 1, 1])
    s = np.zeros((4, 5), int)
    np.add.at(s, p, 3 * a)
    for size in (2, 5):
        found = samhw.compile(program, schedule={"blocks": {"j": size}}).run(A=a, P=p)
        assert np.array_equal(found.tensors["Y"].to_dense(), 2 * a[p])
        assert np.array_equal(found.tensors["Z"].to_dense(), np.pad(a, ((1, 0), (0, 0))) + 1)
        assert np.array_equal(found.tensors["S"].to_dense(), s)


def test_what_is_picked_stays_in_the_sum_over_its_rows() -> None:
    """What a pick gives depends on the rows of what names its places, though it has no index of theirs."""
    windows = np.stack([np.eye(4, dtype=int)[y : y + 2] for y in range(3)])
    text = "tensor x[p=4]\ntensor P[y=3, u=2, p] : (dense, dense, singleton)\nY[y] = x[p] * P[y, u, p]"
    result = samhw.compile(text).run(x=[1, 2, 3, 4], P=windows)
    assert result.tensors["Y"].to_dense().tolist() == [3, 5, 7]
    assert "pick" in kinds(result)
