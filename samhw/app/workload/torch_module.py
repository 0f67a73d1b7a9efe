"""A module of PyTorch on its example arguments, and the comparison with the module itself."""

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt
import torch
from torch import nn
from torch.export import ExportedProgram
from torch.utils._python_dispatch import TorchDispatchMode

from samhw.app.workload.agreement import (
    SINGLE,
    differences,
    exactly,
    greatest_difference,
    in_float64,
    parts_of,
)
from samhw.app.workload.exact_integers import ExactIntegers, doubled, is_quantised, says_type
from samhw.app.workload.workload import Workload
from samhw.errors import InputError, RunError
from samhw.importers.torch import ImportedModule, import_module, module_of
from samhw.importers.torch.export import without_fast_path
from samhw.importers.torch.state import restored
from samhw.lang import Example
from samhw.lang.reference import Bounded
from samhw.tensors import Tensor

__all__ = ["FirstOfEquals", "called", "check_program", "difference", "leaves", "make_module_workload"]


def _sort(x: torch.Tensor, dim: int = -1, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    values, places = torch.sort(x, dim=dim, descending=descending, stable=True)
    return values, places


def _topk(x: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, places = _sort(x, dim, largest)
    return values.narrow(dim, 0, k), places.narrow(dim, 0, k)


def _kthvalue(x: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    found = [each.narrow(dim, k - 1, 1) for each in _sort(x, dim)]
    return tuple(found if keepdim else (each.squeeze(dim) for each in found))


def _median(x: torch.Tensor, dim: int, keepdim: bool = False) -> Any:
    return _kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


_aten = torch.ops.aten
_FIRST: Mapping[Any, Callable[..., Any]] = {
    _aten.sort.default: _sort,
    _aten.topk.default: _topk,
    _aten.kthvalue.default: _kthvalue,
    _aten.median.dim: _median,
}


class FirstOfEquals(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Has PyTorch take the first of equal elements, wherever it puts elements in order."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_plain = op in _FIRST and args[0].dim() > 0 and not args[0].isnan().any()
        return (_FIRST[op] if is_plain else op)(*args, **(kwargs or {}))


def make_module_workload(spec: str, example: Example, given: object) -> Workload:
    """A module as a program, on its example arguments.

    Args:
        spec: `file.py:name`, where the name is that of `example`.
        given: what its function gives: the module and the arguments.

    Raises:
        InputError: for something else that is given, or a module that cannot be imported.
    """
    module, arguments = given if isinstance(given, tuple) and len(given) == 2 else (None, None)
    if not isinstance(module, nn.Module | ExportedProgram) or not isinstance(arguments, tuple | list):
        raise InputError(
            f"'{spec}' gives {_said(given)}, and is to give a torch.nn.Module, or a function of nested "
            "lists, and a tuple of example arguments; fix the file."
        )
    with example.script.around():
        module = module_of(module)
        imported = import_module(module, arguments, name=spec.rpartition(":")[2])
        tensors = imported.tensors(arguments)
    program = imported.program.bind({name: tensor.shape for name, tensor in tensors.items()})

    def oracle() -> float:
        with example.script.around():
            return check_program(module, imported, arguments, tensors)

    return Workload("example", program, tensors, oracle, imported.scopes, constants=imported.constants)


def _said(given: object) -> str:
    """What a function has given, in words."""
    if isinstance(given, tuple) and len(given) < 4:
        return f"({', '.join(type(item).__name__ for item in given)})"
    return f"a {type(given).__name__}"


def check_program(
    module: nn.Module, imported: ImportedModule, arguments: Sequence[object], tensors: Mapping[str, Tensor]
) -> float:
    """How far the program is from the module, both in float64, on these data; of a quantised module, from
    exact integers.

    Raises:
        RunError: where that is more than PyTorch's own error in f32.
    """
    parts = parts_of(in_float64(imported.program, tensors))
    ours, bounds, opens = (
        leaves((imported.outputs(part, arguments, exact=True), imported.buffers(part, arguments, exact=True)))
        for part in parts
    )
    theirs: object
    exact: object
    if is_quantised(imported.exported):
        if imported.updates:
            raise InputError(
                f"{type(module).__name__} is quantised and changes {', '.join(imported.updates)} as it runs, "
                "which the check cannot follow; do without the check (--no-check)."
            )
        theirs = exact = ExactIntegers(imported.exported).given(*map(_dense, arguments))
    else:
        theirs = called(module, arguments, imported.updates)
        exact = _in_double(module, arguments, imported.updates)
    if exact is not None and any(map(_is_lost, leaves(theirs), leaves(exact))):
        exact = None
    wanted = leaves(theirs if exact is None else exact)
    # PyTorch's sums in f32 have another order, and its functions other roundings.
    more = 1 if exact is not None else 16
    worst = 0.0
    for result, mine, bound, is_open, single, double in zip(
        (*imported.results, *imported.updates.values()),
        *(ours, bounds, opens, leaves(theirs), wanted),
        strict=True,
    ):
        if not isinstance(single, torch.Tensor):
            continue
        apart = greatest_difference(
            Bounded(_array(mine), _array(bound) * more, _array(is_open))
            if result.is_computed
            else exactly(_array(mine)),
            _array(double),
            name=imported.program.name,
            source="module",
            cause=_empty_rows(imported),
            scale=SINGLE,
            own=_allowed(single, double),
        )
        worst = max(worst, apart)
    return worst


def _array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """Its elements; those of types that NumPy lacks, such as bf16, in float64."""
    held = tensor.detach()
    return (held.double() if held.is_floating_point() else held).numpy()


def _allowed(single: torch.Tensor, double: torch.Tensor) -> npt.NDArray[Any]:
    """What PyTorch's own error in f32 allows, element by element."""
    return _array(torch.abs(single.double() - double.double()).nan_to_num(0, 0) * 4)


def _empty_rows(imported: ImportedModule) -> str:
    """What else may be the cause, in a program with masks."""
    if not any(statement.mask is not None for statement in imported.program.statements):
        return ""
    return "if no row is masked out entirely, which gives 0 here, "


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """The greatest of the `differences` of all elements."""
    return float(differences(_array(ours), _array(theirs)).max(initial=0.0))


def called(
    module: nn.Module, arguments: Sequence[object], changed: Iterable[str]
) -> tuple[Any, dict[str, torch.Tensor]]:
    """What the module gives, and what is in the buffers that it has changed by then, in dense tensors: by the
    operators that it is imported of, and of equal elements the first ones. The module stays as it is.

    Raises:
        RunError: if PyTorch cannot run it.
    """
    try:
        with torch.no_grad(), without_fast_path(), restored(module), FirstOfEquals():  # type: ignore[no-untyped-call]
            found = torch.utils._pytree.tree_map(_own, module(*arguments))
            buffers = {name: _own(module.get_buffer(name)) for name in changed}
    except Exception as error:
        said = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0].partition(". ")[0]
        raise RunError(
            f"PyTorch itself does not run {type(module).__name__} on these arguments, so there is nothing to "
            f"compare with ({said}); do without the check (--no-check)."
        ) from error
    return found, buffers


def _own(output: Any) -> Any:
    """A dense copy of a tensor, which may be a buffer that is put back."""
    return _dense(output.detach().clone()) if isinstance(output, torch.Tensor) else output


def _dense(output: object) -> object:
    if isinstance(output, torch.Tensor) and output.layout != torch.strided:
        return output.to_dense()
    return output


def _in_double(module: nn.Module, arguments: Sequence[object], changed: Iterable[str]) -> object:
    """As `called` in float64; None if the module cannot."""
    before = torch.get_default_dtype()
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # Of PyTorch about itself.
            wide = copy.deepcopy(module).double()
        torch.set_default_dtype(torch.float64)
        with _Doubled():  # type: ignore[no-untyped-call]
            return called(wide, torch.utils._pytree.tree_map(doubled, list(arguments)), changed)
    except Exception:
        # It looks into memory, or is compiled for f32.
        return None
    finally:
        torch.set_default_dtype(before)


class _Doubled(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Computes in float64 whatever a module itself makes or asks for in fewer bits."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if says_type(op):
            return None
        given = torch.utils._pytree.tree_map(doubled, (args, kwargs or {}))
        if op._schema.is_mutable and any(map(_is_other, leaves((args, kwargs)), leaves(given))):
            raise TypeError(f"{op} writes to a tensor of fewer bits")
        return torch.utils._pytree.tree_map(doubled, op(*given[0], **given[1]))


def _is_other(one: object, other: object) -> bool:
    return isinstance(one, torch.Tensor) and one is not other


def _is_lost(single: object, double: object) -> bool:
    """Whether numbers of f32 are none in float64: the module has a constant of float64, such as its least
    number, that overflows a tensor which it makes in f32."""
    if not isinstance(single, torch.Tensor) or not isinstance(double, torch.Tensor):
        return False
    return bool((single.isfinite() & ~double.isfinite()).any())


def leaves(outputs: object) -> list[Any]:
    """The tensors of what a module gives."""
    found: list[object] = torch.utils._pytree.tree_leaves(outputs)
    return found
