"""Encodings of sparse tensors as formats, and what is computed with what they store."""

import numpy as np
import pytest

from samhw.app.workload.mlir import workload_of
from samhw.errors import InputError
from samhw.importers.mlir import choose_function, read_module
from tests.importers.mlir.agree import assert_runs, outputs

FORMATS = {
    "(i, j) -> (i : dense, j : compressed)": "csr",
    "(i, j) -> (i : compressed, j : compressed)": "dcsr",
    "(i, j) -> (j : dense, i : compressed)": "csr",
    "(i, j) -> (i : compressed(nonunique), j : singleton)": "coo",
    "(i, j) -> (i : dense, j : loose_compressed)": "csr",
    "(i, j) -> (i : dense, j : dense)": "dense",
}


def product(encoding: str) -> str:
    """The product of a sparse matrix with a vector."""
    return f"""
#E = #sparse_tensor.encoding<{{ map = {encoding} }}>
func.func @f(%a: tensor<4x6xf32, #E>, %x: tensor<6xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
  %r = linalg.matvec ins(%a, %x : tensor<4x6xf32, #E>, tensor<6xf32>) outs(%y : tensor<4xf32>)
      -> tensor<4xf32>
  return %r : tensor<4xf32>
}}"""


@pytest.mark.parametrize("encoding", FORMATS)
def test_an_encoding_is_a_format(encoding: str) -> None:
    program = assert_runs(product(encoding), data=("random:density=0.3",))
    stored = program.tensors["a"]
    assert str(stored.format).startswith(FORMATS[encoding])
    # What is stored by columns is its transposition, stored by rows.
    assert stored.shape == ((6, 4) if encoding.endswith("(j : dense, i : compressed)") else (4, 6))


def test_what_is_stored_otherwise_is_said() -> None:
    module = read_module(product("(i, j) -> (i : dense, j : loose_compressed)"), "t.mlir")
    notes = workload_of(module, choose_function(module, None), ("random",)).notes
    assert notes == ("%a: a loose_compressed level is stored as a compressed one.",)


def test_blocks() -> None:
    encoding = "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)"
    program = assert_runs(product(encoding), data=("random:density=0.3",))
    assert program.tensors["a"].shape == (2, 2, 2, 3)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        (
            "map = (i, j) -> (i floordiv 2 : dense, j : dense, i mod 4 : compressed)",
            "neither a permutation of the dimensions nor one into blocks",
        ),
        (
            "map = (i, j) -> (i + j : dense, j : compressed)",
            "neither a permutation of the dimensions nor one into blocks",
        ),
        ("map = (i, j) -> (i : dense, j : packed)", "the level 'packed', which is not known"),
        ('dimLevelType = ["dense", "compressed"]', "in the older form, with 'dimLevelType'"),
    ],
)
def test_an_encoding_that_cannot_be_followed(encoding: str, said: str) -> None:
    text = product("(i, j) -> (i : dense, j : dense)").replace(
        "map = (i, j) -> (i : dense, j : dense)", encoding
    )
    module = read_module(text, "t.mlir")
    with pytest.raises(InputError, match=r"t\.mlir:3:1: The argument %a of 'f' .*; ") as found:
        workload_of(module, choose_function(module, None), ("random",))
    assert said in str(found.value)


SPARSE = "#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>"


def reduced(region: str) -> str:
    """The product of what a region makes of the elements of a sparse vector."""
    return f"""
{SPARSE}
func.func @f(%a: tensor<6xf32, #V>, %b: tensor<6xf32, #V>, %x: tensor<f32>) -> tensor<f32> {{
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}}
      ins(%a, %b : tensor<6xf32, #V>, tensor<6xf32, #V>) outs(%x : tensor<f32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    {region}
    %s = sparse_tensor.reduce %u, %o, %one : f32 {{
    ^bb0(%l: f32, %m: f32):
      %n = arith.mulf %l, %m : f32
      sparse_tensor.yield %n : f32
    }}
    linalg.yield %s : f32
  }} -> tensor<f32>
  return %r : tensor<f32>
}}"""


PRESENT = "sparse_tensor.unary %p : f32 to f32 present=identity"
BOTH = """sparse_tensor.binary %p, %q : f32, f32 to f32
  overlap={ ^bb0(%l: f32, %m: f32): %n = arith.addf %l, %m : f32 sparse_tensor.yield %n : f32 }"""


@pytest.mark.parametrize(
    ("region", "wanted"),
    [
        (f"%u = {PRESENT} absent={{}}", 3 * 5 * 7),
        (f"%u = {PRESENT} absent={{ sparse_tensor.yield %one : f32 }}", 3 * 5 * 7),
        (f"%z = arith.constant 0.0 : f32 %u = {PRESENT} absent={{ sparse_tensor.yield %z : f32 }}", 0),
        (f"%u = {BOTH} left={{}} right={{}}", 5 * 14),
    ],
)
def test_a_product_takes_what_is_stored(region: str, wanted: float) -> None:
    text = reduced(region)
    arrays = {"a": np.array([0, 3, 5, 0, 7, 0.0]), "b": np.array([2, 2, 0, 0, 7, 0.0]), "x": np.array(1.0)}
    (found,) = outputs(text, arrays)
    assert found == pytest.approx(wanted)
    assert_runs(text, data=("random:density=0.5",))


def test_binary_over_the_union() -> None:
    text = f"""
{SPARSE}
#same = affine_map<(i) -> (i)>
func.func @f(%a: tensor<6xf32, #V>, %b: tensor<6xf32, #V>) -> tensor<6xf32, #V> {{
  %e = tensor.empty() : tensor<6xf32, #V>
  %r = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<6xf32, #V>, tensor<6xf32, #V>) outs(%e : tensor<6xf32, #V>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %u = sparse_tensor.binary %p, %q : f32, f32 to f32
      overlap={{
      ^bb0(%l: f32, %m: f32):
        %n = arith.mulf %l, %m : f32
        sparse_tensor.yield %n : f32
      }}
      left=identity
      right={{
      ^bb0(%l: f32):
        %n = arith.negf %l : f32
        sparse_tensor.yield %n : f32
      }}
    linalg.yield %u : f32
  }} -> tensor<6xf32, #V>
  return %r : tensor<6xf32, #V>
}}"""
    a, b = np.array([0, 1, 2, 0, 3, 4.0]), np.array([5, 0, 1, 0, 2, 7.0])
    (found,) = outputs(text, {"a": a, "b": b})
    np.testing.assert_allclose(found, [-5, 1, 2, 0, 6, 28])
    assert_runs(text, data=("random:density=0.5",))


def test_binary_and_unary_in_the_generic_form() -> None:
    text = f"""
{SPARSE}
#same = affine_map<(i) -> (i)>
func.func @f(%a: tensor<6xf32, #V>, %b: tensor<6xf32, #V>) -> tensor<6xf32> {{
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<6xf32, #V>, tensor<6xf32, #V>) outs(%e : tensor<6xf32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %u = "sparse_tensor.binary"(%p, %q) <{{left_identity}}> ({{
    ^bb0(%l: f32, %m: f32):
      %n = "arith.mulf"(%l, %m) : (f32, f32) -> f32
      "sparse_tensor.yield"(%n) : (f32) -> ()
    }}, {{
    }}, {{
    ^bb0(%l: f32):
      %n = "arith.negf"(%l) : (f32) -> f32
      "sparse_tensor.yield"(%n) : (f32) -> ()
    }}) : (f32, f32) -> f32
    %v = "sparse_tensor.unary"(%u) ({{
    ^bb0(%l: f32):
      "sparse_tensor.yield"(%l) : (f32) -> ()
    }}, {{
      %nine = arith.constant 9.0 : f32
      "sparse_tensor.yield"(%nine) : (f32) -> ()
    }}) : (f32) -> f32
    linalg.yield %v : f32
  }} -> tensor<6xf32>
  return %r : tensor<6xf32>
}}"""
    a, b = np.array([0, 1, 2, 0, 3, 4.0]), np.array([5, 0, 1, 0, 2, 7.0])
    (found,) = outputs(text, {"a": a, "b": b})
    np.testing.assert_allclose(found, [-5, 1, 2, 9, 6, 28])
    assert_runs(text, data=("random:density=0.5",))


def test_select_keeps_what_is_stored_and_meets_a_condition() -> None:
    text = f"""
{SPARSE}
#same = affine_map<(i) -> (i)>
func.func @f(%a: tensor<6xf32, #V>) -> tensor<6xf32, #V> {{
  %e = tensor.empty() : tensor<6xf32, #V>
  %r = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel"]}}
      ins(%a : tensor<6xf32, #V>) outs(%e : tensor<6xf32, #V>) {{
  ^bb0(%p: f32, %o: f32):
    %i = linalg.index 0 : index
    %two = arith.constant 2 : index
    %k = sparse_tensor.select %p : f32 {{
    ^bb0(%l: f32):
      %c = arith.cmpi ult, %i, %two : index
      sparse_tensor.yield %c : i1
    }}
    linalg.yield %k : f32
  }} -> tensor<6xf32, #V>
  return %r : tensor<6xf32, #V>
}}"""
    (found,) = outputs(text, {"a": np.array([0, 1, 2, 0, 3, 4.0])})
    np.testing.assert_allclose(found, [0, 1, 0, 0, 0, 0])
    assert_runs(text, data=("random:density=0.5",))


def test_the_extents_of_levels_give_shapes() -> None:
    text = """
#T = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
func.func @f(%a: tensor<?x?xf32, #T>) -> tensor<?x?xf32, #T> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = sparse_tensor.lvl %a, %zero : tensor<?x?xf32, #T>
  %rows = sparse_tensor.lvl %a, %one : tensor<?x?xf32, #T>
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf32, #T>
  %r = linalg.add ins(%a, %a : tensor<?x?xf32, #T>, tensor<?x?xf32, #T>) outs(%e : tensor<?x?xf32, #T>)
      -> tensor<?x?xf32, #T>
  return %r : tensor<?x?xf32, #T>
}"""
    a = np.arange(6.0).reshape(2, 3)
    (found,) = outputs(text, {"a": a})
    np.testing.assert_allclose(found, 2 * a)
    assert_runs(text)


def test_a_body_of_more_than_can_meet_becomes_several_statements() -> None:
    steps = "%w{0} = arith.mulf %w{1}, %q : f32\n %s{0} = arith.addf %s{1}, %w{0} : f32\n"
    many = "".join(steps.format(n, n - 1) for n in range(1, 6))
    text = f"""
{SPARSE}
#same = affine_map<(i) -> (i)>
func.func @f(%a: tensor<6xf32, #V>, %b: tensor<6xf32, #V>) -> tensor<6xf32> {{
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<6xf32, #V>, tensor<6xf32, #V>) outs(%e : tensor<6xf32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %w0 = arith.mulf %p, %p : f32
    %s0 = arith.addf %w0, %q : f32
    {many}
    linalg.yield %s5 : f32
  }} -> tensor<6xf32>
  return %r : tensor<6xf32>
}}"""
    a, b = np.array([0, 1, 2, 0, 3, 4.0]), np.array([5, 0, 1, 0, 2, 7.0])
    (found,) = outputs(text, {"a": a, "b": b})
    np.testing.assert_allclose(found, b + a * a * sum(b**n for n in range(6)))
    assert len(assert_runs(text).statements) > 1


def test_a_sampled_product_of_matrices() -> None:
    text = """
#S = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @f(%s: tensor<4x4xf32, #S>, %a: tensor<4x3xf32>, %b: tensor<3x4xf32>) -> tensor<4x4xf32, #S> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x3xf32>, tensor<3x4xf32>) outs(%s : tensor<4x4xf32, #S>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %u = sparse_tensor.unary %o : f32 to f32
      present={
      ^bb0(%p: f32):
        %m = arith.mulf %x, %y : f32
        sparse_tensor.yield %m : f32
      }
      absent={}
    %t = sparse_tensor.reduce %o, %u, %zero : f32 {
    ^bb0(%p: f32, %q: f32):
      %n = arith.addf %p, %q : f32
      sparse_tensor.yield %n : f32
    }
    linalg.yield %t : f32
  } -> tensor<4x4xf32, #S>
  return %r : tensor<4x4xf32, #S>
}"""
    rng = np.random.default_rng(0)
    s = rng.normal(size=(4, 4)) * (rng.random((4, 4)) < 0.4)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(3, 4))
    (found,) = outputs(text, {"s": s, "a": a, "b": b})
    np.testing.assert_allclose(found, s + (s != 0) * (a @ b), rtol=1e-6, atol=1e-6)
    program = assert_runs(text, data=("random:density=0.4",))
    assert any(statement.mask is not None for statement in program.statements)
