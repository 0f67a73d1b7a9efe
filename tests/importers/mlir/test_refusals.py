"""What cannot be imported is refused at its place, in one sentence, with a way out."""

import pytest

from samhw.app.workload.mlir import workload_of
from samhw.errors import InputError
from samhw.importers.mlir import choose_function, read_module

M = "tensor<4x4xf32>"

REFUSED = {
    f"%r = math.atan %a : {M}": "t.mlir:2:8: 'math.atan' has no meaning in a program here; compute it before",
    f"%r = sam.repeat %a : {M}": "'sam.repeat' is of a dialect of dataflow graphs, which are made here",
    f"%r = foo.bar %a : {M}": "t.mlir:2:8: 'foo.bar' is not imported; compute it before or after the run, or",
    f"%r = func.call @g(%a) : ({M}) -> {M}": "calls 'g', which the file does not define; define it",
    f"%r = linalg.fft ins(%a : {M}) outs(%a : {M}) -> {M}": "write it as linalg.generic, which mlir-opt does",
    f"%r = tensor.cast %b : {M} to {M}": "'f' uses %b, which it does not define; mend the file.",
    f"%r = tensor.extract_slice %a[3, 0] [2, 4] [1, 1] : {M} to tensor<2x4xf32>": "takes 2 elements",
    f"%r = arith.addf %a, : {M}": "",
    "%r = tensor.empty() : tensor<4x4xcomplex<f32>>": "complex<f32>, for which there is no hardware; compute",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_function_is_refused(line: str) -> None:
    text = f"func.func @f(%a: {M}) -> {M} {{\n  {line}\n  return %r : {M}\n}}"
    module = read_module(text, "t.mlir")
    with pytest.raises(InputError) as found:
        workload_of(module, choose_function(module, None), ("random:size=4",))
    message = str(found.value)
    assert message.startswith("t.mlir:")
    assert REFUSED[line] in message
    first = message.splitlines()[0]
    assert "; " in first
    assert first.endswith(".")


def test_an_integer_division_is_refused() -> None:
    text = """func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {
  %r = arith.divsi %a, %a : tensor<4xi32>
  return %r : tensor<4xi32>
}"""
    module = read_module(text, "t.mlir")
    with pytest.raises(InputError, match="divides integers, for which there is no hardware; divide before"):
        workload_of(module, choose_function(module, None), ("random:size=4",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("indexing_maps = [#one], iterator_types", "has not one map for each operand; mend its maps"),
        ("indexing_maps = [#one, #two], iterator_types", "has not one map for each operand; mend its maps"),
        ("indexing_maps = [#one, #none], iterator_types", "has a map of 0 dimensions for an operand of 1"),
    ],
)
def test_maps_that_do_not_fit_what_is_known_before_the_run(line: str, said: str) -> None:
    text = f"""
#one = affine_map<(i) -> (i)>
#two = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {{
  %e = tensor.empty() : tensor<4xi32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r = linalg.generic {{{line} = ["parallel"]}} ins(%c : tensor<4xi32>) outs(%e : tensor<4xi32>) {{
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  }} -> tensor<4xi32>
  %y = arith.addi %a, %r : tensor<4xi32>
  return %y : tensor<4xi32>
}}"""
    module = read_module(text, "t.mlir")
    with pytest.raises(InputError, match=said):
        workload_of(module, choose_function(module, None), ("random:size=4",))


def test_a_text_that_is_no_mlir() -> None:
    with pytest.raises(InputError, match=r"t\.mlir:2:1: .*; mend the file"):
        read_module("func.func @f(%a: f32) -> f32 {\n", "t.mlir")


def test_several_functions_are_named() -> None:
    body = f"(%a: {M}) -> {M} {{\n  return %a : {M}\n}}\n"
    module = read_module(f"func.func @f{body}func.func @g{body}", "t.mlir")
    with pytest.raises(InputError, match=r"defines several functions \(f, g\); name one: t\.mlir:f"):
        choose_function(module, None)
    with pytest.raises(InputError, match="defines no function 'h'"):
        choose_function(module, "h")


def test_data_that_a_file_leaves_out_are_drawn_and_said() -> None:
    text = f"""func.func @f(%a: {M}) -> {M} {{
  %w = arith.constant dense_resource<__elided__> : {M}
  %r = arith.mulf %a, %w : {M}
  return %r : {M}
}}"""
    module = read_module(text, "t.mlir")
    workload = workload_of(module, choose_function(module, None), ("random",))
    assert workload.notes == ("The file leaves out the data of w, which are random here.",)


def test_an_output_that_nothing_has_set_is_said() -> None:
    text = f"""func.func @f(%a: {M}) -> {M} {{
  %e = tensor.empty() : {M}
  %r = linalg.matmul ins(%a, %a : {M}, {M}) outs(%e : {M}) -> {M}
  return %r : {M}
}}"""
    module = read_module(text, "t.mlir")
    workload = workload_of(module, choose_function(module, None), ("random",))
    assert workload.notes == ("%e is read, and nothing has set it: it counts as zero or as nothing.",)
