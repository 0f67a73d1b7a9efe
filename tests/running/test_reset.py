"""After a reset nothing depends on what was before it: words and cycles are the simulator's, whatever
registers and memories hold at power-on."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from samhw.graph import Arch, loads
from samhw.rtl import verilog
from samhw.targets.building import verilator
from samhw.targets.running.driver import VerilatedDesign
from tests.support.command import good
from tests.support.power_on import without_initial_values

BUILDS: Mapping[str, Sequence[object]] = {
    "a result with pos, rows of sums": ["spmm", "--data", "random:size=20"],
    "sums over two levels": ["spmspm_kij", "--data", "random:size=12"],
}
SLOW: Mapping[str, Sequence[object]] = {
    "several regions": ["gcn", "--data", "karate", "--value", "f32"],
    "a scan in a scan": ["stacked_rnn"],
    "lanes": ["spmm", "--data", "random:size=20", "--lanes", "i=2"],
    "blocks": ["spmm", "--data", "random:size=16", "--blocks", "i=4+k=4"],
    "a split": ["spmm", "--data", "random:size=20", "--split", "A=hyb(1,2)"],
    "a softmax": ["attention", "--data", "random:size=8", "--value", "f32"],
    "sums of two": ["plus3", "--data", "random:size=12"],
    "an inner product": ["sddmm", "--data", "random:size=12"],
}


_CHOSEN = {
    "VerilatedContext context;": """
        struct Any : VerilatedContext {
            Any() { static int seed = 0; randReset(2); randSeed(++seed); }
        } context;
    """,
    "return std::make_unique<Design>();": """
        auto dut = std::make_unique<Design>();
        const Pins pins = dut->pins();
        for (auto pin : {pins.aclk, pins.awvalid, pins.wvalid, pins.bready, pins.arvalid, pins.rready})
            *pin = 0;
        return dut;
    """,
}
"""Words by another seed each time, and a host that asks for nothing yet."""


class Random(VerilatedDesign):
    """At each power-on other words in all registers and memories."""

    def _glue(self) -> str:
        glue = super()._glue()
        for text, chosen in _CHOSEN.items():
            assert text in glue
            glue = glue.replace(text, chosen)
        return glue


@pytest.mark.verilator
@pytest.mark.parametrize(
    "build",
    [*BUILDS.values(), *(pytest.param(build, marks=pytest.mark.slow) for build in SLOW.values())],
    ids=[*BUILDS, *SLOW],
)
def test_words_and_cycles(build: Sequence[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good("build", *build, "--target", "verilog", "-o", tmp_path / "out")
    design = loads((tmp_path / "out" / "graph.json").read_text())
    arch = Arch()
    monkeypatch.setattr(verilator, "_VERILATE", (*verilator._VERILATE, "--x-initial", "unique"))
    rtl = Random(design, arch, without_initial_values(verilog(design, arch)))
    run = json.loads((tmp_path / "out" / "bench" / "words.json").read_text())
    inputs = {name: np.array(words, dtype=np.uint32) for name, words in run["inputs"].items()}
    with rtl.session() as session:
        for _ in range(3):
            for _ in range(2):
                found = session.run(inputs, run["extents"])
                assert found.cycles == run["cycles"]
                for name, words in run["results"].items():
                    got = np.asarray(found.memories[name]).astype(np.int64) & 0xFFFFFFFF
                    assert got[: len(words)].tolist() == [word & 0xFFFFFFFF for word in words], name
            session.port.reset()
