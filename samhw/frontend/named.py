"""Programs by what a user calls them."""

import os
from pathlib import Path

from samhw.errors import InputError
from samhw.frontend.cascades import cascade_names, load_cascade
from samhw.frontend.kernels import kernel_names, load_kernel
from samhw.frontend.models import load_model, model_names
from samhw.frontend.objects import Example, MlirFile, load_object, name_one_of
from samhw.frontend.parse import load, parse
from samhw.frontend.program import Program
from samhw.frontend.sequences import load_sequence, sequence_names
from samhw.suggestion import did_you_mean

__all__ = ["built_in_names", "load_named", "load_program"]


def built_in_names() -> tuple[str, ...]:
    """The names of all built-in programs: kernels, cascades, sequences, then models."""
    return (*kernel_names(), *cascade_names(), *sequence_names(), *model_names())


def load_program(spec: str) -> Program:
    """The program that `spec` names, as for `load_named`; raises InputError for a module of PyTorch too."""
    found = load_named(spec)
    if isinstance(found, MlirFile):
        raise InputError(f"'{spec}' is a file in MLIR; give it to 'samhw run', or another command.")
    if not isinstance(found, Program):
        raise InputError(
            f"'{spec}' is a function; call it, and give what it gives to samhw.torch.compile, or to "
            "samhw.nested.lowered if it is of nested lists."
        )
    return found


def load_named(spec: str) -> Program | Example | MlirFile:
    """The program that `spec` names: a built-in name, a `.ein` file, `file.py:object`, or a text
    itself, in which inputs need no declaration. Of a function in a Python file, the function; of a file in
    MLIR, its name, and that of a function behind a colon.

    Raises:
        InputError: when there is no such program, or it breaks a rule of the language.
    """
    if spec in kernel_names():
        return load_kernel(spec)
    if spec in model_names():
        return load_model(spec)
    if spec in cascade_names():
        return load_cascade(spec)
    if spec in sequence_names():
        return load_sequence(spec)
    if spec.endswith(".ein"):
        return load(Path(spec))
    path, mlir, function = spec.rpartition(".mlir")
    if mlir and function[:1] in ("", ":"):
        return MlirFile(f"{path}{mlir}", function[1:] or None)
    if ".py:" in spec:
        return load_object(spec)
    if "=" in spec:
        return parse(spec, "text", implied=True)
    if os.path.isfile(spec):
        if spec.endswith(".py"):
            raise InputError(f"'{spec}' is a Python file; {name_one_of(spec)}")
        raise InputError(f"'{spec}' is a file, but no .ein file; call the file of a program {spec}.ein.")
    meant = did_you_mean(spec, built_in_names())
    raise InputError(
        f"There is no program '{spec}'{meant}; give a name from 'samhw kernels', a .ein or .mlir file, "
        "file.py:object, or a text such as 'T[i,j] = A[i,k] * X[k,j]'."
    )
