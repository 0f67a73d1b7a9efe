"""Reshapes and concatenations: what they are lowered to, what they give, and the extents of their results."""

from itertools import product

import numpy as np
import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

FORMATS = ("dense", "csr", "dcsr", "(compressed, dense)")


def random_data(program: Program, seed: int = 0) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    tensors = {}
    for decl in program.inputs:
        shape = tuple(n or 1 for n in decl.shape)
        array = rng.integers(-9, 10, shape) * (rng.random(shape) < 0.5)
        tensors[decl.name] = Tensor.from_dense(array, decl.format)
    return tensors


def run_on(compiled: Compiled, program: Program, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The outputs of a run, which are NumPy's."""
    outputs = run(compiled, tensors).outputs
    assert check(Workload("moves", program, tensors), compiled, outputs).good
    return outputs


def result(text: str, **options: object) -> tuple[Compiled, dict[str, Tensor]]:
    """The text compiled and run on random data."""
    program = parse(text).bind({})
    tensors = random_data(program)
    compiled = compile_workload(Workload("moves", program, tensors), **options)
    return compiled, run_on(compiled, program, tensors)


def kinds(compiled: Compiled) -> list[str]:
    return [node.kind for _, node in compiled.design.nodes]


# Concatenations


PARTS = """
tensor A[i=3, k=5] : csr
tensor X[k, j=4] : dense
tensor B[{shape}] : {b}
tensor T[i, j] : {a}
tensor U[{shape}] : {b}
tensor C[i, j] : {stored}
tensor Y[i, j] : dense
fuse {{
  T[i, j] = A[i, k] * X[k, j]
  U[i, j] = max(B[i, j], 0)
  C[i, j] = concat({index}, T[i, j], B[i, j], U[i, j])
  Y[i, j] = 2 * C[i, j]
}}
"""


@pytest.mark.parametrize("index", ["i", "j"])
def test_concat_of_what_the_region_computes(index: str) -> None:
    shape = "i=2, j=4" if index == "i" else "i=3, j=2"
    for a, b, stored in (("dense", "csr", "dcsr"), ("csr", "dcsr", "dense"), ("dcsr", "dense", "csr")):
        text = PARTS.format(shape=shape, index=index, a=a, b=b, stored=stored)
        compiled, _ = result(text)
        # Along the last row all is one region; else a part would be a nest of rows.
        assert (len(compiled.regions) == 1) == (index == "j")


def test_parts_share_what_the_region_computes_for_others() -> None:
    """T is a part twice, and read beside the concatenation, under another name of its index."""
    text = """
    tensor A[i=3, j=4] : dense
    tensor b[j] : dense
    tensor W[m=8, h=2] : dense
    fuse {
      T[i, j] = A[i, j] * b[j]
      C[i, m] = concat(m, T[i, m], T[i, m])
      Y[i, h] = C[i, m] * W[m, h]
      Z[i, j] = T[i, j] + 1
    }
    """
    compiled, _ = result(text)
    (region,) = compiled.regions
    assert {c.tensor: c.how for c in region.computations}["T"] != "recompute"
    assert sum(node.params.get("op") == "mul" for node in region.graph.nodes) == 2


@pytest.mark.parametrize("function", ["exp", "relu"])
def test_parts_that_have_values_everywhere(function: str) -> None:
    text = (
        "tensor A[i=5, j=4] : dcsr\ntensor B[i, j=2] : csr\ntensor C[i, j] : dcsr\nfuse {\n"
        f"  T[i, j] = {function}(A[i, j])\n  C[i, j] = concat(j, B[i, j], T[i, j])\n}}\n"
    )
    compiled, _ = result(text, value=value_type("f32"))
    assert len(compiled.regions) == 1


def test_a_reshape_ends_its_block() -> None:
    text = (
        "tensor A[i=3, j=4] : csr\ntensor T[i, j] : dense\ntensor R[a=6, b=2] : dense\nfuse {\n"
        "  T[i, j] = 2 * A[i, j]\n  R[a, b] = reshape(T[i, j])\n  Y[a, b] = R[a, b] + 1\n}\n"
    )
    compiled, _ = result(text)
    assert [r.region.statements[0].lhs.tensor for r in compiled.regions] == ["T", "Y"]


@pytest.mark.parametrize("index", ["i", "j"])
@pytest.mark.parametrize("stored", FORMATS)
def test_concat_of_all_formats(index: str, stored: str) -> None:
    shape = "i=2, j=4" if index == "i" else "i=3, j=2"
    for a, b in product(FORMATS, FORMATS):
        result(
            f"tensor A[i=3, j=4] : {a}\ntensor B[{shape}] : {b}\ntensor C[i, j] : {stored}\n"
            f"C[i, j] = concat({index}, A[i, j], B[i, j])"
        )


@pytest.mark.parametrize("index", "ijk")
def test_concat_of_rank_3(index: str) -> None:
    extents = {"A": {"i": 2, "j": 3, "k": 4}, "B": {"i": 2, "j": 3, "k": 4} | {index: 5}}
    a, b = (", ".join(f"{i}={n}" for i, n in extents[name].items()) for name in "AB")
    for dense, other, whole in (("dense", "csf", "dense"), ("csf", "(compressed, dense, compressed)", "csf")):
        result(
            f"tensor A[{a}] : {dense}\ntensor B[{b}] : {other}\ntensor C[i, j, k] : {whole}\n"
            f"C[i, j, k] = concat({index}, A[i, j, k], B[i, j, k], A[i, j, k])"
        )


def test_dense_parts_make_up_a_dense_whole() -> None:
    text = "tensor A[i=3, j=4]\ntensor B[i, j=2]\nC[i, j] = concat(j, A[i, j], B[i, j], A[i, j])"
    compiled, _ = result(text)
    assert kinds(compiled).count("scan_dense") == 4  # i, and j of each part
    assert kinds(compiled).count("union") == 1
    assert kinds(compiled).count("shift") == 3
    assert kinds(compiled).count("locate") == 2
    shifts = [node.params["extent"] for _, node in compiled.design.nodes if node.kind == "shift"]
    assert shifts == ["j_2", "j_2", "j_3"]
    outer, _ = result(text.replace("concat(j", "concat(i").replace("B[i, j=2]", "B[i=5, j]"))
    assert kinds(outer).count("scan_dense") == 4  # i of each part, and j
    assert kinds(outer).count("locate") == 3


def test_table_of_a_concatenation() -> None:
    text = "tensor A[i=3, j=4] : csr\ntensor B[i, j=2] : dense\nC[i, j] = concat(j, A[i, j], B[i, j])"
    (region,) = compile_job(Job(parse(text))).regions
    assert region.table.grid() == [
        ["", "A[i,j]", "B[i,j]", "C[i, j]"],
        ["i", "LS(root)", "Locate(root)", "LW(C_i)"],
        ["j", "Union_j: LS(⟨A_i⟩)", "Union_j: LS(⟨B_i⟩) + N(j_2)", "LW(C_j)"],
        ["val", "Val(⟨A_j⟩)", "Val(⟨B_j⟩)", "concat(⟨A_val⟩, ⟨B_val⟩)"],
    ]


def test_a_compressed_whole_does_not_store_the_zeros_of_a_dense_part() -> None:
    text = "tensor A[i=3, j=4] : csr\ntensor B[i, j=9] : dense\ntensor C[i, j] : csr\n"
    _, outputs = result(f"{text}C[i, j] = concat(j, A[i, j], B[i, j])")
    assert np.all(outputs["C"].vals != 0)
    assert len(outputs["C"].vals) < 3 * 13


def test_what_reads_a_concatenation_is_fused_with_it() -> None:
    text = (
        "tensor A[i=3, j=4] : csr\ntensor B[i, j=2] : dense\ntensor W[j=6, h=5]\ntensor b[h]\nfuse {\n"
        "C[i, j] = concat(j, A[i, j], B[i, j])\nP[i, h] = C[i, j] * W[j, h]\nY[i, h] = P[i, h] + b[h]\n}"
    )
    compiled, outputs = result(text)
    assert list(outputs) == ["Y"]
    assert kinds(compiled).count("shift") == 1
    # W is located at the coordinates of the whole.
    (locate,) = (node for _, node in compiled.design.nodes if node.name == "locate_W_j")
    assert locate.params["extent"] == "j"


def test_a_whole_that_no_tensor_stores_has_its_own_extent() -> None:
    """And not the 8 elements that the build has room for, of which two would be least."""
    program = parse(
        "tensor A[i=3, n=3] : csr\ntensor C[i, m=6] : csr\ntensor Y[k=3, i] : csc\nfuse {\n"
        "C[i, n] = concat(n, A[i, n], A[i, n])\nY[k, i] bottom= C[i, m]\n}"
    )
    tensors = {"A": Tensor.from_dense(np.full((3, 3), 2.0), "csr")}
    workload = Workload("moves", program, tensors)
    compiled = compile_workload(workload)
    assert not any(b.name == "C" for b in compiled.design.tensors)
    outputs = run(compiled, tensors).outputs
    assert check(workload, compiled, outputs).good
    np.testing.assert_array_equal(outputs["Y"].to_dense(), 2)


def test_a_tensor_and_its_transpose() -> None:
    _, outputs = result(
        "tensor A[i=3, j=3] : dense\ntensor C[i, j] : dense\nC[i, j] = concat(i, A[i, j], A[j, i])",
        schedule=Schedule(permute=True),
    )
    top, bottom = np.split(outputs["C"].to_dense(), 2)
    assert np.array_equal(top, bottom.T)


def test_a_part_stored_the_other_way_is_copied_first() -> None:
    text = "tensor A[i=3, j=4] : csr\ntensor B[i, j=2] : csc\nC[i, j] = concat(j, A[i, j], B[i, j])"
    with pytest.raises(ScheduleError, match="permit permuted copies"):
        result(text)
    compiled, _ = result(text, schedule=Schedule(permute=True))
    assert [region.copy is not None for region in compiled.regions] == [True, False]


@pytest.mark.parametrize("value", ["i32", "f32", "bf16", "fixed<16,8>"])
def test_values_pass_unchanged(value: str) -> None:
    program = parse("tensor a[i=4]\ntensor b[i=4]\nc[i] = concat(i, a[i], b[i])").bind({})
    floating = value in ("f32", "bf16")
    a = np.array([np.inf, -1.5, 0, 2.0**-100] if floating else [1, -1, 0, 100])
    b = np.array([0, -np.inf, 3, 2.0**100] if floating else [-100, 0, 7, 8])
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in (("a", a), ("b", b))}
    compiled = compile_workload(Workload("moves", program, tensors), value=value_type(value))
    assert run(compiled, tensors).outputs["c"].to_dense().tolist() == [*a, *b]


def test_orders_of_a_concatenation() -> None:
    text = "tensor A[i=3, j=4]\ntensor B[i, j=2]\nC[i, j] = concat(j, A[i, j], B[i, j])"
    assert compile_job(Job(parse(text), Schedule(order=("i", "j")))).regions[0].order == ("i", "j")
    with pytest.raises(InputError, match="visits j outside i, but A"):
        compile_job(Job(parse(text), Schedule(order=("j", "i"))))


def test_too_many_parts() -> None:
    parts = ", ".join(["a[i]"] * 11)
    with pytest.raises(ScheduleError, match="11 streams meet at i"):
        compile_job(Job(parse(f"tensor a[i=3]\nc[i] = concat(i, {parts})")))
    result(f"tensor a[i=3]\nc[i] = concat(i, {parts.removesuffix(', a[i]')})")


def test_parts_have_dimensions_of_their_own() -> None:
    program = parse(
        "tensor A[i=3, j=4]\ntensor B[i, j=2]\nC[i, j] = concat(j, A[i, j], B[i, j])\nD[i, j] = 2 * A[i, j]"
    )
    dimensions = program.dimensions
    whole, first, second = (dimensions.of_tensor(name)[1] for name in "CAB")
    assert len({whole, first, second}) == 3
    assert dimensions.of_tensor("D") == ("i", first)
    assert dimensions.of_statement(program.statements[0]) == {"i": "i", "j": whole}


# Reshapes


@pytest.mark.parametrize(
    ("shape", "other"),
    [("m=12", "h=3, d"), ("i=2, j=6", "m"), ("i=2, j=6", "a=3, b=2, c"), ("m=1", ""), ("", "m")],
)
def test_reshape(shape: str, other: str) -> None:
    def access(name: str, modes: str) -> str:
        indices = ", ".join(mode.partition("=")[0] for mode in modes.split(", "))
        return f"{name}[{indices}]" if indices else name

    def declaration(name: str, modes: str) -> str:
        return f"tensor {name}[{modes}]" if modes else f"tensor {name}"

    other = other.replace("m", "n")
    text = f"{declaration('T', shape)}\n{declaration('R', other)}\n"
    compiled, _ = result(f"{text}{access('R', other)} = reshape({access('T', shape)})")
    assert kinds(compiled)[-2:] == ["array", "write_val"]


def test_table_of_a_reshape() -> None:
    text = "tensor T[m=12]\ntensor R[h=3, d]\nR[h, d] = reshape(T[m])"
    (region,) = compile_job(Job(parse(text))).regions
    assert region.order == ("m",)
    assert region.table.grid() == [
        ["", "T[m]", "R[h, d]"],
        ["m", "LS(root)", ""],
        ["val", "Val(⟨T_m⟩)", "reshape(⟨T_val⟩)"],
    ]


def test_a_reshape_has_no_order() -> None:
    program = parse("tensor T[m=12]\ntensor R[h=3, d]\nR[h, d] = reshape(T[m])")
    with pytest.raises(InputError, match=r"copies element by element, .* leave the order out"):
        compile_job(Job(program, Schedule(order=("m", "h", "d"))))


# Extents

SPLIT = parse("""
tensor A[i, a]
tensor B[i, b] : csr
tensor R[p, h=4]
C[i, j] = concat(j, A[i, j], B[i, j])
R[p, h] = reshape(C[i, j])
s[p] = R[p, h]
""")


def split(i: int, a: int, b: int) -> tuple[Program, dict[str, Tensor]]:
    program = SPLIT.bind({"A": (i, a), "B": (i, b)})
    return program, random_data(program)


def test_one_build_runs_data_of_several_shapes() -> None:
    program, tensors = split(4, 5, 6)
    compiled = compile_workload(Workload("moves", program, tensors))
    for shape in ((4, 5, 6), (2, 3, 5), (4, 1, 1), (1, 2, 2)):
        other, data = split(*shape)
        assert run_on(compiled, other, data)["C"].shape == (shape[0], shape[1] + shape[2])


def test_extents_that_do_not_divide() -> None:
    message = "cannot make 10 elements with extents of 4; choose extents that divide"
    with pytest.raises(InputError, match=message):
        split(2, 2, 3)
    compiled = compile_workload(Workload("moves", *split(4, 5, 6)))
    tensors = {
        name: Tensor.from_dense(np.ones(shape), SPLIT.tensors[name].format)
        for name, shape in (("A", (2, 2)), ("B", (2, 3)))
    }
    with pytest.raises(InputError, match=message):
        run(compiled, tensors)


def test_extents_that_the_build_has_no_room_for() -> None:
    program = parse("tensor a[i]\ntensor R[p, h=2]\nR[p, h] = reshape(a[i])")
    small, large = (program.bind({"a": (n,)}) for n in (6, 8))
    compiled = compile_workload(Workload("moves", small, random_data(small)))
    assert compiled.design.extents == {"p": 4, "h": 2, "i": 8}
    run_on(compiled, large, random_data(large))
    narrow = compile_job(Job(parse("tensor a[i=6]\ntensor R[p=3, h=2]\nR[p, h] = reshape(a[i])")))
    with pytest.raises(InputError, match="'a' has extent i=8, but this build takes 6"):
        run(narrow, random_data(large))


def test_extents_that_nothing_fixes() -> None:
    program = parse("tensor a[i]\ntensor R[p, h]\nR[p, h] = reshape(a[i])")
    with pytest.raises(InputError, match="Nothing gives the extent of index p"):
        compile_job(Job(program.bind({"a": (6,)})))


def test_a_concatenation_of_concatenations_ends_its_region() -> None:
    """Of one fiber after itself a union could not be made without room for all of it."""
    program = parse("""
    tensor a[i=3] : dense
    tensor b[j=2] : csf
    fuse {
      t[i] = a[i] * 2
      u[n] = concat(n, t[n], b[n])
      v[m] = concat(m, u[m], u[m], a[m])
    }
    """)
    work = make_workload(program, ["random:density=0.7"])
    compiled = compile_workload(work, value=value_type("i32"))
    assert [region.region.label for region in compiled.regions] == ["u", "v"]
    assert "a concatenation that its region computes as well" in (compiled.regions[0].note or "")
    assert check(work, compiled, run(compiled, work.tensors).outputs).good


def test_what_is_summed_of_a_part_with_rows_inside_ends_its_region() -> None:
    """The row along which the parts go lies outside of the sum, in which the concatenation stands."""
    program = parse("""
    tensor a[i=3, j=4] : csr
    tensor b[k=2, j] : csr
    fuse {
      t[i, j] = a[i, j] * 2
      u[n, j] = concat(n, t[n, j], b[n, j])
      v[n] = u[n, j]
    }
    """)
    work = make_workload(program, ["random:density=0.7"])
    compiled = compile_workload(work, value=value_type("i32"))
    assert [region.region.label for region in compiled.regions] == ["t", "v"]
    assert "takes a part that its region computes, with j inside" in (compiled.regions[0].note or "")
    assert check(work, compiled, run(compiled, work.tensors).outputs).good
