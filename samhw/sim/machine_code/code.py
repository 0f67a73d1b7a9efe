"""LLVM's text while it is written: a module, and the instructions, labels and variables of a function; and
the code of this machine that comes of it."""

from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from samhw.sim.machine_code.expression_values import Computed, Flag, Real, Word, Words, operand

__all__ = ["Code", "Module", "assemble", "load", "machine_name"]

INTRINSICS = """\
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare double @llvm.fabs.f64(double)
declare double @llvm.sqrt.f64(double)
"""


class Module:
    """What stands beside a function: the tables that it looks into, and the functions that it calls."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], str] = {}
        self._called: dict[str, int] = {}

    def text(self, name: str, function: "Code") -> str:
        """The whole, with a function."""
        tables = [
            f"{name} = private unnamed_addr constant [{len(words)} x i64] "
            f"[{', '.join(f'i64 {word}' for word in words)}]"
            for words, name in self._tables.items()
        ]
        called = [
            f"declare i64 @{name}({', '.join(['i64'] * count)})" for name, count in self._called.items()
        ]
        return "\n".join([INTRINSICS, *called, *tables, function.text(name), ""])

    def table(self, words: tuple[int, ...]) -> Words:
        """A constant table."""
        return Words(self._tables.setdefault(words, f"@table{len(self._tables)}"), len(words))

    def declare(self, name: str, parameters: int) -> None:
        """Makes a function known that is called, and lies elsewhere."""
        self._called[name] = parameters


class Code:
    """Collects the instructions of a function of words that gives a word."""

    def __init__(self, parameters: int) -> None:
        self.parameters = [Computed(f"%p{n}") for n in range(parameters)]
        self._count = 0
        self._places: list[str] = []
        self._lines: list[str] = []
        self.open = True
        """Whether what comes next can be reached; what cannot is not written."""

    def text(self, name: str) -> str:
        """The function."""
        parameters = ", ".join(f"i64 {parameter.name}" for parameter in self.parameters)
        head = f"define i64 @{name}({parameters}) nounwind {{"
        return "\n".join([head, *self._places, *self._lines, "}", ""])

    def new(self, prefix: str = "%") -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{prefix}v{self._count}"

    def do(self, instruction: str) -> None:
        """An instruction without a result."""
        if self.open:
            self._lines.append("  " + instruction)

    def let(self, expression: str) -> str:
        """An instruction; gives the name of its result."""
        name = self.new()
        self.do(f"{name} = {expression}")
        return name

    def word(self, expression: str) -> Computed:
        """An instruction whose result is a word."""
        return Computed(self.let(expression))

    def flag(self, expression: str) -> Flag:
        """An instruction whose result is a truth value."""
        return Flag(self.let(expression))

    def real(self, expression: str) -> Real:
        """An instruction whose result is a number."""
        return Real(self.let(expression))

    def place(self, type: str) -> str:
        """Room for a variable, for as long as the call lasts; gives the name of its pointer."""
        name = self.new()
        self._places.append(f"  {name} = alloca {type}, align 8")
        return name

    def label(self) -> str:
        """The name of a place to go to."""
        return self.new("")

    def begin(self, label: str) -> None:
        """What comes next is reached by going to the label."""
        if self.open:
            self.go(label)
        self._lines.append(f"{label}:")
        self.open = True

    def go(self, label: str) -> None:
        """Goes on elsewhere."""
        self.do(f"br label %{label}")
        self.open = False

    def branch(self, condition: Flag, then: str, otherwise: str) -> None:
        """Goes on in one of two places."""
        self.do(f"br i1 {condition.name}, label %{then}, label %{otherwise}")
        self.open = False

    def leave(self, result: Word) -> None:
        """Ends the call."""
        self.do(f"ret i64 {operand(result)}")
        self.open = False

    def element(self, words: Words, index: Word) -> str:
        """The pointer to one of some words."""
        return self.let(f"getelementptr inbounds i64, ptr {words.pointer}, i64 {operand(index)}")


# This machine's code from LLVM's text, and code that can be called from its bytes.


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
