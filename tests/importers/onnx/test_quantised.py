"""Integers of networks are exact, in types of their own: quantised products, quotients, bits, casts; and the
quantisers of QONNX."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from click.testing import CliRunner
from numpy.random import default_rng
from onnx import helper, numpy_helper

import samhw.onnx
from samhw.app.cli import main
from samhw.app.onnx import NetworkDesign
from samhw.errors import InputError
from tests.importers.onnx.networks import compiled, network, output, run


def types(text: str, **data: Any) -> dict[str, str]:
    """Those of the program's tensors that have one of their own."""
    tensors = compiled(text, data).imported.program.tensors
    return {name: str(decl.value) for name, decl in tensors.items() if decl.value is not None}


# Products


def test_sums_beyond_2_to_the_24() -> None:
    text = "g (uint8[1, 601] a) => (int32[1, 1] y) <uint8[601, 1] b> { y = MatMulInteger (a, b) }"
    model = network(text.replace("<uint8[601, 1] b>", "").replace("a)", "a, uint8[601, 1] b)", 1))
    data = {"a": np.full((1, 601), 255, np.uint8), "b": np.full((601, 1), 255, np.uint8)}
    # 601 * 65,025 is odd, and more than f32 counts to.
    assert samhw.onnx.compile(model, data).run()["y"].tolist() == [[39_080_025]]


QLINEAR = """g (uint8[1, 2] a) => (uint8[1, 2] y)
    <uint8[2, 2] b = {129, 130, 126, 128}, uint8 bz = {128}, uint8 az = {1}, uint8 yz = {7},
     float s = {0.5}, float t = {0.5}, float u = {0.5}> { y = QLinearMatMul (a, s, az, b, t, bz, u, yz) }"""


def test_a_quantised_product_by_hand() -> None:
    # (4, 2) times ((1, 2), (-2, 0)) is (0, 8); (11, 3) gives (5, 22). Halves: 2.5 and 11, and ties are even.
    assert output(QLINEAR, a=np.array([[5, 3]], np.uint8)).tolist() == [[7, 11]]
    design = compiled(QLINEAR, {"a": np.array([[12, 4]], np.uint8)})
    assert design.run()["y"].tolist() == [[9, 18]]
    # Weights less their zero point have 8 bits, activations are as they are, and sums have 32.
    kinds = {name: str(decl.value) for name, decl in design.imported.program.tensors.items()}
    assert kinds == {"a": "u8", "y": "i16", "b": "i8", "y_2": "i32", "y_3": "u8"}


def test_a_quantised_product_saturates() -> None:
    text = QLINEAR.replace("float u = {0.5}", "float u = {0.001}")
    assert output(text, a=np.array([[5, 3]], np.uint8)).tolist() == [[7, 255]]


def test_scales_that_a_run_decides() -> None:
    text = "g (float[2, 3] x) => (uint8[2, 3] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }"
    found = run(text, {"x": [[0.5, -1, 3], [2.25, 1, 0]]})
    # From -1 to 3 in 255 steps: the zero point is 63.75, rounded to 64.
    assert found["z"] == 64
    assert found["y"].tolist() == [[96, 0, 255], [207, 128, 64]]


def test_views_keep_the_type() -> None:
    text = """g (int8[2, 4] x) => (int8[3, 5] y) <int64[4] p = {1, 0, 0, 1}>
        { y = Pad (x, p) }"""
    assert output(text, x=np.arange(8, dtype=np.int8).reshape(2, 4)).tolist()[1] == [0, 1, 2, 3, 0]
    assert set(types(text, x=np.zeros((2, 4), np.int8)).values()) == {"i8"}


# Plain integers


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
def test_short_integers_wrap(kind: str) -> None:
    ends = np.iinfo(kind)
    a = np.array([ends.max, ends.min, ends.max, ends.max // 2 + 1], kind)
    b = np.array([1, ends.max, 127, ends.max // 2], kind)
    for operator, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
        text = f"g ({kind}[4] a, {kind}[4] b) => ({kind}[4] y) {{ y = {operator} (a, b) }}"
        with np.errstate(over="ignore"):
            assert output(text, a=a, b=b).tolist() == function(a, b).tolist()


def test_quotients_of_all_magnitudes() -> None:
    rng = default_rng(5)
    size = np.exp2(rng.uniform(0, 30.9, (2, 60)))
    a, b = (np.rint(size) * rng.choice([-1, 1], (2, 60))).astype(np.int32)
    a[:4], b[:4] = [2**24 + 1, 2**30 - 1, -(2**30) + 1, 7], [3, 2, 3, 7]
    text = "g (int32[60] a, int32[60] b) => (int32[60] y, int32[60] z) { y = Div (a, b) z = Mod (a, b) }"
    found = run(text, {"a": a, "b": b})
    wide = a.astype(np.int64)
    assert found["y"].tolist() == (np.sign(wide) * np.sign(b) * (np.abs(wide) // np.abs(b))).tolist()
    assert found["z"].tolist() == np.mod(wide, b).tolist()


@pytest.mark.parametrize("number", [2, 3, -7, 641, 2**20 + 1, 2**31 - 1])
def test_quotients_by_a_number(number: int) -> None:
    a = default_rng(number & 255).integers(-(2**31), 2**31, 40).astype(np.int32)
    a[:3] = [2**31 - 1, -(2**31) + 1, 0]
    text = f"g (int32[40] a) => (int32[40] y) <int32 b = {{{number}}}> {{ y = Div (a, b) }}"
    wide = a.astype(np.int64)
    wanted = np.sign(wide) * np.sign(number) * (np.abs(wide) // abs(number))
    assert output(text, a=a).tolist() == wanted.tolist()


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32"])
def test_bits(kind: str) -> None:
    ends = np.iinfo(kind)
    a, b = default_rng(2).integers(ends.min, ends.max, (2, 12), endpoint=True).astype(kind)
    a[:2] = ends.min, ends.max
    text = f"""g ({kind}[12] a, {kind}[12] b) => ({kind}[12] x, {kind}[12] y, {kind}[12] z)
        {{ x = BitwiseAnd (a, b) y = BitwiseOr (a, b) z = BitwiseXor (a, b) }}"""
    found = run(text, {"a": a, "b": b})
    assert found["x"].tolist() == (a & b).tolist()
    assert found["y"].tolist() == (a | b).tolist()
    assert found["z"].tolist() == (a ^ b).tolist()


def test_bits_of_a_number() -> None:
    text = "g (int32[4] a) => (int32[4] y) <int32[1] b = {27}> { y = BitwiseAnd (a, b) }"
    assert output(text, a=np.array([27, -1, 100, 4], np.int32)).tolist() == [27, 27, 0, 0]


def test_parts_of_a_concatenation_are_of_its_type() -> None:
    """They are products with ones here, which are integers of 32 bits."""
    text = """g (float[2] x) => (float[2, 2] y) <int64[1] first = {0}>
        { t = Unsqueeze (x, first) q, s, z = DynamicQuantizeLinear (t)
          d = DequantizeLinear (q, s, z) y = Concat <axis = 0> (d, d) }"""
    found = output(text, x=np.array([0, 2.55], np.float32))
    np.testing.assert_allclose(found, [[0, 2.55], [0, 2.55]], rtol=1e-6)


def test_integers_of_more_than_32_bits_are_refused() -> None:
    text = "g (int64[2] a) => (int64[2] y) { y = Add (a, a) }"
    with pytest.raises(InputError, match="takes integers of 'a' beyond 32 bits; give smaller ones"):
        compiled(text, {"a": [2**40, 1]})


def test_integers_meet_conditions_and_fractions() -> None:
    text = """g (float[3] x, int8[3] a, int8[3] b) => (int8[3] y, float[3] z, int8[6] w)
        <float[3] one = {1, 1.5, 1}> { c = Less (x, one) y = Where (c, a, b)
          f = Cast <to = 1> (y) z = Mul (f, x) w = Concat <axis = 0> (y, a) }"""
    data = {"x": [0.5, 2, 3], "a": [1, 2, 3], "b": [-4, -5, -6]}
    found = run(text, data)
    assert found["y"].tolist() == [1, -5, -6]
    assert found["z"].tolist() == [0.5, -10, -18]
    assert found["w"].tolist() == [1, -5, -6, 1, 2, 3]


def test_a_state_of_integers() -> None:
    body = """b (int64 i, bool cin, int32[2] s) => (bool cout, int32[2] t)
        { cout = Identity (cin)  t = Mul (s, s) }"""
    text = f"""g (int32[2] x, float[2] f) => (int32[2] y, float[2] z) <int64 n = {{4}}, bool c = {{1}}>
        {{ y = Loop (n, c, x) <body = {body}> z = Neg (f) }}"""
    # 3^16 needs 26 bits.
    assert run(text, {"x": [3, -1], "f": [1, 2]})["y"].tolist() == [3**16, 1]


# Casts


@pytest.mark.parametrize("to", ["FLOAT16", "BFLOAT16", "FLOAT8E4M3FNUZ", "FLOAT4E2M1"])
def test_casts_round(to: str) -> None:
    kind = getattr(onnx.TensorProto, to)
    rng = default_rng(3)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    most = 60000 if to == "FLOAT16" else 200 if "8" in to else 6
    x = (np.exp2(rng.uniform(-26, 0, 90)) * most * rng.choice([-1, 1], 90)).astype(np.float32)
    ties = x[:30].astype(dtype).astype(np.float32)
    x[30:60] = (ties + np.nextafter(ties.astype(np.float32), 9)) / 2
    x[60:63] = [0, 65519.996, -65519.996] if to == "FLOAT16" else [0, 1, -1]
    text = f"g (float[90] x) => (float[90] y) {{ t = Cast <to = {kind}> (x) y = Cast <to = 1> (t) }}"
    wanted = x.astype(dtype).astype(np.float32)
    small = np.abs(wanted) < 1e-38
    found = output(text, x=x)
    assert np.array_equal(np.where(small, 0, found), np.where(small, 0, wanted))


def test_what_is_too_large_for_float16_is_infinite() -> None:
    text = "g (float[4] x) => (float[4] y) { t = Cast <to = 10> (x) y = Cast <to = 1> (t) }"
    found = compiled(text, {"x": [65520, -1e30, 65519, np.nan]}).run()["y"]
    assert found[:3].tolist() == [np.inf, -np.inf, 65504]
    assert np.isnan(found[3])


# QONNX

DOMAIN = "qonnx.custom_op.general"


def qonnx(
    nodes: list[onnx.NodeProto], constants: dict[str, Any], shape: tuple[int, ...], version: int = 1
) -> Any:
    """A network of x, which gives y."""
    ends = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", shape), ("y", [None] * len(shape)))]
    held = [numpy_helper.from_array(np.asarray(v, np.float32), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], held)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(DOMAIN, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


QUANT = {"s": 0.5, "z": 0, "b": 3}
FLOAT = {"s": 0.5, "e": 2, "m": 1, "o": 1, "v": 6}
X = np.array([[-9, -1.25, -0.75, 0.25], [0.75, 1.1, 1.25, 9]], np.float32)
CASES: dict[str, tuple[list[str], dict[str, Any], dict[str, Any], list[list[float]]]] = {
    "Quant": (["s", "z", "b"], QUANT, {"signed": 1, "narrow": 0}, [[-2, -1, -1, 0], [1, 1, 1, 1.5]]),
    "IntQuant": (
        ["s", "z", "b"],
        QUANT,
        {"signed": 0, "narrow": 1, "rounding_mode": "CEIL"},
        [[0, 0, 0, 0.5], [1, 1.5, 1.5, 3]],
    ),
    "BipolarQuant": (["s"], {"s": 0.5}, {}, [[-0.5, -0.5, -0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]),
    "Trunc": (
        ["s", "z", "b", "c"],
        {"s": 0.5, "z": 0, "b": 4, "c": 3},
        {"rounding_mode": "FLOOR"},
        # -18, -2, -2, 0, 2, 2, 2, 18 units, and half of them.
        [[-4.5, -0.5, -0.5, 0], [0.5, 0.5, 0.5, 4.5]],
    ),
    "FloatQuant": (
        ["s", "e", "m", "o", "v"],
        FLOAT,
        {"has_inf": 0, "has_nan": 0, "has_subnormal": 1, "saturation": 1},
        # Of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 times 0.5.
        [[-3, -1, -0.75, 0.25], [0.75, 1, 1, 3]],
    ),
    "MultiThreshold": (
        ["t"],
        {"t": [[-1, 0, 1]] * 2 + [[0.25, 1.25, 2]] * 2},
        {"out_dtype": "INT2", "out_scale": 0.5, "out_bias": -1.0},
        [[-1, -1, -1, -0.5], [0, 0.5, 0, 0.5]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_quantisers_by_hand(name: str) -> None:
    inputs, constants, attributes, wanted = CASES[name]
    node = helper.make_node(name, ["x", *inputs], ["y"], domain=DOMAIN, **attributes)
    model = qonnx([node], constants, X.shape)
    found = samhw.onnx.compile(model, {"x": X}).run()
    assert found["y"].tolist() == wanted
    assert found.check().program_error == 0
    assert np.array_equal(judged(model, x=X)["y"], found["y"])


def judged(model: onnx.ModelProto, **data: Any) -> dict[str, Any]:
    """What `qonnx` gives, where it is installed."""
    exec_ = pytest.importorskip("qonnx.core.onnx_exec")
    wrapper = pytest.importorskip("qonnx.core.modelwrapper").ModelWrapper(model)
    shapes = pytest.importorskip("qonnx.transformation.infer_shapes").InferShapes()
    found: dict[str, Any] = exec_.execute_onnx(wrapper.transform(shapes), data)
    return found


DIGITS = Path(__file__).parents[3] / "examples" / "onnx"
SEEN = [1, 7, 4, 6, 3, 1, 3, 9, 1, 7]
"""The digits of the images; the networks of both widths take the first for another one."""


def digits(bits: int) -> tuple[onnx.ModelProto, NetworkDesign, Any]:
    images = np.load(DIGITS / "digits.npy")
    model = onnx.load(DIGITS / f"digits{bits}.onnx")
    return model, samhw.onnx.compile(model, {"images": images}), images


@pytest.mark.parametrize("bits", [4, 8])
def test_the_tutorials_network_is_right(bits: int) -> None:
    model, design, images = digits(bits)
    kinds = {name: str(decl.value) for name, decl in design.imported.program.tensors.items()}
    assert list(kinds.values()).count("i8") == (4 if bits == 4 else 2)
    result = design.run()
    assert result.check().good
    assert (result["scores"].argmax(1) == SEEN).sum() >= 9
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = len(images)
    assert np.abs(judged(model, images=images)["scores"] - result["scores"]).max() < 1e-5


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=0)
@pytest.mark.parametrize("bits", [4, 8])
def test_the_tutorials_network_as_hardware(bits: int) -> None:
    _, design, _ = digits(bits)
    modelled, built, hls = (design.run(backend=backend) for backend in ("sim", "verilator", "hls"))
    assert built.cycles == modelled.cycles
    for other in (built, hls):
        assert other["scores"].tobytes() == modelled["scores"].tobytes()


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=0)
def test_the_tutorials_network_on_a_board() -> None:
    given = [str(DIGITS / "digits4.onnx"), "--data", f"images={DIGITS / 'digits.npy'}"]
    done = CliRunner().invoke(main, ["run", *given, "--backend", "board:ulx3s", "--emulate"])
    assert done.exit_code == 0, done.output
    cycles = re.findall(r"(?:simulator|board) +([\d,]+) cycles", done.output)
    assert len(cycles) == 2
    assert cycles[0] == cycles[1]
    assert "result     right" in done.output


@pytest.mark.parametrize(
    ("channels", "count", "shape"), [(4, 63, (3, 4)), (4, 70, (1, 4, 2, 2)), (1, 255, (4, 4))]
)
def test_many_thresholds_are_searched(channels: int, count: int, shape: tuple[int, ...]) -> None:
    """With ties, infinities and NaN; in fewer cycles than a comparison each takes."""
    rng = default_rng(count)
    table = np.sort(rng.integers(-50, 50, (channels, count)) / 8, axis=1).astype(np.float32)
    x = (rng.integers(-60, 60, shape) / 8).astype(np.float32)
    x.reshape(-1)[:4] = np.inf, -np.inf, np.nan, table[0, -1]
    node = helper.make_node("MultiThreshold", ["x", "t"], ["y"], domain=DOMAIN, out_dtype="UINT8")
    limits = table.reshape(1, channels, *[1] * (len(shape) - 2), count)
    found = samhw.onnx.compile(qonnx([node], {"t": table}, shape), {"x": x}).run()
    assert np.array_equal(found["y"], (x[..., None] >= limits).sum(-1))
    assert found.check().program_error == 0
    shuffled = samhw.onnx.compile(qonnx([node], {"t": table[:, ::-1]}, shape), {"x": x}).run()
    assert np.array_equal(shuffled["y"], found["y"])
    assert found.cycles < 0.7 * shuffled.cycles


def layer() -> tuple[Any, dict[str, Any]]:
    """A product of activations of 4 bits with weights of 3 bits, a scale for each channel, ReLU and a
    quantiser."""
    rng = default_rng(1)
    make = helper.make_node
    nodes = [
        make("Quant", ["x", "s", "z", "four"], ["q"], domain=DOMAIN, signed=1, narrow=0),
        make("Quant", ["w", "r", "z", "three"], ["p"], domain=DOMAIN, signed=1, narrow=1),
        make("MatMul", ["q", "p"], ["t"]),
        make("Relu", ["t"], ["u"]),
        make("Quant", ["u", "v", "z", "four"], ["y"], domain=DOMAIN, signed=0, narrow=0),
    ]
    scales = {"s": 0.25, "r": [0.5, 0.25, 0.125], "v": 0.375, "z": 0, "four": 4, "three": 3}
    data = {"x": rng.integers(-8, 8, (2, 6)).astype(np.float32) / 4}
    return qonnx(nodes, {**scales, "w": rng.normal(size=(6, 3))}, (2, 6)), data


def test_weights_of_few_bits_are_stored_in_few() -> None:
    model, data = layer()
    design = samhw.onnx.compile(model, data)
    kinds = {name: str(decl.value) for name, decl in design.imported.program.tensors.items()}
    assert (kinds["w"], kinds["q"], kinds["y"]) == ("i8", "i8", "i8")
    found = design.run()
    q, w = data["x"], model.graph.initializer[-1]
    scale = np.array([0.5, 0.25, 0.125])
    whole = np.clip(np.rint(numpy_helper.to_array(w) / scale), -3, 3) * scale
    wanted = np.clip(np.rint(np.maximum(q @ whole, 0) / 0.375), 0, 15) * 0.375
    assert found["y"].tolist() == wanted.tolist()
    assert found.check().program_error == 0


@pytest.mark.verilator
@pytest.mark.slow
def test_quantised_networks_as_rtl() -> None:
    for model, data in (layer(), (network(QLINEAR), {"a": np.array([[5, 3]], np.uint8)})):
        design = samhw.onnx.compile(model, data)
        modelled, built = design.run(), design.run(backend="verilator")
        assert built.cycles == modelled.cycles
        assert built["y"].tobytes() == modelled["y"].tobytes()


def test_another_judge(tmp_path: Any) -> None:
    pytest.importorskip("onnxruntime")
    path = tmp_path / "net.onnx"
    onnx.save(network(QLINEAR), path)
    done = CliRunner().invoke(main, ["run", str(path), "--check", "onnxruntime"])
    assert done.exit_code == 0, done.output
    assert "right: greatest difference from NumPy 0" in done.output
    refused = CliRunner().invoke(main, ["run", "spmv", "--check", "onnxruntime"])
    assert "'--check onnxruntime' compares networks in ONNX, and this is none" in refused.output
