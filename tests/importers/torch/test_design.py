"""`samhw.torch.compile`: layouts, formats, other arguments, outputs, and what is refused."""

import math
import re
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import samhw.torch
from samhw.errors import InputError, RunError
from samhw.importers.torch import ImportedModule, import_module
from samhw.lang import parse

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")


class BothSigns(nn.Module):
    """What is positive of a layer's result, beside what is negative."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 32)

    def forward(self, x):
        y = self.layer(x)
        return torch.cat([F.relu(y), F.relu(-y)], 1)


def test_parts_that_share_a_layer_run_in_one_region():
    torch.manual_seed(0)
    module, x = BothSigns(), (torch.randn(4, 8),)
    found = samhw.torch.compile(module, x, fuse="module").run()
    assert len(found.result.compiled.regions) == 1
    torch.testing.assert_close(found.output, module(*x), rtol=1e-4, atol=1e-4)


def test_regions_by_the_kinds_of_statements():
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Softmax(dim=-1)), (torch.randn(4, 6),)
    found = samhw.torch.compile(module, x, fuse="kinds").run()
    # The product with its activation; maximum, exponentials, sum and quotient by themselves.
    assert [len(region.region.statements) for region in found.result.compiled.regions] == [2, 1, 1, 1, 1]
    torch.testing.assert_close(found.output, module(*x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("asked", [{"fuse": "auto"}, {"schedule": "auto"}])
def test_a_schedule_that_is_chosen(asked):
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)), (torch.randn(4, 6),)
    design = samhw.torch.compile(module, x, **asked)
    found = design.run()
    torch.testing.assert_close(found.output, module(*x), rtol=1e-4, atol=1e-4)
    assert design.compiled.why
    levels = ("none", "module", "full")
    best = min(samhw.torch.compile(module, x, fuse=level).run().result.cycles for level in levels)
    assert found.result.cycles <= 1.05 * best


class Spread(nn.Module):
    """A sparse product, with the matrix as an argument, a buffer or a parameter."""

    def __init__(self, matrix=None, parameter=False):
        super().__init__()
        if parameter:
            self.matrix = nn.Parameter(matrix)
        else:
            self.register_buffer("matrix", matrix)

    def forward(self, x, matrix=None):
        return (self.matrix if matrix is None else matrix) @ x


LAYOUTS = {
    "coo": (lambda a: a.to_sparse_coo(), "csr"),
    "csr": (lambda a: a.to_sparse_csr(), "csr"),
    "csc": (lambda a: a.to_sparse_csc(), "csc"),
    "bsr": (lambda a: a.to_sparse_bsr((2, 2)), "csr"),
}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_formats(layout):
    convert, stored = LAYOUTS[layout]
    torch.manual_seed(0)
    dense = (torch.rand(6, 8) < 0.3) * torch.randn(6, 8)
    x = torch.randn(8, 3)
    for module, arguments in (
        (Spread(), (x, convert(dense))),
        (Spread(convert(dense)), (x,)),
        (Spread(convert(dense), parameter=True), (x,)),
    ):
        imported = import_module(module, arguments)
        (format,) = {str(d.format) for d in imported.program.inputs if d.name != "x"}
        # Columns outside are modes in another order, and levels as of csr.
        assert format == "csr"
        (access,) = [a for s in imported.program.statements for a in s.reads if a.tensor != "x"]
        summed = access.names.index(imported.program.statements[0].reduction_indices[0])
        assert summed == (0 if stored == "csc" else 1)
        tensors = imported.tensors(arguments)
        (held,) = [tensor for name, tensor in tensors.items() if name != "x"]
        found = held.to_dense().T if stored == "csc" else held.to_dense()
        torch.testing.assert_close(torch.from_numpy(found), dense)
        # The module has its own tensors still.
        assert all(t.layout != torch.strided for t in [*module.parameters(), *module.buffers()])


def test_annotations_and_sparsify():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 16)).eval()
    with torch.no_grad():
        module[2].weight[:, 1:4] = 0
    samhw.torch.annotate(module[0].weight, "csr")
    x = (torch.randn(2, 6),)

    def formats(**options):
        program = import_module(module, x, **options).program
        return [str(d.format) for d in program.inputs if d.name.endswith("weight")]

    assert formats() == ["csr", "dense"]
    assert formats(sparsify=0.5) == ["csr", "csr"]
    assert formats(sparsify=0.7) == ["csr", "dense"]
    samhw.torch.compile(module, x, value="f32", sparsify=0.5).run().check()
    # Half of the argument are zeros too; that of another run may have none.
    masked = (x[0] * torch.tensor([0, 1, 0, 1, 0, 0]),)
    design = samhw.torch.compile(module, masked, value="f32", schedule="auto")
    assert design.compiled.schedule.formats["n2_weight"] in ("csr", "csc")
    assert design.compiled.schedule.formats["input"].startswith("dense")
    design.run().check()
    with pytest.warns(UserWarning, match="60 % of n2_weight are zeros, the others in blocks of 1x16"):
        samhw.torch.compile(module, x, value="f32").run()
    with pytest.raises(InputError, match="unknown format 'csx'"):
        samhw.torch.annotate(module[0].weight, "csx")


def test_an_annotated_format_whose_level_lacks_the_one_above_it():
    """A mode of extent 1 has no level, and there are no diagonals without rows."""
    module = nn.Linear(4, 1, bias=False).eval()
    samhw.torch.annotate(module.weight, "dia")
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    with torch.no_grad():
        module.weight[:] = torch.tensor([[0.0, 2.0, 0.0, 4.0]])
    result = samhw.torch.compile(module, (x,), value="f32").run()
    assert result.output.tolist() == [[20.0], [6.0]]


def test_other_arguments_and_outputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x):
            y = self.fc(x)
            return {"y": y, "pair": (F.relu(y), y)}, torch.ones(2)

    torch.manual_seed(0)
    design = samhw.torch.compile(Two().eval(), (torch.randn(8, 4),), value="f32")
    found, ones = design.run().output
    assert found.keys() == {"y", "pair"}
    assert bool((ones == 1).all())
    compiled = design.design.compiled
    x = torch.randn(5, 4)
    result = design.run(x)
    result.check()
    torch.testing.assert_close(result.output[0]["pair"][0], F.relu(design.module.fc(x)).detach())
    # Fewer rows fit, and are no reason to compile.
    assert design._for((x,))[1].compiled is compiled


def test_arguments_that_are_no_tensors():
    class Scaled(nn.Module):
        def forward(self, x, scale=1.0, negative=False, other=None):
            return {"y": -x * scale if negative else x * scale, "none": other}

    design = samhw.torch.compile(Scaled(), (torch.randn(2, 3), 0.5, True), value="f32")
    design.run().check()
    x = torch.randn(4, 3)
    output = design.run(x, 2.0).output
    torch.testing.assert_close(output["y"], x * 2)
    assert output["none"] is None


class Masked(nn.Module):
    """Softmax under several masks, each a tensor of its own that is made to be a condition on import."""

    MASKS = 16

    def __init__(self):
        super().__init__()
        for i in range(self.MASKS):
            keep = (torch.rand(6, 6) < 0.5) | torch.eye(6, dtype=torch.bool)
            self.register_buffer(f"mask{i}", torch.where(keep, 0.0, float("-inf")))

    def forward(self, x):
        return sum(torch.softmax(x * (i + 1) + self.get_buffer(f"mask{i}"), -1) for i in range(self.MASKS))


class Bags(nn.Module):
    """The same indices, put into bags in two ways."""

    def forward(self, table, ids, first, second):
        return F.embedding_bag(ids, table, first) + F.embedding_bag(ids, table, second)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (Masked, lambda: (torch.randn(6, 6),)),
        (
            Bags,
            lambda: (
                torch.randn(5, 3),
                torch.tensor([0, 2, 4, 4]),
                torch.tensor([0, 1, 3]),
                torch.tensor([0, 2, 3]),
            ),
        ),
    ],
)
def test_each_tensor_is_an_input_of_its_own(module, arguments):
    torch.manual_seed(0)
    samhw.torch.compile(module().eval(), arguments(), value="f32").run().check()


def test_saved_programs_are_programs(tmp_path):
    design = samhw.torch.compile(nn.Linear(4, 3).eval(), (torch.randn(2, 4),))
    design.save(tmp_path / "p.ein", tmp_path / "p.npz")
    assert parse((tmp_path / "p.ein").read_text()) == design.imported.program


def test_a_wrong_program_is_an_error(monkeypatch):
    design = samhw.torch.compile(nn.Linear(4, 3).eval(), (torch.randn(2, 4),), value="f32")
    result = design.run()
    result.check()
    # As if the importer had read another weight.
    monkeypatch.setattr(ImportedModule, "is_of", lambda *_: True)
    with torch.no_grad():
        design.module.weight[0, 0] += 0.5
    with pytest.raises(RunError, match="is off by"):
        result.check()


class LeastNumber(nn.Module):
    """Hides scores by a mask of f32, whatever the type of the scores."""

    def forward(self, x, mask):
        return (x + (1.0 - mask.float()) * torch.finfo(x.dtype).min).softmax(-1)


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.weight = (
            nn.Linear(8, 8),
            nn.LayerNorm(8),
            nn.Parameter(torch.randn(8, 8)),
        )

    def forward(self, x):
        product = (x.bfloat16() @ self.weight.bfloat16()).to(x.dtype)
        return torch.softmax(self.norm(self.linear(x)), -1) + product + self.linear(x.half().to(x.dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_what_a_module_computes_in_halves_is_no_error_of_the_program(dtype):
    """Casts to f16 and bf16 round; what is made of them is computed in the value type."""
    torch.manual_seed(3)
    module, x = Halves().to(dtype), torch.randn(3, 8).to(dtype)
    checked = samhw.torch.compile(module, (x,), value="f32").run().check()
    assert checked.good
    # In float64 a cast to the module's own type rounds nothing.
    assert checked.program_error < (2e-3 if dtype == torch.float16 else 1e-12)
    # PyTorch rounds what it makes to 8 bits.
    assert 1e-4 < checked.max_abs_error < 0.1


def test_casts_to_f16_round():
    class Cast(nn.Module):
        def forward(self, x):
            return x.half().float() * 2

    x = torch.tensor([1 / 3, 1e-7, 65519.0, 65520.0, -0.1])
    found = samhw.torch.compile(Cast(), (x,), value="f32").run()
    assert torch.equal(found.output, Cast()(x))
    found.check()


def test_types_of_single_tensors():
    module, x = nn.Linear(4, 3), torch.rand(2, 4)
    design = samhw.torch.compile(module, (x,), value="f32", types={"weight": "f16", "input": "u8"})
    x = torch.arange(8.0).reshape(2, 4)
    held = design.run(x)
    wanted = nn.functional.linear(x, module.weight.half().float(), module.bias)
    torch.testing.assert_close(held.output, wanted, rtol=1e-6, atol=1e-6)
    assert held.check().verdict.is_proof
    with pytest.raises(
        InputError,
        match=r"has no tensor 'weights' to give a type \(did you mean 'weight'\?\); it has input, weight",
    ):
        samhw.torch.compile(module, (x,), types={"weights": "f16"})


def test_an_exported_module_may_assert_its_types():
    module, x = Halves(), torch.randn(3, 8)
    exported = torch.export.export(module, (x,)).module()
    assert samhw.torch.compile(exported, (x,), value="f32").run().check().program_error < 1e-12


def test_a_module_that_float64_makes_nan_is_compared_in_f32():
    module, mask = LeastNumber(), torch.tensor([1, 0, 1, 1])
    assert module(torch.randn(3, 4).double(), mask).isnan().any()
    samhw.torch.compile(module, (torch.randn(3, 4), mask), value="f32").run().check()


class Training(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)


class Deciding(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


class Saying(Deciding):
    def forward(self, x):
        print("said", file=sys.stderr)
        return super().forward(x)


class Choosing(nn.Module):
    def forward(self, x):
        return x.mode(dim=-1)[0]


class Sorting(nn.Module):
    def forward(self, x):
        return torch.sort(x.repeat(1, 17))[0]


class Hiding(nn.Module):
    def forward(self, x):
        return x.masked_fill(x > 0, float("-inf")).sum(dim=-1)


@pytest.mark.parametrize(
    ("module", "line", "words"),
    [
        (Training(), "F.dropout(x, 0.5)", "dropout' draws random numbers; call model.eval()"),
        (Deciding(), "if x.sum() > 0:", "Deciding decides by its data what it computes"),
        (
            Choosing(),
            "x.mode(dim=-1)[0]",
            "'aten.mode' counts elements by their values, for which there is no hardware yet",
        ),
        (
            Sorting(),
            "torch.sort(x.repeat(1, 17))[0]",
            "'aten.sort' takes 68 elements of a row in order, and the hardware keeps 64",
        ),
        (
            Hiding(),
            ".sum(dim=-1)",
            "'aten.sum' takes a value that is -inf at places; only softmax and max do",
        ),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, nn.Module) else "",
)
def test_refused_with_the_line(module, line, words):
    with pytest.raises(InputError) as refusal:
        import_module(module, (torch.randn(3, 4),))
    assert words in str(refusal.value)
    if line is not None:
        assert re.match(rf"{re.escape(__file__)}:\d+: ", str(refusal.value))
        assert line in str(refusal.value)


def test_a_refusal_prints_nothing_but_what_the_module_prints(capfd):
    with pytest.raises(InputError):
        import_module(Saying(), (torch.randn(3, 4),))
    out, errors = capfd.readouterr()
    assert out == ""
    assert set(errors.splitlines()) == {"said"}


def test_what_is_no_module():
    for call in (
        lambda: samhw.torch.compile(torch.relu, (torch.ones(1),)),
        lambda: samhw.torch.compile(nn.Linear(2, 2), torch.ones(1, 2)),
    ):
        with pytest.raises(InputError, match=r"give a module|give \(x,\)"):
            call()


def test_a_module_that_is_exported_already():
    module, arguments = nn.Linear(4, 3), (torch.randn(2, 4),)
    exported = torch.export.export(module, arguments)
    assert samhw.torch.explain(exported, arguments).refusals == ()
    torch.testing.assert_close(samhw.torch.compile(exported, arguments).run().output, module(*arguments))


def test_the_arguments_of_a_call():
    """A tensor that is not in a tuple would be taken apart, row by row."""
    design = samhw.torch.compile(nn.Linear(4, 3).eval(), (torch.ones(2, 4),), value="f32")
    with pytest.raises(InputError, match=r"the arguments of a call; give \(x,\)"):
        list(design.run_all([torch.ones(2, 4)]))  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"^PyTorch cannot export Linear \(TypeError: too many positional"):
        design.run(torch.ones(2, 4), torch.ones(3))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/pytorch.md", "docs/python.md", "README.md"])
def test_the_pages_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    names = {"__name__": "snippet"}  # of the whole page: a later snippet goes on where an earlier one ended
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        path = tmp_path / f"snippet_{number}.py"
        path.write_text(code)
        exec(compile(code, str(path), "exec"), names)


def test_a_registered_operator():
    import samhw.importers.torch.registry as registry

    @torch.library.custom_op("tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x * factor

    @scaled.register_fake
    def _(x, factor):
        return torch.empty_like(x)

    class Scaled(nn.Module):
        def forward(self, x):
            return torch.ops.tests.scaled(x, 2.5)

    x = torch.randn(2, 3)
    with pytest.raises(InputError, match=r"register one with samhw\.torch\.mapping"):
        import_module(Scaled(), (x,))
    samhw.torch.mapping(torch.ops.tests.scaled.default)(
        lambda importer, x, factor: importer.elementwise(lambda e: e * factor, x)
    )
    try:
        samhw.torch.compile(Scaled(), (x,), value="f32").run().check()
    finally:
        del registry.OPERATORS["tests.scaled"]


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.weight + 1


@pytest.mark.parametrize("beside", [math.inf, math.nan, 1e30, 1e6])
@pytest.mark.parametrize("change", [1e-3, math.inf, math.nan])
def test_a_check_is_not_blinded_by_a_great_element(monkeypatch, beside, change):
    design = samhw.torch.compile(Scaled().eval(), (torch.tensor([2.4, -0.5, 0, beside]),), value="f32")
    result = design.run()
    result.check()
    monkeypatch.setattr(ImportedModule, "is_of", lambda *_: True)
    with torch.no_grad():
        design.module.weight[0] += change
    with pytest.raises(RunError, match="is off by"):
        result.check()


def test_a_check_allows_for_what_cancels():
    """Elements near zero of great summands, whose order PyTorch may choose."""
    torch.manual_seed(0)
    x = torch.randn(8, 64) * 1e4
    x[:, 32:] = -x[:, :32] + torch.randn(8, 32) * 1e-2
    module = nn.Linear(64, 4).eval()
    with torch.no_grad():
        module.weight[:, 32:] = module.weight[:, :32]
    samhw.torch.compile(module, (x,), value="f32").run().check()


def test_arguments_that_belong_elsewhere() -> None:
    model, inputs = torch.nn.Linear(3, 2), (torch.rand(2, 3),)
    with pytest.raises(InputError, match=r"no argument .extents.; its options are formats, .* unroll, arch"):
        samhw.torch.compile(model, inputs, extents={"i": 3})
    design = samhw.torch.compile(model, inputs)
    with pytest.raises(InputError, match=r"as in result\.microseconds\('100MHz'\)"):
        design.run(clock="100MHz")
    with pytest.raises(InputError, match="no argument 'host'; its options are backend, memory, wave"):
        design.run(host="axi4")


def test_schedules_and_types_are_searched_on_the_example_arguments() -> None:
    module, x = nn.Linear(4, 3), torch.rand(2, 4)
    design = samhw.torch.compile(module, (x,), value="f32")
    written = design.run().cycles
    best = design.tune(budget=1, confirm=1).best.cycles
    assert design.run().cycles == best <= written
    found = design.tune_types(error=1e-1, objective="bytes")
    typed = samhw.torch.compile(module, (x,), value="f32", types=found.types)
    assert typed.run().check().verdict.is_proof
