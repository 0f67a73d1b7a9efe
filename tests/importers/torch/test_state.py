"""The module of a user stays what it was, and is compared with as it was imported."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError, RunError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import agree


class Remembering(nn.Module):
    """Keeps all sorts of things as it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.calls, self.last = 0, None
        self.seen: list[Tensor] = []
        self.table: dict[str, Tensor | None] = {"first": None}
        self.register_buffer("offset", None, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.offset is None:
            self.register_buffer("offset", torch.arange(3) + x.new_zeros(3), persistent=False)
        self.register_buffer("new", x.new_ones(3))
        self.seen.append(self.fc(x))
        self.table["first"] = self.last = self.fc.last = x
        self.fc.register_forward_hook(lambda *_: None)
        self.fc.requires_grad_(False).train()
        return self.fc(x) + self.offset + self.new


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Remembering()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) * 2


def held(module: nn.Module) -> list[object]:
    """What a module and its parts hold, and the flags of its parameters."""
    found: list[object] = []
    for part in module.modules():
        for name, item in vars(part).items():
            found += [name, dict(item) if isinstance(item, dict) else list(item) if name == "seen" else item]
    return [*found, *(p.requires_grad for p in module.parameters())]


@pytest.mark.parametrize("kind", [Remembering, Outer])
def test_compiling_leaves_the_module_as_it_was(kind):
    torch.manual_seed(0)
    x = torch.randn(2, 3)
    with torch.no_grad():
        wanted = kind().eval()(x).shape
    module = kind().eval()
    before = held(module)
    design = samhw.torch.compile(module, (x,), value="f32")
    assert held(module) == before
    result = design.run()
    result.check()
    assert held(module) == before
    assert result.output.shape == wanted
    torch.testing.assert_close(result.output, module(x).detach(), rtol=1e-4, atol=1e-4)


def test_a_tensor_that_is_no_buffer_keeps_its_elements():
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = torch.zeros(3)

        def forward(self, x: Tensor) -> Tensor:
            self.count += 1
            return x * self.count

    module = Counting()
    with pytest.raises(InputError, match="Constant count is mutated"):
        import_module(module, (torch.ones(2, 3),))
    assert module.count.tolist() == [0, 0, 0]


@pytest.mark.slow
def test_padding_masks_of_encoders_are_compared_without_the_fast_path():
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)

        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return self.layers(x, src_key_padding_mask=mask)

    torch.manual_seed(0)
    mask = torch.tensor([[False, False, True], [False, False, False]])
    samhw.torch.compile(Encoder().eval(), (torch.randn(2, 3, 4), mask), value="f32").run().check()
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_tuple_that_refuses_its_length():
    """As the irreducible representations of e3nn are."""

    class Degree(tuple):
        __slots__ = ()

        def __len__(self) -> int:
            raise NotImplementedError

    class Typed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.degree = Degree((1, [2]))

        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    import_module(Typed(), (torch.ones(2, 3),))


def test_outputs_that_the_module_gives_as_sparse_tensors_are_compared():
    class Sum(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x + y

    x, y = torch.eye(3).to_sparse_coo(), torch.ones(3, 3).tril().to_sparse_coo()
    samhw.torch.compile(Sum(), (x, y), value="f32").run().check()


def test_a_module_that_does_not_run_is_no_traceback():
    class Stacked(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.stack([x, x])

    result = samhw.torch.compile(Stacked(), (torch.eye(3).to_sparse_csr(),), value="f32").run()
    with pytest.raises(RunError, match="PyTorch itself does not run Stacked on these arguments"):
        result.check()


class Cached(nn.Module):
    """Keeps what depends on shapes alone, and scales a parameter by 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lin, self.first = nn.Linear(4, 4), True
        self.register_buffer("angles", torch.zeros(8), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if self.first:
            with torch.no_grad():
                self.lin.weight.div_(1)
            self.first = False
        angles = torch.arange(len(x)) * 0.5
        self.angles[: len(x)] = angles
        return self.lin(x) * self.angles[: len(x), None] + positions(len(x))[:, None]


@cache
def positions(count: int) -> Tensor:
    return torch.arange(count) / 7


def test_a_module_may_write_what_constants_give():
    module, x = Cached().eval(), torch.randn(3, 4)
    weight = module.lin.weight.detach().clone()
    design = samhw.torch.compile(module, (x,), value="f32")
    design.run().check()
    assert torch.equal(module.lin.weight, weight)
    assert module.first
    assert type(positions(3)) is Tensor
    assert type(module(x)) is Tensor


@pytest.mark.parametrize(
    "move",
    [lambda part, x: part.to(x.device), lambda part, x: part.to(x).float(), lambda part, _: part.cpu()],
)
def test_a_module_may_move_its_parts_to_where_they_are(move):
    class Moving(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            move(self.part, x)
            return self.part(x)

    apply = nn.Module._apply
    agree(Moving(), (torch.randn(2, 3),))
    assert nn.Module._apply is apply


class Folded(nn.Module):
    """Computes constants of its weights: a product with a mask, and a bias that begins as another one."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.mask = nn.Parameter(torch.rand(3, 4)), torch.ones(3, 4)
        self.bias, self.other = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        return x @ (self.weight * self.mask).exp().T + self.bias + torch.relu(x @ self.weight.T + self.other)


def trained(module: Folded) -> None:
    with torch.no_grad():
        module.weight.mul_(-2)
        module.bias.add_(1)


def loaded(module: Folded) -> None:
    module.load_state_dict({name: torch.rand_like(held) for name, held in module.state_dict().items()})


def replaced(module: Folded) -> None:
    module.weight = nn.Parameter(torch.rand(3, 4))
    module.other.data.sub_(0.5)


def masked(module: Folded) -> None:
    module.mask = torch.rand(3, 4)


@pytest.mark.parametrize("change", [trained, loaded, replaced, masked])
def test_a_run_takes_the_weights_that_the_module_has_then(change):
    torch.manual_seed(0)
    module, x = Folded().eval(), torch.rand(2, 4)
    design = samhw.torch.compile(module, (x,), value="f32")
    before = design.run()
    before.check()
    change(module)
    with pytest.raises(InputError, match="The weights of Folded have changed since this run; run"):
        before.check()
    after = design.run()
    after.check()
    torch.testing.assert_close(after.output, module(x))


def test_what_is_imported_keeps_its_weights():
    torch.manual_seed(0)
    module, x = Folded().eval(), torch.rand(2, 4)
    imported = import_module(module, (x,))
    before = imported.tensors((x,))
    trained(module)
    assert not imported.is_of(module)
    after = imported.tensors((x,))
    assert all(np.array_equal(after[name].vals, held.vals) for name, held in before.items())


def test_weights_that_keep_the_program_keep_the_design():
    torch.manual_seed(0)
    module, x = nn.Linear(4, 3), torch.rand(2, 4)
    design = samhw.torch.compile(module, (x,), value="f32")
    design.run()
    held = design.design
    with torch.no_grad():
        module.weight.mul_(2)
    design.run().check()
    assert design.design is held
