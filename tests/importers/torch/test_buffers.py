"""Buffers that `forward` changes are further results, and a design goes on with them if its user says so."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError, RunError
from samhw.importers.core import PlacedResult
from tests.importers.torch.agree import agree


class Holding(nn.Module):
    """A module of buffers, and of a function that changes them."""

    def __init__(self, forward, **buffers: Tensor | None) -> None:
        super().__init__()
        for name, held in buffers.items():
            self.register_buffer(name, held)
        self.change = forward

    def forward(self, *arguments: Tensor):
        return self.change(self, *arguments)


def averaged(m, x):
    m.steps += 1
    m.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
    return x - m.mean / (1 - 0.9**m.steps)


def recurrent(m, x):
    m.h = torch.tanh(x + m.h)
    return m.h * 2


def into_a_view(m, x, place):
    m.cache[:, place] = x
    return m.cache.sum(1)


def through_views(m, x):
    m.h[0].add_(x)
    m.h.t()[1].mul_(2.0)
    return m.h[0] * 2


def twice(m, x):
    m.h.add_(x)
    y = m.h * 2
    m.h.mul_(y)
    return y


def before_and_after(m, x):
    before = m.h * x
    m.h.mul_(2)
    between = m.h * x
    m.h.add_(x)
    return before, between, m.h, m.h[:2]


def assigned_after_a_change(m, x):
    m.h.add_(x)
    m.h = m.h * 2
    m.h.mul_(x)
    return x + 1


def swapped(m, x):
    m.a, m.b = m.b, m.a
    old = m.a
    m.a = old + x
    return old * x


def grown(m, x):
    m.h = torch.cat([m.h, x[None]])
    return m.h.sum(0)


def begun(m, x):
    if m.h is None:
        m.h = torch.zeros(3)
    m.h = m.h + x
    return m.h * 2


def returned(m, x):
    m.h.add_(x)
    return m.h


def counted(m, x):
    """Gives nothing back."""
    m.sum.add_(x)
    m.n += (x > 0).sum()


def begun_anew(m, x):
    """An operator has the name of the buffer."""
    if m.n == 0:
        m.mean.copy_(x.mean(0))
    else:
        m.mean.lerp_(x.mean(0), 0.1)
    m.n += 1
    return x - m.mean


def queued(m, x):
    start = int(m.place)
    found = m.queue.clone()
    m.queue[:, start] = x
    m.place[0] = (start + 1) % 2
    return found.sum(1) * x


def by_way_of_data(m, x):
    m.a.data.mul_(x)
    m.b.data = m.b * x
    m._buffers["c"] = m.c + x
    return m.a + m.b + m.c


def in_a_loop(m, x):
    found = []
    for step in x.unbind(0):
        m.h.copy_(torch.tanh(step + m.h))
        found.append(m.h * 2)
    return torch.stack(found)


def of_constants(m, x):
    y = x + m.h
    m.h.mul_(0.5)
    return y


def of_gradients(m, x):
    g = torch.func.grad(lambda w: ((x * w).sin() ** 2).sum())(m.w)
    m.m.mul_(0.9).add_(g, alpha=0.1)
    m.v = 0.9 * m.v + 0.1 * g * g
    return m.w - m.m / (m.v.sqrt() + 1e-3)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Holding(recurrent, h=torch.ones(3))
        self.norm = Holding(averaged, mean=torch.zeros(3), steps=torch.tensor(0))
        self.lin = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(self.norm(x)) + self.cell(x[0])


ones, x = torch.ones(3), torch.tensor([0.5, -1.25, 2.0])
CASES = {
    "averaged": lambda: (Holding(averaged, mean=ones * 0, steps=torch.tensor(0)), torch.stack([x, x * 3])),
    "recurrent": lambda: (Holding(recurrent, h=ones), x),
    "into a view": lambda: (Holding(into_a_view, cache=torch.zeros(3, 4)), x, torch.tensor(2)),
    "through views": lambda: (Holding(through_views, h=torch.ones(2, 3)), x),
    "twice": lambda: (Holding(twice, h=ones), x),
    "before and after": lambda: (Holding(before_and_after, h=ones), x),
    "assigned after a change": lambda: (Holding(assigned_after_a_change, h=ones), x),
    "swapped": lambda: (Holding(swapped, a=ones, b=x * 2), x),
    "grown": lambda: (Holding(grown, h=torch.ones(1, 3)), x),
    "begun": lambda: (Holding(begun, h=None), x),
    "returned": lambda: (Holding(returned, h=ones), x),
    "counted": lambda: (Holding(counted, sum=ones, n=torch.tensor(0)), x),
    "begun anew": lambda: (
        Holding(begun_anew, mean=ones * 0, n=torch.tensor(0)),
        torch.stack([x, x * 3]),
    ),
    "queued": lambda: (Holding(queued, queue=torch.ones(3, 2), place=torch.tensor([0])), x),
    "by way of data": lambda: (Holding(by_way_of_data, a=ones, b=ones * 2, c=ones * 0), x),
    "in a loop": lambda: (Holding(in_a_loop, h=ones), torch.stack([x, -x, x / 2, x * 3])),
    "of constants": lambda: (Holding(of_constants, h=ones), x),
    "of gradients": lambda: (Holding(of_gradients, w=x + 1, m=ones * 0, v=ones * 0), x),
    "nested": lambda: (Nested(), torch.stack([x, x * 3])),
}


def held(module):
    return {name: buffer.clone() for name, buffer in module.named_buffers()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_three_calls(name):
    """Each gives what PyTorch gives, keeps the module as it was, and goes on from there."""
    torch.manual_seed(0)
    module, *arguments = copy.deepcopy(CASES[name]())
    module = module.eval()
    theirs, before = copy.deepcopy(module), held(module)
    design = samhw.torch.compile(module, tuple(arguments), value="f32")
    for _ in range(3):
        result = design.run()
        result.check()
        assert all(torch.equal(buffer, before[name]) for name, buffer in held(module).items())
        with torch.no_grad():
            wanted = theirs(*arguments)
        torch.testing.assert_close(result.output, wanted, rtol=1e-5, atol=1e-5)
        assert result.buffers
        result.keep_buffers()
        before = held(module)
        assert before.keys() == held(theirs).keys()
        for path, buffer in held(theirs).items():
            torch.testing.assert_close(before[path], buffer, rtol=1e-5, atol=1e-5)


def test_the_program_has_their_names():
    """The new value is a result of the buffer's name, and the old one an input, in a saved design too."""
    module = Holding(recurrent, h=torch.zeros(3)).eval()
    design = samhw.torch.compile(module, (x,), value="f32")
    program = design.imported.program
    assert "h_before" in {decl.name for decl in program.inputs}
    assert "h" in {decl.name for decl in program.outputs}
    result = design.run()
    np.testing.assert_array_equal(result["h"], result.buffers["h"].numpy())
    made = design.design
    result.keep_buffers()
    design.run().check()
    assert design.design is made


def test_a_buffer_that_is_returned_is_stored_once():
    imported = agree(Holding(returned, h=ones), (x,))
    assert [decl.name for decl in imported.program.outputs] == ["h"]


def test_an_operator_does_not_take_the_name():
    imported = agree(Holding(begun_anew, mean=ones * 0, n=torch.tensor(1)), (torch.stack([x, x * 3]),))
    assert "mean" in {decl.name for decl in imported.program.outputs}


def test_what_stays_as_it_is_is_no_result():
    def settled(m, x):
        m.table[:] = torch.arange(3)
        return x + m.table

    assert not agree(Holding(settled, table=torch.arange(3.0)), (x,)).updates
    assert list(agree(Holding(settled, table=torch.zeros(3)), (x,)).updates) == ["table"]


def test_the_check_compares_them():
    module = Holding(recurrent, h=ones).eval()
    result = samhw.torch.compile(module, (x,), value="f32").run()
    right = result.imported.updates["h"]
    assert isinstance(right.source, PlacedResult)
    (output,) = result.imported.results
    wrong = replace(result, imported=replace(result.imported, updates={"h": output}))
    with pytest.raises(RunError):
        wrong.check()


def test_older_results_are_not_kept():
    module = Holding(recurrent, h=ones).eval()
    design = samhw.torch.compile(module, (x,), value="f32")
    first, second = design.run(), design.run()
    second.keep_buffers()
    with pytest.raises(
        InputError, match="weights of Holding have changed since this run; run the design again"
    ):
        first.keep_buffers()


def test_norms_that_are_training_are_refused():
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    with pytest.raises(InputError, match=r"changes its buffer '1\.running_mean' .*; call model\.eval\(\)"):
        samhw.torch.compile(module, (torch.randn(4, 3),))


def test_a_parameter_is_no_buffer():
    class Trained(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x: Tensor) -> Tensor:
            self.w.sub_(x)
            return x * self.w

    with pytest.raises(InputError, match=r"changes its parameter 'w' .*; make it a buffer"):
        samhw.torch.compile(Trained().eval(), (x,))


def test_quantised_modules_are_not_checked_silently():
    class Quantised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("h", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            self.h.add_(x)
            return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127) * 2

    result = samhw.torch.compile(Quantised().eval(), (x,), value="f32").run()
    torch.testing.assert_close(result.buffers["h"], x)
    with pytest.raises(InputError, match="Quantised is quantised and changes h as it runs"):
        result.check()


@pytest.mark.slow
@pytest.mark.verilator
def test_in_hardware():
    module = Nested().eval()
    design = samhw.torch.compile(module, (torch.stack([x, x * 3]),), value="bf16", fuse="module")
    model, hardware = design.run(), design.run(backend="verilator")
    assert hardware.cycles == model.cycles
    assert list(hardware.buffers) == ["norm.mean", "norm.steps", "cell.h"]
    for name, value in hardware.buffers.items():
        assert torch.equal(value, model.buffers[name])
    hardware.check()
