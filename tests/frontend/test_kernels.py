import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.errors import InputError
from samhw.lang import dumps, kernel_description, kernel_names, load_kernel, parse

STATEMENTS = {
    "batched_sddmm": "X[h, i, j] = B[h, i, j] * C[h, i, k] * D[h, k, j]    order h, i, j, k",
    "batched_spmm": "T[h, i, j] = A[h, i, k] * X[h, k, j]    order h, i, k, j",
    "innerprod": "x = B[i, j, k] * C[i, j, k]    order i, j, k",
    "mattransmul": "x[i] = alpha * B[j, i] * c[j] + beta * d[i]    order i, j",
    "mmadd": "X[i, j] = B[i, j] + C[i, j]    order i, j",
    "mttkrp": "X[i, j] = B[i, k, l] * C[j, k] * D[j, l]    order i, k, l, j",
    "plus2": "X[i, j, k] = B[i, j, k] + C[i, j, k]    order i, j, k",
    "plus3": "X[i, j] = B[i, j] + C[i, j] + D[i, j]    order i, j",
    "pruned_linear": "Y[o, t] = W[o, i] * X[i, t]    order o, i, t",
    "residual": "x[i] = b[i] - C[i, j] * d[j]    order i, j",
    "rgcn": "Y[i, l] = A[r, i, j] * X[j, k] * W[r, k, l]    order i, r, j, k, l",
    "sddmm": "X[i, j] = B[i, j] * C[i, k] * D[k, j]    order i, j, k",
    "sparse_convolution": "Y[i, l] = A[d, i, j] * X[j, k] * W[d, k, l]    order i, d, j, k, l",
    "spmm": "T[i, j] = A[i, k] * X[k, j]    order i, k, j",
    "spmv": "x[i] = B[i, j] * c[j]    order i, j",
    "ttm": "X[i, j, k] = B[i, j, l] * C[k, l]    order i, j, k, l",
    "ttv": "X[i, j] = B[i, j, k] * c[k]    order i, j, k",
    **{
        f"spmspm_{order}": f"X[i, j] = B[i, k] * C[k, j]    order {', '.join(order)}"
        for order in ("ijk", "ikj", "jik", "jki", "kij", "kji")
    },
}


def test_names():
    assert kernel_names() == tuple(sorted(STATEMENTS))


@pytest.mark.parametrize("name", STATEMENTS)
def test_kernel(name):
    program = load_kernel(name)
    assert program.name == name
    assert [str(statement) for statement in program.statements] == [STATEMENTS[name]]
    assert parse(dumps(program)) == program
    assert all(extent is None for decl in program.tensors.values() for extent in decl.shape)


@pytest.mark.parametrize("name", STATEMENTS)
def test_storage_is_concordant_with_the_order(name):
    program = load_kernel(name)
    (statement,) = program.statements
    order = statement.order
    assert order is not None
    for access in statement.accesses:
        storage = program.tensors[access.tensor].format
        depths = [order.index(access.names[mode]) for mode in storage.mode_order]
        assert depths == sorted(depths), access


@pytest.mark.parametrize("name", STATEMENTS)
def test_description(name):
    description = kernel_description(name)
    assert description[0].isupper()
    assert description[-1].isalnum() or description[-1] == ")"
    assert len(description) < 90


def test_an_unknown_name():
    with pytest.raises(
        InputError, match=r"there is no built-in program 'spmw'; there are batched_sddmm, .*, ttv$"
    ):
        load_kernel("spmw")
    with pytest.raises(InputError, match=r"there is no built-in program '\.\./kernels/spmv'"):
        kernel_description("../kernels/spmv")


def test_relations_store_nothing_in_between() -> None:
    """The product of features and weights, of which there is one for each relation and node, is not stored:
    memories on the chip are those of A, X, W and Y, of their own sizes."""
    workload = bind_program("rgcn", ["random:size=12"])
    compiled = compile_workload(workload)
    words: dict[str, int] = {}
    for memory in compiled.design.memories:
        words[memory.tensor] = words.get(memory.tensor, 0) + memory.words
    assert words.keys() == {"A", "X", "W", "Y"}
    capacity = workload.capacity()
    assert words["X"] == 16 * 16
    assert words["W"] == 16**3
    assert words["A"] <= 6 * capacity.entries["A"] + 16
