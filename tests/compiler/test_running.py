"""Running reductions as graphs: orders, lanes, copies, and their rate."""

import numpy as np
import pytest

import samhw
from samhw.app.api.design_result import DesignResult
from samhw.errors import InputError

RNG = np.random.default_rng(0)
DENSE = RNG.integers(-2, 3, (6, 9))
SPARSE = DENSE * (RNG.random((6, 9)) < 0.4)


def run(text: str, schedule: object = None, **arrays: np.ndarray) -> DesignResult:
    result = samhw.compile(text, value="i32", **({"schedule": schedule} if schedule else {})).run(arrays)
    result.check()
    return result


def test_along_an_outer_index() -> None:
    """The order has the index of the running reduction innermost; storage against it wants a copy."""
    text = "C[i, j] = cumsum(i, A[i, j])"
    with pytest.raises(InputError, match=r"which runs along i, wants j outside i\); .*permute=True"):
        run(text, A=DENSE)
    found = samhw.compile(text, permute=True).run(A=DENSE)
    np.testing.assert_array_equal(found["C"], DENSE.cumsum(axis=0))
    columns = "tensor A[i, j] : dense @ (1, 0)\ntensor C[i, j] : dense @ (1, 0)\n"
    np.testing.assert_array_equal(run(columns + text, A=DENSE)["C"], DENSE.cumsum(axis=0))


def test_an_order_that_cannot_be() -> None:
    with pytest.raises(InputError, match="choose one in which j comes after i"):
        run("C[i, j] = cumsum(j, A[i, j])", {"order": {"C": ["j", "i"]}}, A=DENSE)


LANED = """
tensor A[i, j] : {storage}
tensor B[j, k] : dense
fuse {{
  C[i, j] = cum{op}(j, A[i, j]{exclusive})
  Y[i, j, k] = C[i, j] * B[j, k]
}}
"""


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("op", "exclusive"), [("sum", ""), ("prod", ", exclusive"), ("max", "")])
@pytest.mark.parametrize("lanes", [{"i": 3}, {"j": 2}, {"i": 2, "j": 3}])
def test_lanes(storage: str, op: str, exclusive: str, lanes: dict[str, int]) -> None:
    """A running reduction along the index with lanes stands outside of them."""
    matrix = RNG.integers(-2, 3, (9, 4))
    text = LANED.format(storage=storage, op=op, exclusive=exclusive)
    array = SPARSE if op != "prod" else np.sign(DENSE) + (DENSE == 0)
    found = run(text, {"lanes": lanes}, A=array, B=matrix)
    one = run(text, A=array, B=matrix)
    np.testing.assert_array_equal(found["Y"], one["Y"])


def test_what_is_not_stored_goes_on() -> None:
    """The format of the operand changes nothing; a mask restricts the points."""
    for storage in ("dense", "csr"):
        found = run(f"tensor A[i, j] : {storage}\nC[i, j] = cumsum(j, A[i, j])", A=SPARSE)["C"]
        np.testing.assert_array_equal(found, SPARSE.cumsum(axis=1))
    text = "tensor A[i, j] : csr\ntensor C[i, j] : csr\nC[i, j] = cumsum(j, A[i, j]) where A[i, j]"
    found = run(text, A=SPARSE).tensors["C"].to_dense()
    np.testing.assert_array_equal(found, np.where(SPARSE != 0, SPARSE.cumsum(axis=1), 0))


@pytest.mark.parametrize("value", ["f32", "bf16", "i32", "fixed<16,8>"])
@pytest.mark.parametrize("op", ["sum", "max", "prod"])
def test_a_value_a_cycle(value: str, op: str) -> None:
    """Whatever the latency of the operation: the cycles are the elements, and some to fill the pipeline."""
    count = 1000
    array = np.ones(count)
    if value == "bf16":
        array[100:] = 0 if op == "sum" else 1
    text = f"C[j] = cum{op}(j, v[j], exclusive)" if op != "max" else "C[j] = cummax(j, v[j])"
    array = array / 16 if value.startswith("fixed") and op == "sum" else array
    cycles = samhw.compile(text, value=value).run(v=array).cycles
    assert count < cycles < count + 90


def test_a_running_sum_ends_in_the_sum() -> None:
    """Bit for bit."""
    array = np.random.default_rng(5).normal(size=(20, 37)).astype(np.float32)
    sums = samhw.compile("s[i] = A[i, j]", value="f32").run(A=array)["s"]
    running = samhw.compile("C[i, j] = cumsum(j, A[i, j])", value="f32").run(A=array)["C"]
    np.testing.assert_array_equal(np.asarray(running)[:, -1], sums)


def test_products() -> None:
    array = RNG.integers(-2, 3, (5, 7))
    result = run("p[i] prod= A[i, j]\nq[j] prod= A[i, j] where A[i, j]", A=array)
    np.testing.assert_array_equal(result["p"], array.prod(axis=1))
    np.testing.assert_array_equal(
        result["q"], np.where(array != 0, array, 1).prod(axis=0) * (array != 0).any(0)
    )


def test_a_row_that_only_another_operand_has() -> None:
    """An exclusive product begins with a one, but not where the mask has nothing."""
    mask = np.array([1, 0, 1, 0, 0, 1])
    text = """
    tensor A[i, j] : csr
    tensor m[i] : (compressed)
    tensor b[i] : dense
    tensor T[i, j] : dense
    fuse {
      C[i, j] = cumprod(j, A[i, j], exclusive) where m[i]
      T[i, j] = C[i, j] + b[i]
    }
    """
    found = run(text, A=SPARSE, m=mask, b=np.arange(6))["T"]
    before = np.hstack([np.ones((6, 1), int), SPARSE.cumprod(axis=1)[:, :-1]])
    np.testing.assert_array_equal(found, before * mask[:, None] + np.arange(6)[:, None])
