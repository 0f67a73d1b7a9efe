"""Random modules mean what PyTorch makes of them, and run."""

import os

import pytest

import samhw.torch
from samhw.errors import InputError
from tests.importers.torch.agree import agree
from tests.importers.torch.drawn import random_module

COUNT = int(os.environ.get("SAMHW_RANDOM_MODULES", "80"))
RUNS = COUNT // 10


@pytest.mark.nightly(but=3)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_programs_are_their_modules(part: int) -> None:
    for seed in range(part, COUNT, 10):
        module, arguments = random_module(seed)
        try:
            agree(module, arguments)
        except (AssertionError, InputError) as error:
            raise AssertionError(f"seed {seed}, {', '.join(module.names)}: {error}") from error


@pytest.mark.nightly(but=3)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_they_run(part: int) -> None:
    """Unfused, and by the module tree."""
    for seed in range(part, RUNS, 10):
        module, arguments = random_module(seed)
        single = [argument.float() for argument in arguments]
        for fuse in (None, "module"):
            design = samhw.torch.compile(module.float(), single, value="f32", fuse=fuse)
            design.run().check()
