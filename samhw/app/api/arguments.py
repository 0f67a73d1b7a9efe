"""What callers give, as the kinds that are meant: arrays as tensors of samhw among them. What is not such a
thing is refused in a sentence. A line says how far a loop over inputs is."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from samhw.choices.schedule import CHOICES
from samhw.compiler import asked_type, asked_types
from samhw.errors import InputError, shown
from samhw.graph import (
    Arch,
    ConstantMemory,
    Dram,
    HostOptions,
    OffChipMemory,
    RandomMemory,
    RecordedMemory,
    SdramMemory,
    load_memory,
)
from samhw.graph.numerics import ValueType
from samhw.tensors import Format, Tensor
from samhw.tensors.scipy_sparse import scipy_format
from samhw.words import did_you_mean

__all__ = [
    "OF_IMPORTED_RUNS",
    "OF_IMPORTS",
    "OF_RUNS",
    "Data",
    "Words",
    "arch_of",
    "as_tensor",
    "check_arguments",
    "check_run_arguments",
    "entries_of",
    "extents_of",
    "followed",
    "host_of",
    "memory_of",
    "natural_format",
    "path_of",
    "types_of",
    "value_of",
    "window_of",
    "words_of",
]


def value_of(given: ValueType | str | None) -> ValueType | None:
    """A value type, by itself or by its name; None for `auto` and for None."""
    if given is None or isinstance(given, ValueType):
        return given
    if not isinstance(given, str):
        raise InputError(f"The value type cannot be {shown(given)}; give its name, such as 'f32'.")
    return asked_type(given)


def types_of(given: Mapping[str, ValueType | str] | str | None) -> dict[str, ValueType]:
    """Types of tensors by name, by themselves or by their names; or in the words of --types."""
    if isinstance(given, str):
        return asked_types(given)
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"The types cannot be {shown(given)}; give a table, such as {{'W': 'i8'}}.")
    types = {name: value_of(kind) for name, kind in (given or {}).items()}
    return {name: kind for name, kind in types.items() if kind is not None}


def arch_of(given: Arch | Mapping[str, object] | Path | str | None) -> Arch:
    """Latencies: an object, its fields, the name of a profile, a build's `arch.json`, or by default those of
    the RTL."""
    match given:
        case None:
            return Arch()
        case Arch():
            return given
        case Mapping():
            return Arch.from_json(given)
        case str() | Path():
            return Arch.load(str(given))
    raise InputError(
        f"The arch cannot be {shown(given)}; give an Arch, {', '.join(map(repr, Arch.profiles()))}, or the "
        "file of one."
    )


def memory_of(given: OffChipMemory | Mapping[str, object] | Path | str) -> OffChipMemory:
    """An off-chip memory: an object, the fields of a DRAM, or what --memory takes."""
    match given:
        case Dram() | ConstantMemory() | RandomMemory() | RecordedMemory() | SdramMemory():
            return given
        case Mapping():
            return Dram.from_json(given)
        case str() | Path():
            return load_memory(str(given))
    raise InputError(
        f"The off-chip memory cannot be {shown(given)}; give a Dram, or a name, such as 'ddr4'. "
        "A tensor called 'memory' goes into the first argument, as in run({\"memory\": array})."
    )


def entries_of(given: Mapping[str, int] | None) -> dict[str, int]:
    """Numbers of entries by tensor; whether the program has it, and levels to hold them, it must say."""
    return _numbers("entries", given, "numbers by tensor, as in {'A': 64}")


def extents_of(given: Mapping[str, int] | None) -> dict[str, int]:
    """Greatest extents by index, which the program must have."""
    return _numbers("extents", given, "numbers by index, as in {'i': 1000}")


def _numbers(what: str, given: Mapping[str, int] | None, wanted: str) -> dict[str, int]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"'{what}' cannot be {shown(given)}; give {wanted}.")
    for name, count in given.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 1 << 40:
            raise InputError(
                f"The {what} of '{name}' cannot be {shown(count)}; give a whole number from 1 to 2^40."
            )
    return {name: int(count) for name, count in given.items()}


Words: TypeAlias = str | Sequence[str]
"""What --data takes, by itself or several: `karate`, or `["random:i=6", "X=x.npy"]`."""


def words_of(given: object) -> tuple[str, ...] | None:
    """The words of --data, if it is that; None for anything else."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Sequence) and given and all(isinstance(word, str) for word in given):
        return tuple(given)
    return None


def path_of(what: str, given: Path | str) -> Path:
    """A file, which `what` names in an error."""
    if not isinstance(given, str | Path):
        raise InputError(f"{what} cannot be {shown(given)}; give the path of a file.")
    return Path(given)


def host_of(given: str) -> str:
    """The choices of a host port, which there must be."""
    if not isinstance(given, str):
        raise InputError(f"The host cannot be {shown(given)}; give words, such as 'axi4,interrupt'.")
    HostOptions.parse(given)
    return given


def window_of(given: tuple[int, int]) -> tuple[int, int]:
    """Cycles: the first, and the one after the last."""
    match given:
        case (int() as first, int() as end) if 0 <= first < end:
            return first, end
    raise InputError(
        f"A window cannot be {shown(given)}; give two cycles, the later one last, as in (0, 500)."
    )


T = TypeVar("T")


def followed(inputs: Iterable[T], progress: bool) -> Iterator[T]:
    """The inputs; with `progress`, a line on stderr, or beneath a notebook's cell, counts those that are
    done."""
    if not progress:
        yield from inputs
        return
    # They take a tenth of a second to be imported, and few loops are shown.
    from rich.console import Console
    from rich.progress import track

    total = len(inputs) if isinstance(inputs, Sized) else None
    yield from track(inputs, "runs", total=total, console=Console(stderr=True))


Data: TypeAlias = "npt.ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix | Tensor"
"""A NumPy array, or what becomes one; a SciPy sparse matrix or array; a PyTorch tensor of any layout,
which is an `ArrayLike` to type checkers; or a tensor of samhw."""


def as_tensor(name: str, data: Data, format: Format | str | None = None) -> Tensor:
    """`data` as a tensor, in a format; by default in that which its own storage suggests.

    Raises:
        InputError: naming the tensor, for what holds no numbers or does not have the format's rank.
    """
    held: Any = data
    chosen = natural_format(data) if format is None else format
    try:
        if isinstance(data, Tensor):
            data.check()  # One that was put together by hand may be anything.
            return data.convert(chosen)
        if _is_torch(data):
            return Tensor.from_torch(held, chosen)
        if scipy.sparse.issparse(data):
            return Tensor.from_scipy(held, chosen)
        return Tensor.from_dense(held, chosen)
    except (InputError, ValueError) as error:
        raise InputError(f"The data of tensor '{name}' cannot be used: {error}.") from None


def natural_format(data: Data) -> str:
    """The format that is most like the storage of the data: `csr` for lists of coordinates too."""
    held: Any = data
    if isinstance(data, Tensor) or scipy.sparse.issparse(data):
        fmt = data.format if isinstance(data, Tensor) else Format.parse(scipy_format(data), held.ndim)
        is_list = fmt.rank > 0 and not fmt.block and fmt == Format.points(fmt.rank)
        return _of_coordinates(fmt.rank) if fmt.block or is_list else str(fmt)
    if _is_torch(data):
        layout = str(held.layout).removeprefix("torch.")
        if layout == "strided":
            return "dense"
        return "csc" if layout in ("sparse_csc", "sparse_bsc") else _of_coordinates(held.ndim)
    return "dense"


def _of_coordinates(rank: int) -> str:
    return "csr" if rank == 2 else "csf"


def _is_torch(data: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


OF_RUNS = ("backend", "memory", "wave", "host")
"""Arguments of `run`."""
OF_IMPORTED_RUNS = ("backend", "memory", "wave")
"""Those of what is imported."""
OF_DESIGNS = (
    *("formats", "value", "types", "schedule", "fuse", "order", "permute"),
    *("extents", "entries", "arch"),
)
"""Arguments of `compile`."""
OF_IMPORTS = ("formats", "value", "types", "schedule", "fuse", "permute", "sparsify", "unroll", "arch")
"""Those for what is imported, which has extents and data of its own."""
_OTHERWISE = {
    "clock": "Cycles are the same at any clock; a result says how long they take, as in "
    "result.microseconds('100MHz').",
    "capacity": "How many entries a tensor has room for is entries={'A': 5000}, an argument of "
    "samhw.compile.",
    "progress": "A line that says how far it is belongs to several runs; give progress=True to run_all.",
    "check": "A result is checked when it is asked to, by result.check(); leave 'check' out.",
    "jobs": "A run has one process; 'samhw sweep' runs many configurations on all cores.",
}
"""What options of the command line are in Python."""


def check_arguments(others: Mapping[str, object], known: Sequence[str] = OF_DESIGNS) -> None:
    """Raises `InputError` for arguments that `compile` does not have, which may be fields of a schedule.

    Args:
        known: those that it has.
    """
    for name, value in others.items():
        if name in _FIELDS:
            raise InputError(f"{name} is a field of a schedule; give {_field(name, value)}.")
        if name in OF_RUNS:
            raise InputError(
                f"'{name}' is for a run; give it to the design, as in run({name}={shown(value)})."
            )
        raise InputError(_no_argument("compile", name, known))


def check_run_arguments(
    others: Mapping[str, object], known: Sequence[str] = OF_RUNS, *, are_tensors: bool = False
) -> None:
    """Raises `InputError` for arguments that `run` does not have, which may be those of `compile`.

    Args:
        known: those that it has.
        are_tensors: names that mean nothing else are left to be those of tensors.
    """
    for name, value in others.items():
        if name in _FIELDS or name in OF_DESIGNS:
            how = f"{name}={shown(value)}" if name in OF_DESIGNS else _field(name, value)
            raise InputError(f"'{name}' decides the design; give it to compile, as in {how}.")
        if not are_tensors or name in _OTHERWISE or did_you_mean(name, known):
            raise InputError(_no_argument("run", name, known))


_FIELDS = {one.name: one for one in CHOICES}


def _field(name: str, value: object) -> str:
    """How `compile` takes a field of a schedule; raises `InputError` for a value that it cannot have."""
    return f"schedule={{'{name}': {shown(_FIELDS[name].taken(value))}}}"


def _no_argument(function: str, name: str, known: Sequence[str]) -> str:
    """The refusal of an argument of `compile` or `run`."""
    listed = f"{function} takes no argument '{name}'{did_you_mean(name, known)}"
    return _OTHERWISE.get(name, f"{listed}; its options are {', '.join(known)}.")
