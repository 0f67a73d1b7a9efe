"""The fusion tables of known statements, as in figures 9 and 20 of the FuseFlow paper."""

from samhw.choices.schedule import Schedule
from samhw.compiler.fusion_table import FusionTable
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.lang import Capacity, load_kernel, parse


def table(text_or_kernel: str, **options: object) -> FusionTable:
    program = parse(text_or_kernel) if "=" in text_or_kernel else load_kernel(text_or_kernel)
    indices = program.statements[0].indices
    return compile_job(Job(program, capacity=Capacity(dict.fromkeys(indices, 8)), **options)).regions[0].table


def test_spmm_is_figure_9() -> None:
    assert table("spmm").grid() == [
        ["", "A[i,k]", "X[k,j]", "t0[i,j]", "T[i, j]"],
        ["i", "LS(root)", "Rep(root)", "", "LW(T_i)"],
        ["k", "LS(⟨A_i⟩)", "Locate(⟨X_i⟩)", "", ""],
        ["j", "Rep(⟨A_k⟩)", "LS(⟨X_k⟩)", "Red1_k[crd0]", "LW(T_j)"],
        ["val", "Val(⟨A_j⟩)", "Val(⟨X_j⟩)", "Red1_k[val]", "⟨t0_val⟩"],
    ]


def test_a_sparse_operand_is_intersected_not_located() -> None:
    grid = table("spmspm_ikj").grid()
    assert grid[2] == ["k", "Intersect_k: LS(⟨B_i⟩)", "Intersect_k: LS(⟨C_i⟩)", "", ""]


def test_nested_product_is_figure_20() -> None:
    text = """
    tensor A[i=4, l=4] : csr
    tensor X[l, m=4] : csr
    tensor W[m, j=4] : csr
    tensor T[i, j] : csr
    T[i,j] = A[i,l] * X[l,m] * W[m,j]    order i,l,m,j
    """
    grid = table(text).grid()
    assert grid[0] == ["", "A[i,l]", "X[l,m]", "t0[i,m]", "W[m,j]", "t1[i,j]", "T[i, j]"]
    assert grid[3] == ["m", "Rep(⟨A_l⟩)", "LS(⟨X_l⟩)", "Red1_l[crd0]", "Locate(⟨W_i⟩)", "", ""]
    assert grid[4][3:] == ["Rep(⟨t0_val⟩)", "LS(⟨W_m⟩)", "Red1_m[crd0]", "LW(T_j)"]
    assert grid[5][5:] == ["Red1_m[val]", "⟨t1_val⟩"]


def test_a_reduction_is_not_repeated_by_rows_that_it_does_not_need() -> None:
    text = """
    tensor A[i=4, k=4] : csr
    tensor B[i, j=4] : csr
    tensor X[i, j] : csr
    X[i,j] = B[i,j] * A[i,k]    order i,j,k
    """
    grid = table(text).grid()
    columns = dict(zip(grid[0], zip(*grid[1:], strict=True), strict=True))
    assert columns["A[i,k]"] == ("Locate(root)", "", "LS(⟨A_i⟩)", "Val(⟨A_k⟩)")


def test_global_iteration_meets_in_one_space() -> None:
    factored = table("sddmm").grid()
    together = table("sddmm", schedule=Schedule(iteration="global")).grid()
    assert "Rep(⟨B_j⟩)" not in factored[3]
    assert together[3][1] == "Rep(⟨B_j⟩)"


def test_a_cell_that_is_named_before_a_join_follows_the_join() -> None:
    compiled = compile_job(Job(load_kernel("mmadd"), capacity=Capacity({"i": 4, "j": 4})))
    scan = compiled.regions[0].graph.fanin[
        next(c.sink for c in compiled.regions[0].graph.channels if c.sink == ("scan_compressed_B_j", "ref"))
    ]
    assert scan.source == ("union_i", "ref0")
