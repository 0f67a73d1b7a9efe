"""Scores that are hidden by -inf, as attention in torch-mlir has them."""

import numpy as np
import pytest

from samhw.errors import InputError
from tests.importers.mlir.agree import assert_runs, imported, outputs

MAPS = """
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#none = affine_map<(d0, d1) -> ()>
"""
PARALLEL = 'iterator_types = ["parallel", "parallel"]'
REDUCES = 'iterator_types = ["parallel", "reduction"]'


def softmax(size: int, safe: bool = False, hide: str = "") -> str:
    """A softmax of 4 rows of scores, of which those are hidden whose mask is 0."""
    hide = (
        hide
        or f"""
  %hidden = linalg.generic {{indexing_maps = [#all, #all, #all], {PARALLEL}}}
      ins(%mask, %x : tensor<4x{size}xf32>, tensor<4x{size}xf32>) outs(%e : tensor<4x{size}xf32>) {{
  ^bb0(%m: f32, %in: f32, %out: f32):
    %c = arith.cmpf oeq, %m, %zero : f32
    %s = arith.select %c, %inf, %in : f32
    linalg.yield %s : f32
  }} -> tensor<4x{size}xf32>"""
    )
    ending = (
        ""
        if not safe
        else f"""
  %b = tensor.empty() : tensor<4x{size}xi1>
  %is = linalg.generic {{indexing_maps = [#all, #all], {PARALLEL}}}
      ins(%hidden : tensor<4x{size}xf32>) outs(%b : tensor<4x{size}xi1>) {{
  ^bb0(%in: f32, %out: i1):
    %c = arith.cmpf oeq, %in, %inf : f32
    linalg.yield %c : i1
  }} -> tensor<4x{size}xi1>
  %b1 = tensor.empty() : tensor<4x1xi1>
  %true = arith.constant true
  %b2 = linalg.fill ins(%true : i1) outs(%b1 : tensor<4x1xi1>) -> tensor<4x1xi1>
  %all = linalg.generic {{indexing_maps = [#all, #row], {REDUCES}}}
      ins(%is : tensor<4x{size}xi1>) outs(%b2 : tensor<4x1xi1>) {{
  ^bb0(%in: i1, %out: i1):
    %c = arith.andi %in, %out : i1
    linalg.yield %c : i1
  }} -> tensor<4x1xi1>
  %safe = linalg.generic {{indexing_maps = [#row, #all, #all], {PARALLEL}}}
      ins(%all, %quotient : tensor<4x1xi1>, tensor<4x{size}xf32>) outs(%e : tensor<4x{size}xf32>) {{
  ^bb0(%c: i1, %in: f32, %out: f32):
    %s = arith.select %c, %zero, %in : f32
    linalg.yield %s : f32
  }} -> tensor<4x{size}xf32>"""
    )
    return f"""{MAPS}
func.func @f(%x: tensor<4x{size}xf32>, %mask: tensor<4x{size}xf32>) -> tensor<4x{size}xf32> {{
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x{size}xf32>{hide}
  %r = tensor.empty() : tensor<4x1xf32>
  %low = linalg.fill ins(%inf : f32) outs(%r : tensor<4x1xf32>) -> tensor<4x1xf32>
  %most = linalg.generic {{indexing_maps = [#all, #row], {REDUCES}}}
      ins(%hidden : tensor<4x{size}xf32>) outs(%low : tensor<4x1xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  }} -> tensor<4x1xf32>
  %powers = linalg.generic {{indexing_maps = [#all, #row, #all], {PARALLEL}}}
      ins(%hidden, %most : tensor<4x{size}xf32>, tensor<4x1xf32>) outs(%e : tensor<4x{size}xf32>) {{
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  }} -> tensor<4x{size}xf32>
  %none = linalg.fill ins(%zero : f32) outs(%r : tensor<4x1xf32>) -> tensor<4x1xf32>
  %total = linalg.generic {{indexing_maps = [#all, #row], {REDUCES}}}
      ins(%powers : tensor<4x{size}xf32>) outs(%none : tensor<4x1xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }} -> tensor<4x1xf32>
  %quotient = linalg.generic {{indexing_maps = [#all, #row, #all], {PARALLEL}}}
      ins(%powers, %total : tensor<4x{size}xf32>, tensor<4x1xf32>) outs(%e : tensor<4x{size}xf32>) {{
  ^bb0(%in: f32, %t: f32, %out: f32):
    %q = arith.divf %in, %t : f32
    linalg.yield %q : f32
  }} -> tensor<4x{size}xf32>{ending}
  return {"%safe" if safe else "%quotient"} : tensor<4x{size}xf32>
}}"""


def data(size: int, *, empty: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(size)
    mask = (rng.random((4, size)) < 0.6).astype(float)
    mask[:, 0] = 1
    if empty:
        mask[2] = 0
    return {"x": rng.normal(size=(4, size)) - 3, "mask": mask}


def expected(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    powers = np.exp(x) * mask
    total = powers.sum(1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


@pytest.mark.parametrize("safe", [False, True])
def test_a_softmax_passes_over_what_is_hidden(safe):
    arrays = data(5, empty=safe)
    (found,) = outputs(softmax(5, safe), arrays)
    np.testing.assert_allclose(found, expected(**arrays), atol=1e-12)


def test_a_safe_softmax_has_no_statement_more():
    arrays = data(5, empty=True)
    plain, safe = (imported(softmax(5, kind), arrays).program for kind in (False, True))
    assert len(plain.statements) == len(safe.statements)


def test_the_tensor_of_a_condition_is_the_mask():
    program = imported(softmax(5), data(5, empty=False)).program
    assert {str(s.mask) for s in program.statements if s.mask is not None} == {"mask[i, j]"}


def test_a_softmax_runs():
    assert_runs(softmax(5))


BIAS = f"""
  %bias = arith.constant dense<[[0.5, 0xFF800000, 0.0], [0.0, 1.0, 0xFF800000],
      [0xFF800000, 0xFF800000, 2.0], [0.0, 0.0, 0.25]]> : tensor<4x3xf32>
  %hidden = linalg.generic {{indexing_maps = [#all, #all, #all], {PARALLEL}}}
      ins(%x, %bias : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {{
  ^bb0(%in: f32, %m: f32, %out: f32):
    %s = arith.addf %in, %m : f32
    linalg.yield %s : f32
  }} -> tensor<4x3xf32>"""


def test_a_constant_hides_where_it_is_minus_infinity():
    arrays = data(3, empty=False)
    (found,) = outputs(softmax(3, hide=BIAS), arrays)
    bias = np.array([[0.5, -np.inf, 0], [0, 1, -np.inf], [-np.inf, -np.inf, 2], [0, 0, 0.25]])
    scores = np.exp(arrays["x"] + bias)
    np.testing.assert_allclose(found, scores / scores.sum(1, keepdims=True), atol=1e-12)


def test_what_is_hidden_is_no_result():
    text = softmax(3).replace("return %quotient", "return %hidden")
    with pytest.raises(InputError, match="returns what is -inf at places; return it before it is masked"):
        imported(text, data(3, empty=False))


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("%d = arith.mulf %in, %m : f32", "takes a value that is -inf at places"),
        ("%d = arith.subf %m, %in : f32", "takes a value that is -inf at places"),
        ("%d = arith.divf %m, %in : f32", "takes a value that is -inf at places"),
    ],
)
def test_what_would_be_no_number_is_refused(body, wrong):
    text = softmax(3).replace("%d = arith.subf %in, %m : f32", body)
    with pytest.raises(InputError, match=wrong):
        imported(text, data(3, empty=False))


def test_a_sum_of_what_is_hidden_is_refused():
    text = softmax(3).replace("%m = arith.maximumf %in, %out : f32", "%m = arith.addf %in, %out : f32")
    with pytest.raises(InputError, match="reduces what is -inf at places; take the maximum, or exp before"):
        imported(text, data(3, empty=False))
