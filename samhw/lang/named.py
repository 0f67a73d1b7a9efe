"""Programs by what a user calls them."""

import os
from collections.abc import Iterator
from pathlib import Path

from samhw.errors import InputError
from samhw.lang.built_in import CASCADES, KERNELS, SEQUENCES
from samhw.lang.models import MODELS
from samhw.lang.objects import MlirFile, Named, OnnxFile, load_object, name_one_of
from samhw.lang.parse import load, parse
from samhw.lang.program import Program
from samhw.words import did_you_mean

__all__ = ["built_in_names", "built_in_programs", "load_named", "load_program"]

_BUILT_IN = (KERNELS, CASCADES, SEQUENCES, MODELS)


def built_in_names() -> tuple[str, ...]:
    """The names of all built-in programs: kernels, cascades, sequences, then models."""
    return tuple(name for library in _BUILT_IN for name in library.names())


def built_in_programs() -> Iterator[tuple[str, str]]:
    """The same names, each with what the program computes, in one line."""
    for library in _BUILT_IN:
        yield from ((name, library.description(name)) for name in library.names())


def load_program(spec: str) -> Program:
    """The program that `spec` names, as for `load_named`; raises InputError for a module of PyTorch too."""
    found = load_named(spec)
    if isinstance(found, MlirFile | OnnxFile):
        kind = "MLIR" if isinstance(found, MlirFile) else "ONNX"
        raise InputError(f"'{spec}' is a file in {kind}; give it to 'samhw run', or another command.")
    if not isinstance(found, Program):
        raise InputError(
            f"'{spec}' is a function; call it, and give what it gives to samhw.torch.compile, or to "
            "samhw.lang.nested.lowered if it is of nested lists."
        )
    return found


def load_named(spec: str) -> Named:
    """The program that `spec` names: a built-in name, a `.ein` file, `file.py:object`, or a text
    itself, in which inputs need no declaration. Of a function in a Python file, the function; of a file in
    MLIR, its name, and that of a function after a colon; of one in ONNX, its name, and extents that it leaves
    open after a colon: `net.onnx:batch=1`.

    Raises:
        InputError: when there is no such program, or it breaks a rule of the language.
    """
    for library in _BUILT_IN:
        if spec in library.names():
            return library.load(spec)
    if spec.endswith(".ein"):
        return load(Path(spec))
    path, mlir, function = spec.rpartition(".mlir")
    if mlir and function[:1] in ("", ":"):
        return MlirFile(f"{path}{mlir}", function[1:] or None)
    path, onnx, extents = spec.rpartition(".onnx")
    if onnx and extents[:1] in ("", ":"):
        return OnnxFile(f"{path}{onnx}", _extents(spec, extents[1:]))
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
        f"There is no program '{spec}'{meant}; give a name from 'samhw kernels', a .ein, .mlir or .onnx "
        "file, file.py:object, or a text such as 'T[i,j] = A[i,k] * X[k,j]'."
    )


def _extents(spec: str, text: str) -> dict[str, int]:
    """Of `batch=1,sequence=16`."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if not (number.isdecimal() and int(number) > 0):
            raise InputError(f"'{spec}' has '{part}' after its file; give a name and an extent: batch=1.")
        found[name] = int(number)
    return found
