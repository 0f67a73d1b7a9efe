"""Recurrent layers and loops mean what PyTorch makes of them, as scans, in the simulator and in RTL."""

from random import Random
from typing import Any

import pytest
import torch
from torch import nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import agree
from tests.importers.torch.loop_modules import (
    ROLLED,
    UNROLLED,
    AssociativeScan,
    CellLoop,
    OwnScan,
    Packed,
    RandomLoop,
)
from tests.support.thorough import THOROUGH

LAYERS = 60 if THOROUGH else 6
LOOPS = 200 if THOROUGH else 10


def random_layer(seed: int) -> tuple[nn.Module, tuple[Any, ...]]:
    """A recurrent layer of any kind, and its arguments."""
    draw = Random(seed)
    torch.manual_seed(seed)
    kind = draw.choice((nn.RNN, nn.GRU, nn.LSTM))
    options: dict[str, Any] = {
        "num_layers": draw.choice((1, 1, 2, 3)),
        "bidirectional": draw.random() < 0.4,
        "batch_first": draw.random() < 0.5,
        "bias": draw.random() < 0.7,
    }
    size, hidden = draw.randint(1, 4), draw.randint(1, 4)
    out = hidden
    if kind is nn.RNN:
        options["nonlinearity"] = draw.choice(("relu", "tanh"))
    if kind is nn.LSTM and hidden > 1 and draw.random() < 0.4:
        options["proj_size"] = out = draw.randint(1, hidden - 1)
    steps, batch = draw.choice((1, 2, 3, 5)), draw.choice((None, 1, 2, 3))
    lead = [steps] if batch is None else [batch, steps] if options["batch_first"] else [steps, batch]
    arguments: list[Any] = [torch.randn(*lead, size)]
    if draw.random() < 0.5:
        rows = options["num_layers"] * (2 if options["bidirectional"] else 1)
        given = [torch.randn(rows, *([] if batch is None else [batch]), width) for width in (out, hidden)]
        arguments.append(tuple(given) if kind is nn.LSTM else given[1])
    return kind(size, hidden, **options).eval(), tuple(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LAYERS))
def test_layers(seed: int) -> None:
    module, arguments = random_layer(seed)
    imported = agree(module, arguments)
    steps = arguments[0].shape[1 if module.batch_first and arguments[0].dim() == 3 else 0]
    scans = {region.scan.number for region in imported.program.regions if region.scan is not None}
    assert len(scans) == (0 if steps == 1 else module.num_layers * (2 if module.bidirectional else 1))


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", ROLLED)
def test_loops_are_scans(name: str) -> None:
    """Of as many statements for any number of steps."""
    torch.manual_seed(0)
    module, arguments = (make() for make in ROLLED[name])
    imported = agree(module, arguments)
    assert len({region.scan.number for region in imported.program.regions if region.scan is not None}) == 1


class ComputedStart(nn.Module):
    """Nothing reads what the state begins with but the loop."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, found = (x * x).sum(1), []
        for step in x.unbind(1):
            state = state * 0.5 + step
            found.append(state)
        return torch.stack(found, 1)


def test_what_a_loop_starts_from_is_checked() -> None:
    x = torch.tensor([[1.0, 2.0, 0.0, 4.0]])
    run = samhw.torch.compile(ComputedStart(), (x,), value="f32").run()
    assert run.check().good
    # 21 / 2 + 1, half of that + 2, and so on.
    assert run.output.tolist() == [[11.5, 7.75, 3.875, 5.9375]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cell", "selective", "concatenated"])
def test_steps_that_are_unrolled(name: str) -> None:
    torch.manual_seed(0)
    module, arguments = (make() for make in ROLLED[name])
    imported = agree(module, arguments, unroll=16)
    assert all(region.scan is None for region in imported.program.regions)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNROLLED)
def test_other_loops_stay_unrolled(name: str) -> None:
    torch.manual_seed(0)
    module, arguments = (make() for make in UNROLLED[name])
    imported = agree(module, arguments)
    assert all(region.scan is None for region in imported.program.regions)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LOOPS))
def test_random_loops(seed: int) -> None:
    torch.manual_seed(seed)
    module = RandomLoop(Random(seed))
    agree(module, module.arguments())


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_of_pytorch(reverse: bool) -> None:
    torch.manual_seed(0)
    imported = agree(OwnScan(reverse=reverse), (torch.randn(5, 2, 3), torch.randn(2, 3)))
    assert sum(region.scan is not None for region in imported.program.regions) > 1


def test_associative_scans_are_trees() -> None:
    torch.manual_seed(0)
    imported = agree(AssociativeScan(), (torch.randn(5, 2), torch.randn(5, 2)))
    assert all(region.scan is None for region in imported.program.regions)


def test_length_is_no_part_of_the_program() -> None:
    torch.manual_seed(0)
    module = CellLoop().eval()
    programs = [import_module(module, (torch.randn(2, steps, 3),)).program for steps in (3, 7)]
    assert programs[0] == programs[1]


@pytest.mark.slow
@pytest.mark.parametrize("fuse", [None, "module"])
def test_they_run(fuse: str | None) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 2, 3)
    for module in (nn.LSTM(3, 2), nn.GRU(3, 2, bidirectional=True), nn.RNN(3, 2, 2)):
        design = samhw.torch.compile(module.eval(), (x,), value="f32", fuse=fuse)
        found = design.run()
        found.check()
        # What is read of a step has other names for its indices than what is computed.
        assert 0.5 < design.estimate().cycles / found.cycles < 2


@pytest.mark.verilator
@pytest.mark.slow
def test_rtl() -> None:
    torch.manual_seed(0)
    design = samhw.torch.compile(CellLoop().eval(), (torch.randn(2, 5, 3),), value="f32", fuse="module")
    simulated, hardware = design.run(), design.run(backend="verilator")
    hardware.check()
    assert simulated.cycles == hardware.cycles
    assert torch.equal(simulated.output, hardware.output)
    # The same hardware for more steps, as far as its memories go.
    x = torch.randn(2, 3, 3)
    assert design.run(x).cycles == design.run(x, backend="verilator").cycles


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        (nn.LSTM(3, 2, 2, dropout=0.5).train(), (torch.randn(2, 3),), "draws random numbers"),
        (Packed(), (torch.randn(4, 2, 3),), "takes a packed sequence"),
    ],
)
def test_refused(module: nn.Module, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        import_module(module, arguments)
