"""Programs that simulate a design: what joins it to the harness of a simulator, a template for each, with the
design's addresses; and what Icarus Verilog and Yosys's CXXRTL build with it."""

import json
import logging
import shutil
from pathlib import Path

from samhw.errors import InputError, RunError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions, dumps
from samhw.graph.address_map import AddressMap, Register
from samhw.graph.dram import NUMBERS
from samhw.graph.off_chip import OffChipLayout
from samhw.processes import run
from samhw.targets.building.build_cache import BuiltProgram, built, digest
from samhw.targets.building.cpp_compiler import find_cpp_compiler
from samhw.targets.building.elaborate import generate_verilog, generator_digest

__all__ = ["TEMPLATES", "build_cxxrtl", "build_icarus", "find_icarus", "glue", "rendered"]

_log = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
"""The sources of the harnesses."""


def glue(
    template: str,
    design: Design,
    arch: Arch,
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
    **more: object,
) -> str:
    """The text of a template for a design.

    Args:
        template: the name of a file of `TEMPLATES`.
        layout: what of the tensors lies off the chip.
        more: what only this template asks for.
    """
    address_map = AddressMap(design, arch, host, layout)
    return rendered(
        template,
        control=int(Register.CONTROL),
        status=int(Register.STATUS),
        channels=address_map.channel_states.start,
        channel_words=len(address_map.channel_states),
        address_bits=address_map.address_bits,
        bursts=host.bursts,
        host_clock=host.clock,
        id_bits=host.id_bits,
        range_bytes=1 << address_map.address_bits,
        masters=layout.sizes if layout else (),
        observed=layout is not None and layout.chip is not None,
        beat=layout.ports.beat if layout else 0,
        beats=layout.ports.beats if layout else 0,
        **more,
    )


def rendered(template: str, **facts: object) -> str:
    """The text of a template of `TEMPLATES`; a fact that it lacks is an error."""
    import jinja2  # Takes a tenth of a second to be imported, and a simulation needs none.

    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    return environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(facts)


_FLAGS = ("-std=c++17", "-pipe", "-w", "-O0", "-DNDEBUG")
"""Most runs are shorter than the optimiser would take. With assertions CXXRTL would end a run in which a
write that is not enabled has an address beyond its memory."""


def build_cxxrtl(
    design: Design, arch: Arch, host: HostOptions, layout: OffChipLayout | None = None
) -> BuiltProgram:
    """The program that runs a design by the commands of templates/harness.cpp; beside it lies `design.cpp`.

    Args:
        layout: what of the tensors lies off the chip, but not in an SDRAM.

    Raises:
        InputError: if Amaranth or a C++ compiler is missing.
        RunError: if the compiler does not take the design.
    """
    compiler = find_cpp_compiler()
    text = glue("cxxrtl_glue.cpp.j2", design, arch, host, layout)
    sources = [TEMPLATES / name for name in ("harness.cpp", "dut.h", "memory.h", "oracle.h")]
    harness = [source.read_bytes() for source in sources]
    placed = [] if layout is None else [json.dumps(layout.to_json())]
    key = digest(
        *[generator_digest(), dumps(design), arch.dumps(), repr(host), *placed],
        *[text, compiler.key, *_FLAGS],
        *harness,
    )

    def make(folder: Path) -> None:
        # Imported late: a program that is in the cache costs no import of Amaranth.
        from samhw.rtl.cxxrtl import cxxrtl, runtime

        _log.info("building the RTL with CXXRTL and %s, once for each design", compiler.name)

        (folder / "design.cpp").write_text(cxxrtl(design, arch, host=host, layout=layout), encoding="utf-8")
        (folder / "glue.cpp").write_text(text, encoding="utf-8")
        inputs = [folder / "glue.cpp", TEMPLATES / "harness.cpp"]
        includes = [f"-I{place}" for place in (folder, TEMPLATES, runtime())]
        done = compiler.run(*_FLAGS, *includes, *inputs, "-o", folder / "simulate")
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise RunError(f"the design under CXXRTL does not compile: {told[0]}")

    return built("cxxrtl", key, make)


_START = '#!/bin/sh\nexec "{vvp}" -n "$(dirname "$(readlink -f "$0")")/simulate.vvp"\n'


def find_icarus() -> tuple[str, str]:
    """The compiler of Icarus Verilog, and what runs its programs; raises `InputError` if it is not
    installed."""
    compiler, vvp = shutil.which("iverilog"), shutil.which("vvp")
    if compiler is None or vvp is None:
        raise InputError(
            "Icarus Verilog was not found; install it with apt-get install iverilog, or take the backend "
            "'verilator'."
        )
    return compiler, vvp


def build_icarus(
    design: Design, arch: Arch, host: HostOptions, layout: OffChipLayout | None = None
) -> BuiltProgram:
    """The program that runs a design by commands that templates/harness.v.j2 lists, under the rules of
    SystemVerilog.

    Args:
        layout: what of the tensors lies off the chip, but not in an SDRAM.

    Raises:
        InputError: if Icarus Verilog is not installed.
        RunError: if it does not take the design.
    """
    compiler, vvp = find_icarus()
    harness = glue("harness.v.j2", design, arch, host, layout, numbers=NUMBERS)
    if layout is not None:
        harness += rendered("memory.v.j2", numbers=NUMBERS)
    verilog = generate_verilog(design, arch, host=host, layout=layout)
    version = run([compiler, "-V"], capture_output=True, text=True).stdout.partition("\n")[0]
    key = digest(compiler, version, verilog, harness)

    def make(folder: Path) -> None:
        _log.info("building the RTL with Icarus Verilog, once for each design")
        sources = {"samhw_top.v": verilog, "harness.v": harness}
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        command = [compiler, "-g2012", "-s", "samhw_harness", "-o", "simulate.vvp", *sources]
        done = run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            told = (done.stderr or done.stdout).strip().partition("\n")[0]
            raise RunError(f"Icarus Verilog does not accept the generated Verilog: {told}")
        program = folder / "simulate"
        program.write_text(_START.format(vvp=vvp), encoding="utf-8")
        program.chmod(0o755)

    return built("icarus", key, make)
