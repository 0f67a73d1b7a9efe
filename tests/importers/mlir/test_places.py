"""Elements that are taken and put at places which are known before the run."""

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.importers.core import HostArray
from samhw.importers.mlir import choose_function, import_function, read_module
from samhw.lang.reference import evaluate_program
from tests.importers.mlir.agree import assert_runs, imported, outputs

GATHER = """
#in = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%table: tensor<6x3xf32>, %ids: tensor<4xi64>) -> tensor<4x3xf32> {
  %six = arith.constant 6 : i64
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {indexing_maps = [#in, #all], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi64>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %back = arith.cmpi slt, %in, %zero : i64
    %more = arith.addi %in, %six : i64
    %at = arith.select %back, %more, %in : i64
    %row = arith.index_cast %at : i64 to index
    %column = linalg.index 1 : index
    cf.assert %back, "not evaluated"
    %x = tensor.extract %table[%row, %column] : tensor<6x3xf32>
    linalg.yield %x : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}"""
PAIRS = """
#in = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<5x4xf32>, %src: tensor<6xi64>, %dst: tensor<6xi64>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#in, #in, #in], iterator_types = ["parallel"]}
      ins(%src, %dst : tensor<6xi64>, tensor<6xi64>) outs(%e : tensor<6xf32>) {
  ^bb0(%s: i64, %d: i64, %out: f32):
    %i = arith.index_cast %s : i64 to index
    %j = arith.index_cast %d : i64 to index
    %x = tensor.extract %a[%i, %j] : tensor<5x4xf32>
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}"""
UPSAMPLE = """
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: tensor<3x2xf32>) -> tensor<6x4xf32> {
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<6x4xf32>
  %r = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<6x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.floordivsi %i, %two : index
    %q = arith.floordivsi %j, %two : index
    %x = tensor.extract %a[%p, %q] : tensor<3x2xf32>
    linalg.yield %x : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}"""
SLICES = """
func.func @f(%x: tensor<5x3x4xf32>, %i: tensor<2x3x1xindex>) -> tensor<2x3x5x4xf32> {
  %r = tensor.gather %x[%i] gather_dims([1]) : (tensor<5x3x4xf32>, tensor<2x3x1xindex>) -> tensor<2x3x5x4xf32>
  return %r : tensor<2x3x5x4xf32>
}"""
SCATTER = """
func.func @f(%m: tensor<5x1x3xf32>, %ids: tensor<5x1xi64>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%m, %ids : tensor<5x1x3xf32>, tensor<5x1xi64>) outs(%y : tensor<4x3xf32>) {
  ^bb0(%new: f32, %old: f32):
    %s = arith.addf %old, %new : f32
    tm_tensor.yield %s : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}"""
POINTS = """
#row = affine_map<(d0) -> (d0, 0)>
#in = affine_map<(d0) -> (d0)>
func.func @f(%m: tensor<6x2xf32>, %ids: tensor<6xi64>) -> tensor<4x2xf32> {
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<4x2xf32>
  %e1 = tensor.empty() : tensor<12x1xi64>
  %e2 = tensor.empty() : tensor<12xf32>
  %r:3 = linalg.generic {indexing_maps = [#row, #row, #in], iterator_types = ["parallel"]}
      outs(%e1, %e1, %e2 : tensor<12x1xi64>, tensor<12x1xi64>, tensor<12xf32>) {
  ^bb0(%out: i64, %out1: i64, %out2: f32):
    %n = linalg.index 0 : index
    %j = arith.remsi %n, %two : index
    %i = arith.divsi %n, %two : index
    %at = tensor.extract %ids[%i] : tensor<6xi64>
    %x = tensor.extract %m[%i, %j] : tensor<6x2xf32>
    %column = arith.index_cast %j : index to i64
    linalg.yield %at, %column, %x : i64, i64, f32
  } -> (tensor<12x1xi64>, tensor<12x1xi64>, tensor<12xf32>)
  %e3 = tensor.empty() : tensor<12x2xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e3 : tensor<12x2xi64>) -> tensor<12x2xi64>
  %p = tensor.insert_slice %r#0 into %f[0, 0] [12, 1] [1, 1] : tensor<12x1xi64> into tensor<12x2xi64>
  %q = tensor.insert_slice %r#1 into %p[0, 1] [12, 1] [1, 1] : tensor<12x1xi64> into tensor<12x2xi64>
  %s = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
      ins(%r#2, %q : tensor<12xf32>, tensor<12x2xi64>) outs(%none : tensor<4x2xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = arith.addf %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<4x2xf32>
  return %s : tensor<4x2xf32>
}"""


def test_rows_are_taken_at_the_places_of_an_argument():
    table, ids = np.arange(18.0).reshape(6, 3), np.array([5, 0, -1, 2])
    (found,) = outputs(GATHER, {"table": table, "ids": ids})
    np.testing.assert_array_equal(found, table[ids])


def test_places_follow_the_data_of_a_run():
    table = np.arange(18.0).reshape(6, 3)
    made = imported(GATHER, {"table": table, "ids": np.array([5, 0, -1, 2])})
    other = {"table": HostArray.dense(table), "ids": HostArray.dense(np.array([1, 1, 1, 4]))}
    (output,) = made.outputs
    found = output.of(evaluate_program(made.program, made.tensors(other)))
    np.testing.assert_array_equal(found, table[[1, 1, 1, 4]])
    wrong = other | {"ids": HostArray.dense(np.array([1, 1, 1, 6]))}
    with pytest.raises(InputError, match="takes the element 6 of a dimension of 6"):
        made.tensors(wrong)


def test_a_sparse_argument_that_chooses_no_place_is_not_spread_out():
    size = 1 << 20
    text = f"""#csr = #sparse_tensor.encoding<{{map = (d0, d1) -> (d0 : compressed, d1 : compressed)}}>
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: tensor<{size}x{size}xi32, #csr>) -> tensor<{size}xi32> {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{size}xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<{size}xi32>) -> tensor<{size}xi32>
  %r = linalg.generic {{indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{size}x{size}xi32, #csr>) outs(%z : tensor<{size}xi32>) {{
  ^bb0(%in: i32, %out: i32):
    %s = arith.addi %in, %out : i32
    linalg.yield %s : i32
  }} -> tensor<{size}xi32>
  return %r : tensor<{size}xi32>
}}"""
    module = read_module(text, "t.mlir")
    held = HostArray((size, size), np.array([5]), np.array([[7], [9]]))
    found = import_function(module, choose_function(module, None), {"a": held})
    assert len(found.program.statements) == 1


def test_elements_are_taken_at_pairs_of_places():
    rng = np.random.default_rng(0)
    a, src, dst = rng.normal(size=(5, 4)), rng.integers(0, 5, 6), rng.integers(0, 4, 6)
    (found,) = outputs(PAIRS, {"a": a, "src": src, "dst": dst})
    np.testing.assert_allclose(found, a[src, dst] ** 2)


@pytest.mark.parametrize("whole", [False, True])
def test_slices_are_gathered(whole):
    rng = np.random.default_rng(3)
    x, i = rng.normal(size=(5, 3, 4)), rng.integers(0, 3, (2, 3, 1))
    text = SLICES.replace("2x3x5x4", "2x3x5x1x4") if whole else SLICES
    (found,) = outputs(text, {"x": x, "i": i})
    wanted = x.transpose(1, 0, 2)[i[..., 0]]
    np.testing.assert_array_equal(found, wanted[:, :, :, None] if whole else wanted)


def test_an_upsampling_takes_each_element_several_times():
    a = np.arange(6.0).reshape(3, 2)
    (found,) = outputs(UPSAMPLE, {"a": a})
    np.testing.assert_array_equal(found, a.repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("adds", [True, False])
def test_rows_are_put(adds):
    rng = np.random.default_rng(1)
    m, y = rng.normal(size=(5, 1, 3)), rng.normal(size=(6, 3))
    ids = np.array([[3], [0], [3], [1], [0]]) if adds else np.array([[3], [0], [5], [1], [4]])
    text = SCATTER.replace("4x3", "6x3")
    wanted = y.copy()
    if adds:
        np.add.at(wanted, ids[:, 0], m[:, 0])
    else:
        text = text.replace("tm_tensor.yield %s", "tm_tensor.yield %new")
        wanted[ids[:, 0]] = m[:, 0]
    (found,) = outputs(text, {"m": m, "ids": ids, "y": y})
    np.testing.assert_allclose(found, wanted)


def test_points_are_put_at_places_that_loops_make():
    rng = np.random.default_rng(2)
    m, ids = rng.normal(size=(6, 2)), np.array([3, 0, 3, 1, 0, 0])
    wanted = np.zeros((4, 2))
    np.add.at(wanted, ids, m)
    (found,) = outputs(POINTS, {"m": m, "ids": ids})
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("text", [GATHER, PAIRS, UPSAMPLE, SLICES, SCATTER, POINTS])
def test_it_runs(text):
    assert_runs(text)


def test_a_program_of_whole_numbers_takes_rows_too():
    table, ids = np.arange(18).reshape(6, 3), np.array([5, 0, -1, 2])
    (found,) = outputs(GATHER.replace("xf32", "xi32").replace("f32", "i32"), {"table": table, "ids": ids})
    np.testing.assert_array_equal(found, table[ids])


@pytest.mark.parametrize(
    ("ids", "wrong"),
    [([5, 0, 6, 2], "takes the element 6 of a dimension of 6"), ([5, 0, -7, 2], "takes the element -1 of")],
)
def test_a_place_that_there_is_not_is_refused(ids, wrong):
    with pytest.raises(InputError, match=wrong):
        imported(GATHER, {"table": np.zeros((6, 3)), "ids": np.array(ids)})


def test_several_elements_at_one_place_are_refused():
    text = SCATTER.replace("tm_tensor.yield %s", "tm_tensor.yield %new")
    arrays = {"m": np.zeros((5, 1, 3)), "ids": np.zeros((5, 1), int), "y": np.zeros((4, 3))}
    with pytest.raises(InputError, match="puts several elements at one place"):
        imported(text, arrays)


def test_a_place_that_floating_point_decides_is_refused():
    text = GATHER.replace("%ids: tensor<4xi64>", "%given: tensor<4xf32>").replace(
        "%six =",
        """%l = tensor.empty() : tensor<4xi64>
  %ids = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%given : tensor<4xf32>) outs(%l : tensor<4xi64>) {
  ^bb0(%in: f32, %out: i64):
    %i = arith.fptosi %in : f32 to i64
    linalg.yield %i : i64
  } -> tensor<4xi64>
  %six =""",
    )
    with pytest.raises(InputError, match="at a place that depends on data in floating point; give"):
        imported(text, {"table": np.zeros((6, 3)), "given": np.zeros(4)})
