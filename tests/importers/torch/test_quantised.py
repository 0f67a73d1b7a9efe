"""Quantised modules, as PT2E writes them: every product in integers, against an oracle of exact integers and
rational scales that knows of nothing else."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.app.workload.exact_integers import ExactIntegers
from samhw.app.workload.torch_module import check_program
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.importers.torch import import_module
from samhw.lang import Access, Expr, Mul, dumps, walk
from samhw.lang.reference import evaluate_program
from samhw.lang.typed import kind_of, typed, types_of

Q = torch.ops.quantized_decomposed
Array = npt.NDArray[Any]
Params = tuple[float, int, int, int, torch.dtype]

SIGNED, UNSIGNED = (-128, 127, torch.int8), (0, 255, torch.uint8)


def steps(x: Tensor, *params: Any) -> Tensor:
    """Quantised, and back: as it stands in exported modules."""
    return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *params), *params)


# The oracle


def rescaled(whole: Array, factor: Any, zero: int, least: int, greatest: int) -> Array:
    """Integers times exact factors, rounded to nearest, ties to even."""
    both = np.broadcast_arrays(whole.astype(object), np.asarray(factor, object))
    found = [
        min(max(round(int(w) * Fraction(f)) + zero, least), greatest)
        for w, f in zip(*map(np.ravel, both), strict=True)
    ]
    return np.array(found, np.int64).reshape(both[0].shape)


def bias_of(bias: Tensor, unit: Array) -> Array:
    """A bias in integers of a unit each."""
    return np.array([round(Fraction(float(b)) / u) for b, u in zip(bias, unit, strict=True)], np.int64)


def loaded(x: Tensor, params: Params) -> Array:
    """What the host makes of an argument."""
    return Q.quantize_per_tensor(x, *params).numpy().astype(np.int64)


def outputs(module: nn.Module, *arguments: Tensor, **options: Any) -> tuple[Any, Any]:
    """The imported module, and what its program means for the arguments."""
    imported = import_module(module.eval(), arguments, **options)
    found = evaluate_program(imported.program, imported.tensors(arguments))
    return imported, imported.outputs(found, arguments, exact=True)


def kinds_of_products(imported: Any) -> set[str]:
    """The types in which the program multiplies tensors with each other."""
    program = typed(imported.program, value_type("f32"))
    types = types_of(program, value_type("f32"))

    def reads(expr: Expr) -> bool:
        return any(isinstance(node, Access) for node in walk(expr))

    found = [
        node
        for statement in program.statements
        if statement.reduction_indices
        for node in walk(statement.rhs)
        if isinstance(node, Mul) and reads(node.left) and reads(node.right)
    ]
    return {str(kind_of(node, types)) for node in found}


class Layers(nn.Module):
    """Two linear layers: weights by channel, and a zero point that is no zero."""

    def __init__(self, kind: tuple[int, int, torch.dtype], between: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        least = kind[0]
        self.params: list[Params] = [
            (0.0137, 98 + least, *kind),
            (0.021, 5 + least, *kind),
            (0.0356, 191 + least, *kind),
        ]
        self.between = between
        draw = torch.Generator().manual_seed(1)
        for n, (rows, columns) in enumerate(((5, 6), (3, 5))):
            self.register_buffer(
                f"w{n}", torch.randint(-127, 128, (rows, columns), generator=draw).to(torch.int8)
            )
            self.register_buffer(f"s{n}", torch.rand(rows, generator=draw) * 0.01 + 0.001)
            self.register_buffer(f"z{n}", torch.zeros(rows, dtype=torch.int64))
            self.register_buffer(f"b{n}", torch.randn(rows, generator=draw))

    def weight(self, n: int) -> Tensor:
        held = [getattr(self, f"{name}{n}") for name in "wsz"]
        return Q.dequantize_per_channel(*held, 0, -127, 127, torch.int8)

    def forward(self, x: Tensor) -> Tensor:
        x = steps(x, *self.params[0])
        x = steps(self.between(F.linear(x, self.weight(0), self.b0)), *self.params[1])
        return steps(F.linear(x, self.weight(1), self.b1), *self.params[2])

    def exact(self, x: Tensor, ends: tuple[float, float]) -> Array:
        """By the oracle; `ends` are those of what stands between."""
        whole = loaded(x, self.params[0])
        for n in (0, 1):
            (scale, zero, *_), (own, place, least, greatest, _) = self.params[n : n + 2]
            weights = getattr(self, f"w{n}").numpy().astype(np.int64)
            unit = np.array([Fraction(float(s)) * Fraction(scale) for s in getattr(self, f"s{n}")], object)
            sums = (whole - zero) @ weights.T + bias_of(getattr(self, f"b{n}"), unit)
            if n == 0:
                cut = [round(Fraction(e) / Fraction(own)) + place if np.isfinite(e) else e for e in ends]
                least, greatest = int(max(least, cut[0])), int(min(greatest, cut[1]))
            whole = rescaled(sums, unit / Fraction(own), place, least, greatest)
        return whole


@pytest.mark.parametrize("kind", [SIGNED, UNSIGNED], ids=["i8", "u8"])
@pytest.mark.parametrize(
    ("between", "ends"),
    [
        (torch.relu, (0, np.inf)),
        (F.relu6, (0, 6)),
        (lambda x: x.clamp(-0.3, 0.4), (-0.3, 0.4)),
        (lambda x: x * 1, (-np.inf, np.inf)),
    ],
    ids=["relu", "relu6", "clamp", "nothing"],
)
def test_linear_layers(kind: Any, between: Any, ends: Any) -> None:
    module = Layers(kind, between)
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(2))
    imported, found = outputs(module, x)
    scale, zero, *_ = module.params[2]
    wanted = (module.exact(x, ends) - zero).astype(np.float64) * scale
    np.testing.assert_array_equal(found.numpy(), wanted)
    assert kinds_of_products(imported) == {"i32"}
    stored = {str(decl.value) for decl in imported.program.inputs if decl.rank == 2}
    assert stored == {"i8"}
    # What is between is no statement of its own: only the result is computed in floating point.
    assert dumps(imported.program).count("f32") == 1


def test_a_weight_of_zero_points_and_a_result_of_real_numbers() -> None:
    """By hand: (7 - 1)(5 - 2) + (-3 - 1)(-4 - 2) = 42, and (7 - 1)(6 - 2) + (-3 - 1)(0 - 2) = 32."""

    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            weight = torch.tensor([[5, -4], [6, 0]], dtype=torch.int8)
            held = Q.dequantize_per_tensor(weight, 0.5, 2, -128, 127, torch.int8)
            return F.linear(steps(x, 0.25, 1, *SIGNED), held, torch.tensor([0.1, -0.1]))

    imported, found = outputs(Plain(), torch.tensor([[1.5, -1.0]]))
    np.testing.assert_allclose(found.numpy(), [[42 / 8 + 0.1, 32 / 8 - 0.1]], rtol=1e-7)
    assert kinds_of_products(imported) == {"i32"}


def test_both_factors_are_data() -> None:
    """Zero points of both take sums of both."""

    class Scores(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            one, other = steps(x, 0.25, 3, *SIGNED), steps(y, 0.5, 200, *UNSIGNED)
            return steps(one @ other.T, 1.0, -7, *SIGNED)

    draw = torch.Generator().manual_seed(3)
    x, y = torch.randn(3, 4, generator=draw) * 8, torch.randn(5, 4, generator=draw) * 16
    imported, found = outputs(Scores(), x, y)
    one, other = loaded(x, (0.25, 3, *SIGNED)) - 3, loaded(y, (0.5, 200, *UNSIGNED)) - 200
    wanted = rescaled(one @ other.T, Fraction(1, 8), -7, -128, 127) + 7
    np.testing.assert_array_equal(found.numpy(), wanted)
    assert kinds_of_products(imported) == {"i32"}


class Image(nn.Module):
    """A convolution with padding, what is before it added to its result, and pools."""

    def __init__(self) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(4)
        self.register_buffer("w", torch.randint(-127, 128, (2, 2, 3, 3), generator=draw).to(torch.int8))
        self.register_buffer("s", torch.tensor([0.004, 0.011]))
        self.register_buffer("z", torch.zeros(2, dtype=torch.int64))
        self.register_buffer("b", torch.tensor([0.7, -0.3]))

    def forward(self, x: Tensor) -> Tensor:
        weight = Q.dequantize_per_channel(self.w, self.s, self.z, 0, -127, 127, torch.int8)
        x = steps(x, 0.02, -40, *SIGNED)
        y = steps(F.conv2d(x, weight, self.b, padding=1), 0.05, 12, *SIGNED)
        y = steps(torch.relu(x + y), 0.04, -128, *SIGNED)
        y = steps(F.max_pool2d(y, 2), 0.04, -128, *SIGNED)
        return steps(F.adaptive_avg_pool2d(y, 1), 0.03, -128, *SIGNED).flatten(1)


def test_convolutions_sums_and_pools() -> None:
    module = Image()
    x = torch.randn(2, 2, 4, 4, generator=torch.Generator().manual_seed(5))
    imported, found = outputs(module, x)
    given = loaded(x, (0.02, -40, *SIGNED)) + 40
    wide = np.pad(given, [(0, 0), (0, 0), (1, 1), (1, 1)])
    taken = np.stack([wide[:, :, r : r + 4, c : c + 4] for r in range(3) for c in range(3)], -1)
    sums = np.einsum("nirct,oit->norc", taken, module.w.numpy().astype(np.int64).reshape(2, 2, 9))
    units = [Fraction(float(s)) * Fraction(0.02) for s in module.s]
    unit: Array = np.array(units, dtype=np.object_)[:, None, None]
    sums = sums + bias_of(module.b, unit[:, 0, 0])[:, None, None]
    folded = rescaled(sums, unit / Fraction(0.05), 12, -128, 127) - 12
    # A sum of several: 20 bits after the greatest factor's leading one, 0.05 / 0.04 = 1.25.
    factors = [round(Fraction(s) / Fraction(0.04) * 2**19) for s in (0.02, 0.05)]
    both = rescaled(given * factors[0] + folded * factors[1], Fraction(1, 2**19), -128, -128, 127)
    most = both.reshape(2, 2, 2, 2, 2, 2).max((3, 5))
    mean = rescaled((most + 128).sum((2, 3)), Fraction(0.04) / 4 / Fraction(0.03), -128, -128, 127)
    np.testing.assert_array_equal(found.numpy(), (mean + 128).astype(np.float64) * 0.03)
    assert kinds_of_products(imported) == {"i32"}
    assert "f32" not in dumps(imported.program).replace("= to(f32", "", 1)


def test_parts_that_stand_for_numbers_alike_are_put_together_as_integers() -> None:
    class Parts(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            params = (0.5, 3, *UNSIGNED)
            both = torch.cat([steps(x, *params), steps(x * 2, *params)], 1)
            return steps(both.reshape(2, 3, 2).transpose(0, 1), *params)

    x = torch.arange(6.0).reshape(2, 3)
    imported, found = outputs(Parts(), x)
    np.testing.assert_array_equal(found.numpy(), Parts()(x).numpy())
    assert {str(decl.value) for decl in imported.program.tensors.values()} == {"i8", "None"}


def test_other_data_than_the_example_is_quantised_by_each_scale() -> None:
    """Of zeros both scales make the same."""

    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return steps(x, 0.5, 0, *SIGNED) - steps(x, 0.25, 0, *SIGNED)

    imported = import_module(Twice(), (torch.zeros(1, 2),))
    given = (torch.tensor([[0.25, 0.3]]),)
    found = imported.outputs(evaluate_program(imported.program, imported.tensors(given)), given, exact=True)
    np.testing.assert_array_equal(found.numpy(), [[-0.25, 0.25]])


def test_sums_that_could_leave_32_bits_are_computed_in_floating_point() -> None:
    class Long(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            params = (0.5, 0, -32768, 32767, torch.int16)
            return steps(x, *params) @ steps(y, *params)

    x, y = torch.full((1, 4), 3.0), torch.full((4, 1), 2.0)
    imported, found = outputs(Long(), x, y)
    assert found.item() == 24
    assert kinds_of_products(imported) == {"f32"}


def test_integers_are_multiplied_as_they_are() -> None:
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.tensor([[1, -2], [3, 4]], dtype=torch.int8))

        def forward(self, x: Tensor) -> Tensor:
            return torch._int_mm(x, self.w).float() * 0.5

    x = torch.tensor([[100, -128], [5, 6]], dtype=torch.int8)
    imported, found = outputs(Plain(), x)
    np.testing.assert_array_equal(found.numpy(), [[(100 - 384) / 2, (-200 - 512) / 2], [23 / 2, 14 / 2]])
    assert kinds_of_products(imported) == {"i32"}


class Dynamic(nn.Module):
    """Ranges that a run finds, and a weight that stands as integers."""

    def forward(self, x: Tensor) -> Tensor:
        ends = (-128, 127, torch.int8)
        found = Q.choose_qparams(x, -128, 127, 2.0**-12, torch.int8)
        x = Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *found, *ends), *found, *ends)
        weight = torch.tensor([[5, -4, 3], [6, 0, -128]], dtype=torch.int8)
        return F.linear(x, Q.dequantize_per_tensor(weight, 0.5, 0, *ends), torch.tensor([0.1, -0.1]))


def test_ranges_that_a_run_finds() -> None:
    """By hand: from -1 to 1.55 a step is 0.01 and zero -28; 1.55 is 127 then, and 0.5 is 22."""
    imported, found = outputs(Dynamic(), torch.tensor([[1.55, -1.0, 0.5]]))
    first = 0.005 * (155 * 5 + 100 * 4 + 50 * 3) + 0.1
    second = 0.005 * (155 * 6 - 50 * 128) - 0.1
    np.testing.assert_allclose(found.numpy(), [[first, second]], rtol=1e-6)
    assert kinds_of_products(imported) == {"i32"}


class Faked(nn.Module):
    """As training leaves it."""

    def forward(self, x: Tensor) -> Tensor:
        weight = torch.tensor([[0.5, -0.26], [0.3, 9.0]])
        scales, zeros = torch.tensor([0.01, 0.02]), torch.zeros(2, dtype=torch.int32)
        weight = torch.fake_quantize_per_channel_affine(weight, scales, zeros, 0, -127, 127)
        x = torch.fake_quantize_per_tensor_affine(x, 0.5, 3, 0, 255)
        return torch.fake_quantize_per_tensor_affine(F.linear(x, weight), 0.25, 0, -128, 127)


def test_what_training_quantises_and_back_is_integers() -> None:
    """By hand: 4 and -1.5 are 11 and 0; (8 * 50 + 3 * 26) * 0.02 and (8 * 15 - 3 * 127) * 0.04 steps."""
    imported, found = outputs(Faked(), torch.tensor([[4.0, -1.6]]))
    np.testing.assert_array_equal(found.numpy(), [[10 * 0.25, -10 * 0.25]])
    assert kinds_of_products(imported) == {"i32"}
    assert np.array_equal(ExactIntegers(imported.exported).given(torch.tensor([[4.0, -1.6]])), found)


@pytest.mark.parametrize(
    "module", [Image(), Layers(SIGNED, torch.relu), Dynamic()], ids=["image", "layers", "run"]
)
def test_the_judge_is_exact_where_pytorch_rounds(module: nn.Module) -> None:
    """It says what the program says, and PyTorch what is one step from it at most, and seldom."""
    draw = torch.Generator().manual_seed(7)
    x = torch.randn(
        (20, 2, 4, 4) if isinstance(module, Image) else (40, 3 if isinstance(module, Dynamic) else 6),
        generator=draw,
    )
    imported, found = outputs(module, x)
    np.testing.assert_allclose(
        ExactIntegers(imported.exported).given(x).numpy(), found.numpy(), rtol=1e-12, atol=1e-12
    )
    apart = (module(x) - found).abs()
    assert float(apart.max()) < 0.05
    assert float((apart > 1e-5).double().mean()) < 0.1


class Beside(nn.Module):
    """Integers of one scale, summed in a row beside a cast to bf16."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.weight = nn.Linear(6, 6), nn.Parameter(torch.randn(6, 6))

    def forward(self, x: Tensor) -> Tensor:
        product = steps(x, 0.02, 3, *UNSIGNED) @ steps(self.weight, 0.02, 0, *SIGNED)
        sums = steps(product, 0.1, 4, *UNSIGNED)
        return torch.cat([sums, self.linear(x).bfloat16().float()], -1).cumsum(-1)


def test_the_judge_takes_casts_and_running_sums() -> None:
    """Types that an exported module asserts are no longer those in float64, and a scale by one number is
    known as well as one by a tensor."""
    torch.manual_seed(5)
    module, x = Beside().eval(), torch.randn(5, 6)
    run = samhw.torch.compile(module, (x,), value="f32", permute=True).run()
    assert run.check().good
    torch.testing.assert_close(run.output, module(x), rtol=0, atol=1e-5)


def test_weights_alone_and_casts() -> None:
    class Alone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.tensor([[1, -2], [3, 4]], dtype=torch.int8))

        def forward(self, x: Tensor) -> Tensor:
            return (x.bfloat16().float() @ self.w.t().float()) * 0.5

    # 1 + 2^-8 is a tie of bf16, and becomes 1.
    imported, found = outputs(Alone(), torch.tensor([[1.00390625, 2.0]]))
    np.testing.assert_array_equal(found.numpy(), [[-1.5, 5.5]])
    assert {str(decl.value) for decl in imported.program.inputs} == {"i8", "None"}


def test_what_cannot_be_exported_is_refused_with_a_way_out() -> None:
    packed = torch.ao.nn.quantized.dynamic.Linear(3, 2)
    with pytest.raises(InputError, match=r"quantised Linear of PyTorch's eager mode.*convert_pt2e"):
        import_module(nn.Sequential(packed), (torch.zeros(1, 3),))
    observed = nn.Sequential(torch.ao.quantization.FusedMovingAvgObsFakeQuantize()).eval()
    with pytest.raises(InputError, match="disable_observer"):
        import_module(observed, (torch.rand(1, 3),))
    observed.apply(torch.ao.quantization.disable_observer)
    _, found = outputs(observed, torch.tensor([[2.0, 3.4, -1.0]]))
    # A step of 1, as nothing has been observed, of 0 to 255.
    np.testing.assert_array_equal(found.numpy(), [[2, 3, 0]])


def test_torchao() -> None:
    """Its integers of weights, and of data by row."""
    ao = pytest.importorskip("torchao.quantization")
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(8))
    for made, kinds in (
        (ao.Int8WeightOnlyConfig, {"f32"}),
        (ao.Int8DynamicActivationInt8WeightConfig, {"i32"}),
    ):
        torch.manual_seed(9)
        module = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4)).eval()
        ao.quantize_(module, made())
        imported, found = outputs(module, x)
        # The extreme of a row of data is at a tie, which f32 takes either way.
        assert check_program(module, imported, (x,), imported.tensors((x,))) < 0.02
        torch.testing.assert_close(found, module(x).double(), rtol=0, atol=0.02)
        assert kinds_of_products(imported) == kinds
        assert sum(str(decl.value) == "i8" for decl in imported.program.inputs) == 2


@pytest.mark.verilator
def test_simulator_rtl_and_hls_agree() -> None:
    module, x = Layers(UNSIGNED, torch.relu), torch.randn(3, 6, generator=torch.Generator().manual_seed(6))
    design = samhw.torch.compile(module, (x,), value="f32")
    runs = [design.run(backend=backend) for backend in ("sim", "verilator", "hls")]
    runs[0].check()
    assert runs[0].cycles == runs[1].cycles
    scale, zero, *_ = module.params[2]
    wanted = (module.exact(x, (0, np.inf)) - zero).astype(np.float32) * np.float32(scale)
    for run in runs:
        np.testing.assert_array_equal(run.output.numpy(), wanted)


class Masked(nn.Module):
    """A constant without a sign, most of which are zeros, times data that are."""

    def __init__(self) -> None:
        super().__init__()
        weights = [[0, 200, 0, 0], [0, 0, 255, 0], [3, 0, 0, 0]]
        self.register_buffer("w", torch.tensor(weights, dtype=torch.uint8))

    def forward(self, x: Tensor) -> Tensor:
        weight = Q.dequantize_per_tensor(self.w, 0.5, 0, *UNSIGNED)
        return steps(steps(x, 0.25, 0, *UNSIGNED) @ weight.T, 1.0, 0, *UNSIGNED)


def test_zeros_of_integers_without_a_sign_stay_zeros() -> None:
    x = torch.tensor([[0.0, 0.25, 0, 1], [0, 0, 0, 60]])
    imported, found = outputs(Masked(), x, sparsify=0.5)
    # 1 * 200 and 0 * 255 and 0 * 3, times 1/8: 25.
    assert found.tolist() == [[25, 0, 0], [0, 0, 0]]
    kinds = {name: str(decl.value) for name, decl in imported.program.tensors.items()}
    assert kinds["x_q"] == kinds["w"] == "u8"
    # Nothing is added for zero points.
    assert len(imported.program.statements) == 3
    design = samhw.torch.compile(Masked(), (x,), value="f32", sparsify=0.5, formats={"x_q": "csr"})
    assert design.run().check().good
    units = {
        (node.params["op"], str(graph.operand_type(node)), str(graph.result_type(node)))
        for region in design.compiled.regions
        for graph in [region.graph]
        for node in graph.nodes
        if node.params.get("op") == "mul" and graph.result_type(node) == value_type("i32")
    }
    assert units == {("mul", "u8", "i32")}


@pytest.mark.slow
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("name", ["attention", "cnn"])
def test_networks_that_pt2e_has_quantised(name: str) -> None:
    """Every product is one of integers, and the program is the oracle to the bit."""
    pytest.importorskip("torchao")
    from benchmarks.quantised_models import row

    found = row(name, ("sim",))
    assert found["in integers"] == found["products"] > 4
    assert found["off"] == 0 < found["integers"]
    assert found["result, 2^-24"] < 4
