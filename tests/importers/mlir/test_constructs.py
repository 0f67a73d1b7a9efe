"""Every construct, by hand: the program that it becomes gives what NumPy does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.importers.mlir.agree import assert_runs, imported, outputs

RNG = np.random.default_rng(0)
MATRIX = "tensor<4x5xf32>"


def generic(maps: str, kinds: str, ins: str, out: str, body: str, result: str = MATRIX) -> str:
    """A function of one `linalg.generic` of %a and %b."""
    return f"""
func.func @f(%a: {MATRIX}, %b: tensor<5xf32>, %init: {out}) -> {out} {{
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({ins}) outs(%init : {out}) {{
  ^bb0{body}
  }} -> {out}
  return %r : {out}
}}"""


def elementwise(body: str) -> str:
    """A function of one parallel `linalg.generic` of a matrix; the body makes %y of %x."""
    same = "affine_map<(i, j) -> (i, j)>"
    return generic(
        f"{same}, {same}",
        '"parallel", "parallel"',
        f"%a : {MATRIX}",
        MATRIX,
        f"(%x: f32, %o: f32):\n    {body}\n    linalg.yield %y : f32",
    )


def silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


BODIES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "twice": ("%y = arith.addf %x, %x : f32", lambda x: x + x),
    "square": ("%y = arith.mulf %x, %x : f32", lambda x: x * x),
    "negated": ("%y = arith.negf %x : f32", lambda x: -x),
    "exp": ("%y = math.exp %x : f32", np.exp),
    "tanh": ("%y = math.tanh %x : f32", np.tanh),
    "absolute": ("%y = math.absf %x : f32", np.abs),
    "relu": ("%y = arith.maximumf %x, %zero : f32", lambda x: np.maximum(x, 0)),
    "relu by a comparison": (
        "%c = arith.cmpf ugt, %x, %zero : f32\n %y = arith.select %c, %x, %zero : f32",
        lambda x: np.maximum(x, 0),
    ),
    "leaky relu": (
        "%s = arith.constant 0.25 : f32\n %m = arith.mulf %x, %s : f32\n"
        " %c = arith.cmpf ogt, %x, %zero : f32\n %y = arith.select %c, %x, %m : f32",
        lambda x: np.where(x > 0, x, x / 4),
    ),
    "clamp": (
        "%s = arith.constant 0.5 : f32\n %m = arith.minimumf %x, %s : f32\n"
        " %y = arith.maximumf %m, %zero : f32",
        lambda x: np.clip(x, 0, 0.5),
    ),
    "silu": (
        "%one = arith.constant 1.0 : f32\n %n = arith.negf %x : f32\n %e = math.exp %n : f32\n"
        " %d = arith.addf %e, %one : f32\n %s = arith.divf %one, %d : f32\n"
        " %y = arith.mulf %s, %x : f32",
        silu,
    ),
    "between": (
        "%s = arith.constant 0.5 : f32\n %c = arith.cmpf ogt, %x, %zero : f32\n"
        " %d = arith.cmpf olt, %x, %s : f32\n %e = arith.andi %c, %d : i1\n"
        " %y = arith.uitofp %e : i1 to f32",
        lambda x: ((x > 0) & (x < 0.5)).astype(float),
    ),
    "number of a loop": (
        "%i = linalg.index 1 : index\n %n = arith.index_cast %i : index to i32\n"
        " %s = arith.sitofp %n : i32 to f32\n %y = arith.addf %x, %s : f32",
        lambda x: x + np.arange(x.shape[1]),
    ),
    "sign of another number": ("%y = math.copysign %o, %x : f32", lambda x: np.copysign(0.5, x)),
    "fused product and sum": ("%y = math.fma %x, %x, %x : f32", lambda x: x * x + x),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body(case: str) -> None:
    body, meaning = BODIES[case]
    text = elementwise(body)
    a = RNG.normal(size=(4, 5))
    (found,) = outputs(text, {"a": a, "b": np.zeros(5), "init": np.full((4, 5), 0.5)})
    np.testing.assert_allclose(found, meaning(a), rtol=1e-6, atol=1e-6)
    assert_runs(text)


@pytest.mark.parametrize(("case", "said"), [("relu by a comparison", "relu("), ("silu", "silu(")])
def test_a_body_is_the_function_that_a_person_would_write(case: str, said: str) -> None:
    arrays = {"a": np.ones((4, 5)), "b": np.zeros(5), "init": np.zeros((4, 5))}
    (statement,) = imported(elementwise(BODIES[case][0]), arrays).program.statements
    assert said in str(statement)


REDUCTIONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "sum": ("%y = arith.addf %x, %o : f32", lambda a, init: a.sum(1) + init),
    "difference": ("%y = arith.subf %o, %x : f32", lambda a, init: init - a.sum(1)),
    "maximum": ("%y = arith.maximumf %x, %o : f32", lambda a, init: np.maximum(a.max(1), init)),
    "minimum": ("%y = arith.minimumf %o, %x : f32", lambda a, init: np.minimum(a.min(1), init)),
    "product": ("%y = arith.mulf %o, %x : f32", lambda a, init: a.prod(1) * init),
    "sum of squares": (
        "%s = arith.mulf %x, %x : f32\n %y = arith.addf %s, %o : f32",
        lambda a, init: (a * a).sum(1) + init,
    ),
    "nothing": ("%y = arith.addf %o, %zero : f32", lambda a, init: init),
}


@pytest.mark.parametrize("case", REDUCTIONS)
def test_a_reduction_takes_in_what_its_output_holds(case: str) -> None:
    body, meaning = REDUCTIONS[case]
    text = generic(
        "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>",
        '"parallel", "reduction"',
        f"%a : {MATRIX}",
        "tensor<4xf32>",
        f"(%x: f32, %o: f32):\n    {body}\n    linalg.yield %y : f32",
    )
    a, init = RNG.normal(size=(4, 5)), RNG.normal(size=4)
    (found,) = outputs(text, {"a": a, "b": np.zeros(5), "init": init})
    np.testing.assert_allclose(found, meaning(a, init), rtol=1e-6, atol=1e-6)
    assert_runs(text)


NAMED: dict[str, tuple[str, str, str, str, str]] = {
    "matmul": ("linalg.matmul", "4x3", "3x5", "4x5", "ij,jk->ik"),
    "matmul_transpose_b": ("linalg.matmul_transpose_b", "4x3", "5x3", "4x5", "ij,kj->ik"),
    "batch_matmul": ("linalg.batch_matmul", "2x4x3", "2x3x5", "2x4x5", "bij,bjk->bik"),
    "matvec": ("linalg.matvec", "4x3", "3", "4", "ij,j->i"),
    "vecmat": ("linalg.vecmat", "4", "4x3", "3", "i,ij->j"),
    "dot": ("linalg.dot", "4", "4", "", "i,i->"),
}


@pytest.mark.parametrize("case", NAMED)
def test_a_product(case: str) -> None:
    name, left, right, out, equation = NAMED[case]
    a, b, c = (f"tensor<{sizes}{'x' if sizes else ''}f32>" for sizes in (left, right, out))
    text = f"""
func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %r = {name} ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""
    shapes = [tuple(map(int, sizes.split("x"))) if sizes else () for sizes in (left, right, out)]
    arrays = [RNG.normal(size=shape) for shape in shapes]
    (found,) = outputs(text, dict(zip("abc", arrays, strict=True)))
    np.testing.assert_allclose(found, np.einsum(equation, *arrays[:2]) + arrays[2], rtol=1e-6, atol=1e-6)
    assert_runs(text)


MOVES: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "transpose": (
        "%e = tensor.empty() : tensor<5x4xf32>\n"
        "%r = linalg.transpose ins(%a : tensor<4x5xf32>) outs(%e : tensor<5x4xf32>) permutation = [1, 0]",
        "5x4",
        lambda a: a.T,
    ),
    "broadcast": (
        "%e = tensor.empty() : tensor<4x2x5xf32>\n"
        "%r = linalg.broadcast ins(%a : tensor<4x5xf32>) outs(%e : tensor<4x2x5xf32>) dimensions = [1]",
        "4x2x5",
        lambda a: np.broadcast_to(a[:, None], (4, 2, 5)),
    ),
    "collapsed": (
        "%r = tensor.collapse_shape %a [[0, 1]] : tensor<4x5xf32> into tensor<20xf32>",
        "20",
        lambda a: a.reshape(20),
    ),
    "expanded": (
        "%r = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 5] "
        ": tensor<4x5xf32> into tensor<2x2x5xf32>",
        "2x2x5",
        lambda a: a.reshape(2, 2, 5),
    ),
    "slice": (
        "%r = tensor.extract_slice %a[1, 0] [2, 3] [1, 2] : tensor<4x5xf32> to tensor<2x3xf32>",
        "2x3",
        lambda a: a[1:3, ::2],
    ),
    "slice of one row": (
        "%r = tensor.extract_slice %a[2, 0] [1, 5] [1, 1] : tensor<4x5xf32> to tensor<5xf32>",
        "5",
        lambda a: a[2],
    ),
    "padded": (
        "%p = arith.constant 1.5 : f32\n"
        "%r = tensor.pad %a low[1, 0] high[0, 2] {\n^bb0(%i: index, %j: index):\n tensor.yield %p : f32\n"
        "} : tensor<4x5xf32> to tensor<5x7xf32>",
        "5x7",
        lambda a: np.pad(a, ((1, 0), (0, 2)), constant_values=1.5),
    ),
    "concatenated": (
        "%r = tensor.concat dim(1) %a, %a : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>",
        "4x10",
        lambda a: np.concatenate([a, a], 1),
    ),
    "inserted": (
        "%z = arith.constant dense<2.0> : tensor<6x5xf32>\n"
        "%r = tensor.insert_slice %a into %z[1, 0] [4, 5] [1, 1] : tensor<4x5xf32> into tensor<6x5xf32>",
        "6x5",
        lambda a: np.concatenate([np.full((1, 5), 2.0), a, np.full((1, 5), 2.0)]),
    ),
    "softmax": (
        "%e = tensor.empty() : tensor<4x5xf32>\n"
        "%r = linalg.softmax dimension(1) ins(%a : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) "
        "-> tensor<4x5xf32>",
        "4x5",
        lambda a: np.exp(a) / np.exp(a).sum(1, keepdims=True),
    ),
}


@pytest.mark.parametrize("case", MOVES)
def test_a_move(case: str) -> None:
    lines, shape, meaning = MOVES[case]
    text = f"""
func.func @f(%a: tensor<4x5xf32>) -> tensor<{shape}xf32> {{
  {lines}
  %o = tensor.empty() : tensor<{shape}xf32>
  %s = linalg.add ins(%r, %r : tensor<{shape}xf32>, tensor<{shape}xf32>)
      outs(%o : tensor<{shape}xf32>) -> tensor<{shape}xf32>
  return %s : tensor<{shape}xf32>
}}"""
    a = RNG.normal(size=(4, 5))
    (found,) = outputs(text, {"a": a})
    np.testing.assert_allclose(found, 2 * meaning(a), rtol=1e-6, atol=1e-6)
    assert_runs(text)


def test_a_convolution_and_a_pooling() -> None:
    text = """
func.func @f(%x: tensor<1x1x6x6xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x1x6x6xf32>, tensor<2x1x3x3xf32>) outs(%f : tensor<1x2x4x4xf32>)
      -> tensor<1x2x4x4xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<1x2x2x2xf32>
  %q = linalg.fill ins(%low : f32) outs(%p : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%c, %k : tensor<1x2x4x4xf32>, tensor<2x2xf32>) outs(%q : tensor<1x2x2x2xf32>)
      -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}"""
    x, w = RNG.normal(size=(1, 1, 6, 6)), RNG.normal(size=(2, 1, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3))
    convolved = np.einsum("abij,fij->fab", windows, w[:, 0])
    wanted = convolved.reshape(2, 2, 2, 2, 2).max((2, 4))
    (found,) = outputs(text, {"x": x, "w": w})
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6, atol=1e-6)
    assert_runs(text)


def test_a_quantized_product() -> None:
    text = """
func.func @f(%a: tensor<4x3xi8>, %b: tensor<3x5xi8>, %c: tensor<4x5xi32>) -> tensor<4x5xi32> {
  %two = arith.constant 2 : i32
  %one = arith.constant 1 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %two, %one : tensor<4x3xi8>, tensor<3x5xi8>, i32, i32)
      outs(%c : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}"""
    a, b, c = (RNG.integers(-5, 5, size=shape) for shape in ((4, 3), (3, 5), (4, 5)))
    (found,) = outputs(text, {"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(found, (a - 2) @ (b - 1) + c)
    assert_runs(text)


WINDOWS = {
    "conv_2d_nhwc_hwcf": ("1x7x6x2", "3x2x2x3", "1x3x3x3", "abicxy,xycf->abif"),
    "conv_2d_nhwc_fhwc": ("1x7x6x2", "3x3x2x2", "1x3x3x3", "abicxy,fxyc->abif"),
    "depthwise_conv_2d_nhwc_hwc": ("1x7x6x2", "3x2x2", "1x3x3x2", "abicxy,xyc->abic"),
    "depthwise_conv_2d_nhwc_hwcm": ("1x7x6x2", "3x2x2x3", "1x3x3x2x3", "abicxy,xycm->abicm"),
}
"""Of images of 7 by 6, and kernels of 3 by 2 that go on by 2: the shapes, and what NumPy makes of windows."""


@pytest.mark.parametrize("name", WINDOWS)
def test_a_convolution_by_strides(name: str) -> None:
    image, kernel, given, equation = WINDOWS[name]
    text = f"""
func.func @f(%x: tensor<{image}xf32>, %w: tensor<{kernel}xf32>, %y: tensor<{given}xf32>)
    -> tensor<{given}xf32> {{
  %r = linalg.{name} {{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}}
      ins(%x, %w : tensor<{image}xf32>, tensor<{kernel}xf32>) outs(%y : tensor<{given}xf32>)
      -> tensor<{given}xf32>
  return %r : tensor<{given}xf32>
}}"""
    x, w, y = (RNG.normal(size=[int(n) for n in shape.split("x")]) for shape in (image, kernel, given))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(1, 2))[:, ::2, ::2]
    (found,) = outputs(text, {"x": x, "w": w, "y": y})
    wanted = np.einsum(equation, windows, w) + y
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_calls_between_functions_and_several_results() -> None:
    text = """
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b = call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = call @twice(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c, %b : tensor<4xf32>, tensor<4xf32>
}"""
    a = RNG.normal(size=4)
    four, two = outputs(text, {"a": a})
    np.testing.assert_allclose(four, 4 * a, rtol=1e-6)
    np.testing.assert_allclose(two, 2 * a, rtol=1e-6)
    assert_runs(text)


def test_the_generic_form() -> None:
    text = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "f"}> ({
  ^bb0(%a: tensor<4xf32>):
    %r = "arith.addf"(%a, %a) <{fastmath = #arith.fastmath<none>}>
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%r) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()"""
    a = RNG.normal(size=4)
    (found,) = outputs(text, {"a": a})
    np.testing.assert_allclose(found, 2 * a, rtol=1e-6)


def test_a_padding_in_the_generic_form_whose_width_is_an_operand() -> None:
    text = """
func.func @f(%a: tensor<4xf32>) -> tensor<?xf32> {
  %n = arith.constant 2 : index
  %z = arith.constant 3.0 : f32
  %r = "tensor.pad"(%a, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_high = array<i64: 1>,
      static_low = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index):
    "tensor.yield"(%z) : (f32) -> ()
  }) : (tensor<4xf32>, index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}"""
    a = RNG.normal(size=4)
    (found,) = outputs(text, {"a": a})
    np.testing.assert_allclose(found, np.pad(a, (2, 1), constant_values=3), rtol=1e-6)
    assert_runs(text)
