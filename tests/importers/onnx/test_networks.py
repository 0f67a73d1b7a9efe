"""Networks in ONNX: what they compute, by hand; what decides them; and how refusals read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from click.testing import CliRunner
from onnx import helper, numpy_helper

import samhw.onnx
from samhw.app.cli import main
from samhw.errors import InputError
from tests.importers.onnx.networks import compiled, network, output, run


def test_a_layer_by_hand() -> None:
    text = """g (float[2, 3] x) => (float[2, 2] y)
        <float[3, 2] w = {1, 2, 0, 1, 3, 0}, float[2] b = {-5, 10}> { t = Gemm (x, w, b)  y = Relu (t) }"""
    found = output(text, x=[[1, 2, 3], [0, 1, 0]])
    # 1 + 0 + 9 - 5 = 5, 2 + 2 + 0 + 10 = 14; 0 - 5 < 0, 1 + 10 = 11.
    assert found.tolist() == [[5, 14], [0, 11]]
    assert found.dtype == np.float32


def test_integers_stay_integers() -> None:
    text = "g (int32[3] a, int32[3] b) => (int32[3] y) { y = Mul (a, b) }"
    design = compiled(text, {"a": [2, -3, 40000], "b": [5, 7, 50000]})
    assert design.imported.element == "i32"
    assert design.run()["y"].tolist() == [10, -21, 2_000_000_000]


def test_integers_divide_towards_zero() -> None:
    text = "g (int32[4] a, int32[4] b) => (int32[4] y) { y = Div (a, b) }"
    design = compiled(text, {"a": [7, -7, 7, 6], "b": [2, 2, -2, 3]})
    assert design.run()["y"].tolist() == [3, -3, -3, 2]
    assert design.notes == ()


@pytest.mark.parametrize("kind", ["int32", "uint32", "int64"])
def test_fractions_to_integer_powers(kind: str) -> None:
    """Powers that differ from place to place are integers, and their parity is no integer's half."""
    text = f"g (float[5] a, {kind}[5] b) => (float[5] y) {{ y = Pow (a, b) }}"
    found = compiled(text, {"a": [1.5, -2, -2, 0, 4], "b": [2, 3, 2, 1, 0]}).run()
    assert np.allclose(found["y"], [2.25, -8, 4, 0, 1], rtol=1e-5)
    assert found.check().good


def test_a_convolution_by_hand() -> None:
    text = """g (float[1, 1, 3, 3] x) => (float[1, 1, 2, 2] y) <float[1, 1, 2, 2] w = {1, 0, 0, 2}>
        { y = Conv <kernel_shape = [2, 2]> (x, w) }"""
    x = np.arange(9).reshape(1, 1, 3, 3)
    # Each element and twice the one right below it: 0 + 8, 1 + 10, 3 + 14, 4 + 16.
    assert output(text, x=x).reshape(-1).tolist() == [8, 11, 17, 20]


def test_a_table_is_looked_up_by_hardware() -> None:
    text = (
        """g (int64[n] ids) => (float[n, 2] y) <float[3, 2] t = {1, 2, 3, 4, 5, 6}> { y = Gather (t, ids) }"""
    )
    design = compiled(text, {"ids": [2, 0, -1]})
    assert design.run()["y"].tolist() == [[5, 6], [1, 2], [5, 6]]
    assert design.run({"ids": [1, 1, 1]})["y"].tolist() == [[3, 4]] * 3
    assert len(design._known) == 1
    with pytest.raises(InputError, match=r"An index lies outside of 0 to 2; fix the indices\."):
        design.run({"ids": [3, 0, 0]})
    with pytest.raises(InputError, match="The input 'ids' is of int64, and its data are not"):
        design.run({"ids": [1.5, 0, 0]})


def test_an_input_that_decides_shapes_is_fixed() -> None:
    text = "g (float[4] x, int64[2] shape) => (float[a, b] y) { y = Reshape (x, shape) }"
    design = compiled(text, {"x": [1, 2, 3, 4], "shape": [2, 2]})
    assert design.fixed == ("shape",)
    assert design.run()["y"].tolist() == [[1, 2], [3, 4]]
    assert design.run({"x": [1, 2, 3, 4], "shape": [4, 1]})["y"].shape == (4, 1)


def test_a_branch_is_chosen_as_the_network_is_imported() -> None:
    text = """g (float[2] x, bool c) => (float[2] y) {
        y = If (c) <then_branch = a () => (float[2] t) { t = Neg (x) },
                    else_branch = b () => (float[2] e) { e = Exp (x) }> }"""
    design = compiled(text, {"x": [0, 0], "c": False})
    assert design.run()["y"].tolist() == [1, 1]
    assert design.run({"x": [2, 3], "c": True})["y"].tolist() == [-2, -3]


@pytest.mark.parametrize("steps", [2, 5])
def test_loops_are_unrolled_or_scans(steps: int) -> None:
    body = """b (int64 i, bool cin, float[2] s) => (bool cout, float[2] t, float[2] u)
        { cout = Identity (cin)  t = Add (s, s)  u = Neg (t) }"""
    text = f"""g (float[2] x) => (float[2] y, float[{steps}, 2] every) <int64 n = {{{steps}}}, bool c = {{1}}>
        {{ y, every = Loop (n, c, x) <body = {body}> }}"""
    found = run(text, {"x": [1, 3]})
    assert found["y"].tolist() == [2**steps, 3 * 2**steps]
    assert found["every"].tolist() == [[-(2**n), -3 * 2**n] for n in range(1, steps + 1)]
    assert any(s.scan is not None for s in found.imported.program.statements) == (steps > 2)


def test_constants_with_zeros_are_stored_sparse_where_that_is_asked_for() -> None:
    w = "{0, 0, 1, 0, 0, 0, 2, 0}"
    text = f"g (float[3, 4] x) => (float[3, 2] y) <float[4, 2] w = {w}> {{ y = MatMul (x, w) }}"
    data = {"x": np.arange(12).reshape(3, 4)}
    dense, sparse = compiled(text, data), compiled(text, data, sparsify=0.5)
    chosen = compiled(text, data, schedule="auto")
    assert chosen.compiled.schedule.formats["w"] == "csr"
    assert dense.run()["y"].tolist() == chosen.run()["y"].tolist()
    assert dense.imported.program.tensors["w"].format.is_all_dense
    assert sparse.imported.program.tensors["w"].format.is_sparse
    assert dense.run()["y"].tolist() == sparse.run()["y"].tolist()


def test_a_function_of_the_model() -> None:
    body = [helper.make_node("Mul", ["a", "a"], ["s"]), helper.make_node("Add", ["s", "b"], ["r"])]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]
    function = helper.make_function("mine", "SquareAdd", ["a", "b"], ["r"], body, opsets[:1])
    value = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in "xy"]
    node = helper.make_node("SquareAdd", ["x", "x"], ["y"], domain="mine")
    graph = helper.make_graph([node], "g", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=10)
    assert samhw.onnx.compile(model, {"x": [2, -3]}).run()["y"].tolist() == [6, 6]


def test_weights_beside_the_model(tmp_path: Path) -> None:
    model = network(
        "g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {3, 0, 0, 3}> { y = MatMul (x, w) }"
    )
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.eye(2, dtype=np.float32) * 3, "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
    found = samhw.onnx.compile(tmp_path / "m.onnx", {"x": [[1, 2], [3, 4]]}).run()
    assert found["y"].tolist() == [[3, 6], [9, 12]]
    assert found.check().max_abs_error == 0
    (tmp_path / "w.bin").unlink()
    with pytest.raises(InputError, match="constant 'w' cannot be read"):
        samhw.onnx.compile(tmp_path / "m.onnx", {"x": [[1, 2], [3, 4]]})


def test_old_models_are_converted() -> None:
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 2])
    node = helper.make_node("Slice", ["x"], ["y"], starts=[1], ends=[3], axes=[1])
    model = helper.make_model(
        helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 7)], ir_version=3
    )
    assert samhw.onnx.compile(model, {"x": [[1, 2, 3, 4]]}).run()["y"].tolist() == [[2, 3]]


def test_samples_between_elements() -> None:
    text = "{ y = GridSample <align_corners = 1> (x, at) }"
    ports = "(float[1, 1, 2, 2] x, float[1, 1, 2, 2] at) => (float[1, 1, 1, 2] y)"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {ports} {text}')
    data = {"x": [[[[1, 2], [3, 4]]]], "at": [[[[1, -0.5], [0, 1]]]]}
    assert samhw.onnx.compile(model, data).run()["y"].tolist() == [[[[2.5, 3.5]]]]


@pytest.mark.parametrize(
    ("text", "data", "said"),
    [
        (
            "g (float[3] x) => (float[k] y) { c = Greater (x, x)  y = Compress (x, c) }",
            {"x": [1, 2, 3]},
            "Compress 'y' gives a shape that depends on data; do this after the run.",
        ),
        (
            "g (float[2] x) => (float[2] y) { y = RandomNormalLike (x) }",
            {"x": [1, 2]},
            "RandomNormalLike 'y' draws random numbers; give them as an argument.",
        ),
        (
            "g (float[2] x, float[2] c) => (float[2] y) { z = ReduceMax <keepdims = 0> (c) "
            "b = Cast <to = 9> (z) y = If (b) <then_branch = t () => (float[2] p) { p = Neg (x) }, "
            "else_branch = e () => (float[2] q) { q = Exp (x) }> }",
            {"x": [1, 2], "c": [1, 2]},
            "If 'y' takes a condition that the network computes; make it a constant, or an input of its own.",
        ),
        (
            "g (float[1, 1, 2, 2] x, float[1, 1, 1, 2] at) => (float[1, 1, 1, 1] y) "
            '{ y = GridSample <mode = "cubic", padding_mode = "border"> (x, at) }',
            {"x": [[[[1, 2], [3, 4]]]], "at": [[[[0, 0]]]]},
            "GridSample 'y' samples between 4 elements with the padding 'border'; pad by zeros.",
        ),
        (
            "g (string[2] x) => (string[2] y) { y = Identity (x) }",
            {"x": ["a", "b"]},
            "'x' holds string; use tensors of numbers.",
        ),
        (
            "g (float[2] x) => (float[2] y) <float[2] y = {1, 2}> { z = Neg (x) }",
            {"x": [1, 2]},
            "'g' computes nothing of its inputs; there is nothing to compile.",
        ),
    ],
)
def test_refusals_name_the_node(text: str, data: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        samhw.onnx.compile(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}'), data)
    assert str(refused.value) == said


TEXT = """g (float[batch, 3] x, int64[batch] ids) => (float[batch, 2] y)
    <float[3, 2] w = {1, 2, 0, 1, 3, 0}, float[2, 2] t = {1, 2, 3, 4}>
    { a = MatMul (x, w)  b = Gather (t, ids)  y = Add (a, b) }"""


def test_the_command_line(tmp_path: Path) -> None:
    path, x = tmp_path / "net.onnx", tmp_path / "x.npy"
    onnx.save(network(TEXT), path)
    np.save(x, np.ones((4, 3), np.float32))
    refused = CliRunner().invoke(main, ["run", str(path)])
    assert refused.exit_code == 2
    assert "The network leaves batch open; give '--extents batch=1', or data." in refused.output
    for given in (
        [str(path), "--extents", "batch=2"],
        [f"{path}:batch=2"],
        [str(path), "--data", f"x={x}"],
    ):
        done = CliRunner().invoke(main, ["run", *given])
        assert done.exit_code == 0, done.output
        assert "ids: random zeros and ones; --data gives others." in done.output
        assert "result     right" in done.output
    unknown = CliRunner().invoke(main, ["run", f"{path}:rows=2"])
    assert "The network leaves no dimension 'rows' open; it has batch." in unknown.output
    for command in ("compile", "tune", "compare"):
        extra = ["-o", str(tmp_path / "s.json")] if command == "tune" else []
        done = CliRunner().invoke(main, [command, f"{path}:batch=2", *extra])
        assert done.exit_code == 0, done.output


def test_a_sum_that_others_read_stays_as_it_is() -> None:
    """What is added to it goes into its statement only where nothing else reads that."""
    text = """g (float[2] x) => (float[2] z, float[2] u, float[2] s)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] c = {10, 20}>
        { s = MatMul (x, w)  z = Add (s, c)  u = Neg (s) }"""
    found = run(text.replace(", float[2] s)", ")"), {"x": [1, 1]})
    assert (found["z"].tolist(), found["u"].tolist()) == ([14, 26], [-4, -6])
    assert run(text, {"x": [1, 1]})["s"].tolist() == [4, 6]


def test_a_model_that_breaks_rules_is_refused() -> None:
    text = "g (float[2, 3] x) => (float[3, 2] y) { y = Transpose <perm = [0, 4]> (x) }"
    broken = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    with pytest.raises(InputError, match=r"The model breaks a rule of ONNX .*perm.*; mend it"):
        samhw.onnx.compile(broken, {"x": np.zeros((2, 3))})
