"""From the C++ of HLS loops to LLVM IR as a scheduler wants it: inlined, unrolled, in registers."""

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import llvmlite.binding as llvm

from samhw.errors import RunError
from samhw.processes import run

# As many operations as that may be computed for nothing where it saves a branch, as in a pipeline.
for _choice in ("phi-node-folding", "two-entry-phi-node-folding", "bonus-inst"):
    llvm.set_option("", f"-{_choice}-threshold=64")

__all__ = ["optimised", "pragmas_as_code", "translated"]

_HEADERS = Path(__file__).parent / "headers"
"""Those that a project has from Vitis: integers of exactly this many bits, and streams as calls."""

_FLAGS = (
    *("-w", "-g0", "-std=c++17", "-O1", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"),
    *("-mcpu=baseline", "-fno-sanitize=undefined", "-fno-exceptions", "-fno-stack-protector", "-DNDEBUG"),
    *("-ffp-contract=off", "-fno-math-errno", "-D__SYNTHESIS__"),
)

_LOOP = re.compile(r"^ *for \(.*\)(?: \{)?\n(#pragma HLS (?:PIPELINE|LOOP_TRIPCOUNT))?", re.MULTILINE)
_PIPELINE = re.compile(r"^#pragma HLS PIPELINE.*$", re.MULTILINE)
_DEPENDENCE = re.compile(r"^#pragma HLS DEPENDENCE variable=(\w+) .*distance=(\w+).*$", re.MULTILINE)


def pragmas_as_code(text: str) -> str:
    """C++ in which the pragmas that matter to a schedule are something that LLVM sees. What is not pipelined
    is unrolled, as the tool does with every loop inside of a pipelined one."""
    text = _LOOP.sub(
        lambda loop: f"#pragma clang loop unroll({'disable' if loop[1] else 'full'})\n{loop[0]}", text
    )
    text = _PIPELINE.sub("hls_pipeline();", text)
    return _DEPENDENCE.sub(r"hls_dependence(\1, \2);", text)


def translated(sources: Mapping[str, str], unit: str) -> str:
    """The LLVM IR of a unit, before any optimisation; raises `RunError` where the compiler refuses it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in sources.items():
            (folder / path).write_text(pragmas_as_code(text), encoding="utf-8")
        for header in _HEADERS.iterdir():
            text = pragmas_as_code(header.read_text(encoding="utf-8"))
            (folder / header.name).write_text(text, encoding="utf-8")
        command = (sys.executable, "-m", "ziglang", "c++", *_FLAGS, "-I.")
        done = run(
            [*command, "-S", "-emit-llvm", unit, "-o", "unit.ll"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            raise RunError(f"Clang does not take {unit}: {done.stderr.strip()[:2000]}")
        return (folder / "unit.ll").read_text(encoding="utf-8")


def optimised(text: str) -> llvm.ModuleRef:
    """The module with all calls inlined, loops unrolled where the text says so, and values in registers."""
    llvm.initialize_native_target()
    text = re.sub(
        r"^(attributes #\d+ = \{ )(?!.*(noinline|nocallback))", r"\1alwaysinline ", text, flags=re.M
    )
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_triple(module.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    for _ in range(3):
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_loop_simplify_pass()
        passes.add_lcssa_pass()
        passes.add_loop_unroll_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.add_aggressive_dce_pass()
    passes.add_lower_switch_pass()
    passes.add_loop_simplify_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, builder)
    return module
