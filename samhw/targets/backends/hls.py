"""The C simulation of the HLS design as a backend."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from samhw.compiler import Compiled
from samhw.compiler.placement import channels_said, check_kinds, placement_of
from samhw.cost import Device
from samhw.errors import InputError
from samhw.graph import Design
from samhw.sim import joined, simulated_regions, total_cycles
from samhw.targets.backends.backend import Backend, Execution, RunResult
from samhw.targets.running.images import Inputs

if TYPE_CHECKING:
    from samhw.hls import Options

__all__ = ["HlsBackend"]

_log = logging.getLogger(__name__)


class HlsBackend(Backend):
    """The C simulation, compared with the simulator token by token; needs a C++ compiler. It has no cycles:
    they are the simulator's."""

    name = "hls"
    target = "vitis-hls"
    label = "HLS"
    arch = "vitis"
    carries_data = True
    places_arrays = True
    settings = frozenset({"part", "clock", "one_top"})
    key_files: ClassVar[dict[str, str]] = {
        "README.md": "how to simulate and synthesise it",
        "Makefile": "make csim; by Vitis make xclbin, by XRT make run",
        "regions.json": "the order of the kernels, and where their inputs come from",
        "src/*_kernel.cpp": "the kernel",
        "host/*_host.cpp": "what runs it on a card",
    }

    @property
    def devices(self) -> Sequence[Device]:
        """None: the estimate is of samhw's RTL, and HLS makes hardware of its own."""
        return ()

    def execute(self, compiled: Compiled, inputs: Inputs, **settings: Any) -> Execution:
        """As for `Backend`, of one design or of one for each region; `settings` as for `Options`."""
        # Imported here, since the simulator needs no C++ compiler.
        from samhw.targets.running.csim import HlsDesign, compare, golden, whole_if_needed

        whole, arch = compiled.design, compiled.arch
        options = whole_if_needed(whole, _options(compiled, settings)).settled(whole, arch)
        runs = joined(simulated_regions(whole, arch, *inputs, trace=True))
        # Buffers on the chip stay there; they are the simulator's, since all that writers are given is
        # compared.
        words = {name: array for run in runs for name, array in run.result.memories.items()}
        parts = [(whole, inputs.memories, runs)]
        if not options.one_top:
            parts = [(Design.of(run.graph), run.memories, [run]) for run in runs]
        start = time.perf_counter()
        designs = HlsDesign.build_together([part for part, _, _ in parts], arch, options)
        building = time.perf_counter() - start
        running = 0.0
        _log.debug("running the HLS C simulation")
        for design, (part, memories, models) in zip(designs, parts, strict=True):
            results = [model.result for model in models]
            result = design.run(memories, inputs.extents, golden(part, results), trace=True)
            running += result.seconds
            compare(results, result)
            words |= result.memories
        results = [run.result for run in runs]
        cycles = [result.cycles for result in results]
        return Execution(words, total_cycles(results), cycles, running, building, results=results)

    def check_build(self, **settings: Any) -> None:
        """A project is text."""

    def check_run(self, **options: Any) -> None:
        from samhw.targets.building.cpp_compiler import find_cpp_compiler
        from samhw.targets.building.hls_tools import ap_headers

        find_cpp_compiler()
        ap_headers()

    def build(self, compiled: Compiled, directory: Path, inputs: Inputs | None, **settings: Any) -> None:
        """A Vitis HLS project for each region (docs/hls.md), with the data and golden results if there are
        inputs; `settings` as for `Options`."""
        from samhw.targets.running.csim import project_files

        for name, text in project_files(compiled, inputs, _options(compiled, settings)).items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def summary(self, result: RunResult) -> str:
        return f"the same tokens in C simulation, {self.seconds(result)}"


def _options(compiled: Compiled, settings: Mapping[str, Any]) -> "Options":
    """The settings, and what the schedule says about the places of memories."""
    from samhw.hls import Options
    from samhw.hls.cards import memory_of

    options = Options(**settings)
    card, channels = memory_of(options.part), channels_said(compiled)
    if card is not None:
        check_kinds(compiled, card.kind.lower(), f"the card's {card.kind}", card.banks)
    elif channels:
        raise InputError(
            f"{min(channels)} is to lie in channel {channels[min(channels)]}, but which memory a kernel of "
            f"{options.part} reaches is left to its platform; name a card (--part u280), or leave the number "
            "out."
        )
    return replace(options, placement=placement_of(compiled, options.room), channels=channels)
