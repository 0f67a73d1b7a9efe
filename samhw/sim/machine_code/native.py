"""This machine's code from LLVM's text, and code that can be called from its bytes."""

from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

__all__ = ["assemble", "load", "machine_name"]

LEVEL = 2
"""How much LLVM does for speed, 0 to 3."""

_loaded: list[object] = []
"""What keeps loaded code alive."""


@cache
def _target_machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=LEVEL, jit=True)


@cache
def machine_name() -> str:
    """What code depends on besides its text: the processor, the system and LLVM."""
    parts = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvm.get_process_triple()
    return " ".join([*parts, llvmlite.__version__, str(LEVEL)])


def assemble(text: str, name: str, thorough: bool) -> bytes:
    """The object file of a module with a function of that name.

    Args:
        thorough: LLVM does all that it can, with vector instructions for loops; else what pays for functions
            that have no loops over many words, in half the time.
    """
    machine = _target_machine()
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    if thorough:
        builder.getModulePassManager().run(module, builder)
    else:
        _few_passes().run(module.get_function(name), builder)
    code: bytes = machine.emit_object(module)
    return code


def _few_passes() -> Any:
    """Words of memory to registers, then what LLVM calls the canonical form, without loops."""
    passes = llvm.create_new_function_pass_manager()
    passes.add_simplify_cfg_pass()
    passes.add_sroa_pass()
    passes.add_sccp_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_jump_threading_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_code_elimination_pass()
    return passes


def load(code: bytes, name: str) -> int:
    """The address of the function of that name in an object file. What is loaded later may call it."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _loaded.append(engine)
    address: int = engine.get_function_address(name)
    llvm.add_symbol(name, address)
    return address
