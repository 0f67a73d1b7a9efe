"""Reductions and named operations on whole numbers, conditions and NaN, against NumPy."""

from pathlib import Path

import numpy as np
import pytest

from samhw.errors import InputError, RunError
from tests.importers.mlir.agree import imported
from tests.importers.mlir.elementwise import body_text, results

WORDS = np.array([[100, 100, -128], [-100, -100, 5], [127, 1, 127], [3, -2, 4]], np.int8)
NAN = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan], [np.nan, -np.inf, -2], [np.inf, 0, np.nan]])


def reduction(body: str, kind: str, start: str, gives: str = "") -> str:
    """A function of rows of three; the body makes %r of %o and of the element %a."""
    gives = gives or kind
    return f"""func.func @f(%x: tensor<4x3x{kind}>) -> tensor<4x{gives}> {{
  %s = arith.constant {start} : {gives}
  %e = tensor.empty() : tensor<4x{gives}>
  %i = linalg.fill ins(%s : {gives}) outs(%e : tensor<4x{gives}>) -> tensor<4x{gives}>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<4x3x{kind}>) outs(%i : tensor<4x{gives}>) {{
  ^bb0(%a: {kind}, %o: {gives}):
    {body}
    linalg.yield %r : {gives}
  }} -> tensor<4x{gives}>
  return %y : tensor<4x{gives}>
}}"""


def check(text, arrays, wanted, folder: Path) -> None:
    with np.errstate(all="ignore"):
        found, meant = results(text, arrays, folder)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(meant, wanted)


def wrapped(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.int64).astype(np.int8)


def test_a_sum_of_words_ends_the_run_where_it_would_wrap(tmp_path: Path) -> None:
    text = reduction("%r = arith.addi %a, %o : i8", "i8", "3")
    check(text, [WORDS // 4], (WORDS // 4).sum(1, dtype=int) + 3, tmp_path)
    with pytest.raises(RunError, match="overflow"):
        results(text, [np.full((4, 3), 100)], tmp_path)


def test_a_sum_of_words_wraps_in_floating_point(tmp_path: Path) -> None:
    text = reduction("%r = arith.addi %a, %o : i8", "i8", "100")
    text = text.replace("-> tensor<4xi8> {", "-> tensor<4xf32> {", 1).replace(
        "  return %y : tensor<4xi8>",
        "  %z = arith.sitofp %y : tensor<4xi8> to tensor<4xf32>\n  return %z : tensor<4xf32>",
    )
    check(text, [WORDS], wrapped(WORDS.sum(1, dtype=int) + 100), tmp_path)
    with pytest.raises(InputError, match="reduces words of i8, of which f32 does not hold all results"):
        results(text.replace("arith.addi %a", "arith.muli %a"), [WORDS], tmp_path)


@pytest.mark.parametrize(
    ("name", "kind", "wanted"),
    [
        ("maxsi", "i8", WORDS.max(1)),
        ("minsi", "i8", WORDS.min(1)),
        ("addi", "i32", WORDS.sum(1, dtype=int)),
        ("maxui", "i8", WORDS.view(np.uint8).max(1).view(np.int8)),
        ("minui", "i8", np.minimum(WORDS.view(np.uint8).min(1), 100).view(np.int8)),
        ("maxui", "i32", WORDS.astype(np.int32).view(np.uint32).max(1).view(np.int32)),
        ("andi", "i1", (WORDS > 0).all(1)),
        ("ori", "i1", (WORDS > 0).any(1)),
        ("maxsi", "i1", (WORDS > 0).all(1)),
        ("minui", "i1", (WORDS > 0).all(1)),
        ("maxui", "i1", (WORDS > 0).any(1)),
    ],
)
def test_a_reduction_of_words(name: str, kind: str, wanted: np.ndarray, tmp_path: Path) -> None:
    start = {"maxsi": "-128", "minsi": "127", "minui": "100"}.get(name, "0")
    if kind == "i1":
        start = {"ori": "false", "maxui": "false"}.get(name, "true")
    text = reduction(f"%r = arith.{name} %a, %o : {kind}", kind, start)
    check(text, [WORDS > 0 if kind == "i1" else WORDS], wanted, tmp_path)


MAXNUM, MINNUM = np.array([3, -np.inf, -2, np.inf]), np.array([1, np.inf, -np.inf, 0])


@pytest.mark.parametrize(
    ("body", "start", "wanted"),
    [
        ("%r = arith.maxnumf %a, %o : f32", "0xFF800000", MAXNUM),
        ("%r = arith.maxnumf %o, %a : f32", "2.0", np.maximum(MAXNUM, 2)),
        ("%r = arith.minnumf %a, %o : f32", "0x7F800000", MINNUM),
        ("%c = arith.cmpf ogt, %a, %o : f32\n%r = arith.select %c, %a, %o : f32", "0xFF800000", MAXNUM),
        (
            "%c = arith.cmpf olt, %a, %o : f32\n%r = arith.select %c, %a, %o : f32",
            "1.5",
            np.minimum(MINNUM, 1.5),
        ),
        ("%r = arith.maximumf %a, %o : f32", "0xFF800000", [np.nan, np.nan, np.nan, np.nan]),
    ],
)
def test_a_maximum_beside_nan(body: str, start: str, wanted: np.ndarray, tmp_path: Path) -> None:
    check(reduction(body, "f32", start), [NAN], wanted, tmp_path)


def test_a_maximum_that_lets_nan_pass_by_its_order_is_refused(tmp_path: Path) -> None:
    body = "%c = arith.cmpf ogt, %o, %a : f32\n%r = arith.select %c, %o, %a : f32"
    with pytest.raises(InputError, match="reduces by a body that is no sum, product, maximum or minimum"):
        results(reduction(body, "f32", "0.0"), [NAN], tmp_path)


def named(line: str, left: str, right: str, gives: str) -> str:
    kind = gives.rpartition("x")[2]
    zero = {"i1": "false", "f32": "0.0 : f32"}.get(kind, f"0 : {kind}")
    return f"""func.func @f(%a: tensor<{left}>, %b: tensor<{right}>) -> tensor<{gives}> {{
  %z = arith.constant {zero}
  %e = tensor.empty() : tensor<{gives}>
  %i = linalg.fill ins(%z : {kind}) outs(%e : tensor<{gives}>) -> tensor<{gives}>
  %y = linalg.{line} ins(%a, %b : tensor<{left}>, tensor<{right}>) outs(%i : tensor<{gives}>)
      -> tensor<{gives}>
  return %y : tensor<{gives}>
}}"""


PLAIN = "matmul"
UNSIGNED = "matmul {cast = #linalg.type_fn<cast_unsigned>}"
CONTRACT = """contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]}"""


def signed_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(int) @ b.astype(int)


def unsigned_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return signed_product(a.view(np.uint8), b.view(np.uint8))


@pytest.mark.parametrize(
    ("line", "kinds", "wanted"),
    [
        (PLAIN, ("i8", "i32"), signed_product),
        (PLAIN, ("i8", "f32"), signed_product),
        (UNSIGNED, ("i8", "i32"), unsigned_product),
        (UNSIGNED, ("i8", "f32"), unsigned_product),
        (PLAIN, ("i1", "i1"), lambda a, b: signed_product(a, b) > 0),
        (PLAIN, ("i1", "i32"), signed_product),
        (CONTRACT, ("i8", "i32"), signed_product),
    ],
)
def test_a_product_casts_its_operands(line, kinds, wanted, tmp_path: Path) -> None:
    held = WORDS > 50 if kinds[0] == "i1" else WORDS
    a, b = held, np.ascontiguousarray(held.T)
    text = named(line, f"4x3x{kinds[0]}", f"3x4x{kinds[0]}", f"4x4x{kinds[1]}")
    check(text, [a, b], wanted(a, b), tmp_path)


BINARY = [
    ("add", "i8", lambda a, b: a + b),
    ("sub", "i8", lambda a, b: a - b),
    ("max", "i8", np.maximum),
    ("min", "i8", np.minimum),
    ("add", "i1", np.logical_or),
    ("mul", "i1", np.logical_and),
    ("elementwise kind=#linalg.elementwise_kind<max_signed>", "i8", np.maximum),
    (
        "elementwise kind=#linalg.elementwise_kind<max_unsigned>",
        "i8",
        lambda a, b: np.maximum(a.view(np.uint8), b.view(np.uint8)).view(np.int8),
    ),
    (
        "elementwise kind=#linalg.elementwise_kind<min_unsigned>",
        "i8",
        lambda a, b: np.minimum(a.view(np.uint8), b.view(np.uint8)).view(np.int8),
    ),
    ("max", "f32", np.maximum),
    ("div", "f32", np.divide),
]


@pytest.mark.parametrize(("line", "kind", "wanted"), BINARY)
def test_a_named_operation_of_two(line, kind, wanted, tmp_path: Path) -> None:
    a = WORDS > 0 if kind == "i1" else WORDS
    b = np.ascontiguousarray(a[::-1])
    with np.errstate(over="ignore"):
        expected = wanted(a.astype(np.float32), b.astype(np.float32)) if kind == "f32" else wanted(a, b)
    text = named(line, f"4x3x{kind}", f"4x3x{kind}", f"4x3x{kind}")
    with np.errstate(all="ignore"):
        found, meant = results(text, [a, b], tmp_path)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(meant, expected, rtol=1e-6)


@pytest.mark.parametrize("line", ["div", "elementwise kind=#linalg.elementwise_kind<div>"])
def test_a_named_division_of_whole_numbers_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="divides integers, for which there is no hardware; divide before"):
        results(named(line, "4x3xi32", "4x3xi32", "4x3xi32"), [WORDS, WORDS], tmp_path)


@pytest.mark.parametrize(
    ("kind", "signed"), [("max", True), ("max_unsigned", False), ("min_unsigned", False)]
)
def test_a_pooling_of_words(kind: str, signed: bool, tmp_path: Path) -> None:
    fill = {"max": -128, "max_unsigned": 0, "min_unsigned": -1}[kind]
    text = f"""func.func @f(%x: tensor<1x4x3x1xi8>) -> tensor<1x2x1x1xi8> {{
  %s = arith.constant {fill} : i8
  %k = tensor.empty() : tensor<2x3xi8>
  %e = tensor.empty() : tensor<1x2x1x1xi8>
  %i = linalg.fill ins(%s : i8) outs(%e : tensor<1x2x1x1xi8>) -> tensor<1x2x1x1xi8>
  %y = linalg.pooling_nhwc_{kind} {{strides = dense<[2, 1]> : vector<2xi64>}}
      ins(%x, %k : tensor<1x4x3x1xi8>, tensor<2x3xi8>) outs(%i : tensor<1x2x1x1xi8>) -> tensor<1x2x1x1xi8>
  return %y : tensor<1x2x1x1xi8>
}}"""
    held = (WORDS if signed else WORDS.view(np.uint8)).reshape(2, 6)
    wanted = held.min(1) if kind.startswith("min") else held.max(1)
    found, meant = results(text, [WORDS.reshape(1, 4, 3, 1)], tmp_path)
    np.testing.assert_array_equal(found.reshape(-1), wanted.astype(np.int8))
    np.testing.assert_array_equal(meant.reshape(-1), wanted.astype(np.int8))


@pytest.mark.parametrize(
    ("number", "taken", "gives", "wanted"),
    [
        ("300", "i32", "i8", 44),
        ("-1.75", "f32", "i32", -1),
        ("true", "i1", "i32", -1),
        ("200", "i8", "f32", -56),
    ],
)
def test_a_fill_casts_its_number(number: str, taken: str, gives: str, wanted: float, tmp_path: Path) -> None:
    zero = "addf" if gives == "f32" else "addi"
    text = f"""func.func @f(%x: tensor<2x{gives}>) -> tensor<2x{gives}> {{
  %s = arith.constant {number}{"" if taken == "i1" else f" : {taken}"}
  %e = tensor.empty() : tensor<2x{gives}>
  %i = linalg.fill ins(%s : {taken}) outs(%e : tensor<2x{gives}>) -> tensor<2x{gives}>
  %y = arith.{zero} %x, %i : tensor<2x{gives}>
  return %y : tensor<2x{gives}>
}}"""
    check(text, [np.zeros(2, int)], np.full(2, wanted), tmp_path)


def test_a_payload_takes_the_types_of_its_operands(tmp_path: Path) -> None:
    text = """func.func @f(%x: tensor<4x3xi8>) -> tensor<4x3xi32> {
  %e = tensor.empty() : tensor<4x3xi32>
  %y = linalg.map { arith.extui } ins(%x : tensor<4x3xi8>) outs(%e : tensor<4x3xi32>)
  return %y : tensor<4x3xi32>
}"""
    check(text, [WORDS], WORDS.view(np.uint8), tmp_path)


def test_a_bitcast_of_a_tensor_is_refused(tmp_path: Path) -> None:
    text = """func.func @f(%x: tensor<4x3xi32>) -> tensor<4x3xf32> {
  %y = tensor.bitcast %x : tensor<4x3xi32> to tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}"""
    with pytest.raises(InputError, match="takes i32 as f32; cast the elements with operations of arith"):
        results(text, [WORDS], tmp_path)


def test_whole_numbers_that_floating_point_may_lose_are_said() -> None:
    lossy = "%n = arith.addi %a, %a : i32\n %r = arith.sitofp %n : i32 to f32"
    exact = (
        "%m = arith.extsi %a : i8 to i32\n %n = arith.muli %m, %m : i32\n %r = arith.sitofp %n : i32 to f32"
    )
    note = "Whole numbers of i32 are computed in f32, which holds all of them up to 16,777,216."
    arrays = {"va": np.ones(3)}
    assert note in imported(body_text(lossy, ["i32"], "f32", 3), arrays).notes
    assert imported(body_text(exact, ["i8"], "f32", 3), arrays).notes == ()


def test_the_absolute_value_of_the_least_word_is_that_word(tmp_path: Path) -> None:
    text = """func.func @f(%a: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %r = linalg.abs ins(%a : tensor<4xi8>) outs(%e : tensor<4xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}"""
    given = np.array([-128, -127, 0, 5], np.int8)
    found, meant = results(text, [given], tmp_path)
    np.testing.assert_array_equal(found, np.abs(given))  # In NumPy too, it stays.
    np.testing.assert_array_equal(meant, np.abs(given))


def test_a_quantized_product_of_conditions_is_refused() -> None:
    text = """func.func @f(%a: tensor<2x3xi1>, %b: tensor<3x2xi1>, %y: tensor<2x2xi1>) -> tensor<2x2xi1> {
  %z = arith.constant true
  %r = linalg.quantized_matmul ins(%a, %b, %z, %z : tensor<2x3xi1>, tensor<3x2xi1>, i1, i1)
      outs(%y : tensor<2x2xi1>) -> tensor<2x2xi1>
  return %r : tensor<2x2xi1>
}"""
    arrays = {"a": np.ones((2, 3)), "b": np.ones((3, 2)), "y": np.zeros((2, 2))}
    with pytest.raises(InputError, match="multiplies conditions less others; use integers of eight bits"):
        imported(text, arrays)
