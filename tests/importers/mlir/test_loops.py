"""Loops over tensors, whose iterations become statements."""

import numpy as np
import pytest

from samhw.errors import InputError
from tests.importers.mlir.agree import assert_runs, imported, outputs

RNN = """
func.func @f(%x: tensor<5x3xf32>, %w: tensor<4x3xf32>, %u: tensor<4x4xf32>, %h0: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<5x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<5x4xf32>
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %h0, %out = %all)
      -> (tensor<4xf32>, tensor<5x4xf32>) {
    %xt = tensor.extract_slice %x[%t, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %a = linalg.matvec ins(%w, %xt : tensor<4x3xf32>, tensor<3xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
    %b = linalg.matvec ins(%u, %h : tensor<4x4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    %n = math.tanh %b : tensor<4xf32>
    %o = tensor.insert_slice %n into %out[%t, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<5x4xf32>
    scf.yield %n, %o : tensor<4xf32>, tensor<5x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<5x4xf32>
}"""
GENERIC = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xf32>) -> tensor<3xf32>, sym_name = "f"}> ({
  ^bb0(%x: tensor<3xf32>):
    %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %c2 = "arith.constant"() <{value = 2 : index}> : () -> index
    %c7 = "arith.constant"() <{value = 7 : index}> : () -> index
    %r = "scf.for"(%c0, %c7, %c2, %x) ({
    ^bb0(%i: index, %y: tensor<3xf32>):
      %z = "arith.addf"(%y, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      "scf.yield"(%z) : (tensor<3xf32>) -> ()
    }) : (index, index, index, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%r) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()"""


def test_a_recurrent_network():
    rng = np.random.default_rng(0)
    x, w, u, h = (rng.normal(size=shape) for shape in ((5, 3), (4, 3), (4, 4), (4,)))
    last, every = outputs(RNN, {"x": x, "w": w, "u": u, "h0": h})
    for t in range(5):
        h = np.tanh(w @ x[t] + u @ h)
        np.testing.assert_allclose(every[t], h)
    np.testing.assert_allclose(last, h)


def test_it_runs():
    assert_runs(RNN)


def test_the_generic_form():
    x = np.array([1.0, -2.0, 0.5])
    (found,) = outputs(GENERIC, {"x": x})
    np.testing.assert_allclose(found, 5 * x)


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("constant 5 : index", "constant 5000 : index", "goes from 0 to 5000 by 1, .*at most 1024 times"),
        ("%c1 = arith.constant 1", "%c1 = arith.constant 0", "goes from 0 to 5 by 0"),
        ("iter_args(%h = %h0, %out = %all)", "iter_args(%h = %h0)", "uses %out, which it does not define"),
    ],
)
def test_what_is_no_such_loop_is_refused(old, new, wrong):
    shapes = {"x": (5, 3), "w": (4, 3), "u": (4, 4), "h0": (4,)}
    with pytest.raises(InputError, match=wrong):
        imported(RNN.replace(old, new), {name: np.zeros(shape) for name, shape in shapes.items()})
