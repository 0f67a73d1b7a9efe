"""Builds a program from a design with CXXRTL, Yosys's own simulator, and the C++ compiler."""

from pathlib import Path

from samhw.errors import RunError
from samhw.graph import Arch, Design, HostOptions, dumps
from samhw.targets.building.cache import digest
from samhw.targets.building.cpp_compiler import find_cpp_compiler
from samhw.targets.building.elaborate import generator_digest
from samhw.targets.building.glue import TEMPLATES, glue
from samhw.targets.building.program import BuiltProgram, built

__all__ = ["build_cxxrtl"]

_FLAGS = ("-std=c++17", "-pipe", "-w", "-O0", "-DNDEBUG")
"""Most runs are shorter than the optimiser would take. With assertions CXXRTL would end a run in which a
write that is not enabled has an address beyond its memory."""


def build_cxxrtl(design: Design, arch: Arch, host: HostOptions) -> BuiltProgram:
    """The program that runs a design by the commands of templates/harness.cpp; beside it lies `design.cpp`.

    Raises:
        InputError: if Amaranth or a C++ compiler is missing.
        RunError: if the compiler does not take the design.
    """
    compiler = find_cpp_compiler()
    text = glue("cxxrtl_glue.cpp.j2", design, arch, host)
    sources = [TEMPLATES / "harness.cpp", TEMPLATES / "dut.h"]
    harness = [source.read_bytes() for source in sources]
    key = digest(
        generator_digest(), dumps(design), arch.dumps(), repr(host), text, compiler.key, *_FLAGS, *harness
    )

    def make(folder: Path) -> None:
        # Imported late: a program that is in the cache costs no import of Amaranth.
        from samhw.rtl.cxxrtl import cxxrtl, runtime

        (folder / "design.cpp").write_text(cxxrtl(design, arch, host=host), encoding="utf-8")
        (folder / "glue.cpp").write_text(text, encoding="utf-8")
        inputs = [folder / "glue.cpp", TEMPLATES / "harness.cpp"]
        includes = [f"-I{place}" for place in (folder, TEMPLATES, runtime())]
        done = compiler.run(*_FLAGS, *includes, *inputs, "-o", folder / "simulate")
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise RunError(f"the design under CXXRTL does not compile: {told[0]}")

    return built("cxxrtl", key, make)
