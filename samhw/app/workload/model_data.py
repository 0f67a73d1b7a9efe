"""Data for a built-in model."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from samhw.app.workload.workload import (
    DEFAULT,
    SYNTHETIC,
    Workload,
    check_free,
    check_known,
    short_name,
    synthetic,
)
from samhw.compiler import AUTO
from samhw.errors import InputError
from samhw.lang import load_model, model_data
from samhw.tensors import Tensor, is_dataset, karate, read_dataset, read_tensor

__all__ = ["make_model_workload"]

LONGEST = 20
"""Digits of a number in `random:..`."""

_ROLES = {"adjacency": "A", "features": "X", "input": "X", "mask": "M"}
"""The tensors that models make of those of a data set."""


def make_model_workload(name: str, data: Sequence[str] = DEFAULT) -> Workload:
    """A built-in model on data.

    Args:
        data: `karate`; `random` or `random:i=32,seed=1` with sizes by index name; a graph's file, or a data
            set with its features; `NAME=FILE` for single tensors; or `synthetic:cora`. What is not given
            is drawn. `auto` is `karate` for a model that reads a graph, else `random`.

    Raises:
        InputError: as `make_workload` does.
    """
    program = load_model(name)
    reads_graph = any(decl.name == "A" for decl in program.inputs)
    data = [("karate" if reads_graph else "random") if spec == AUTO else spec for spec in data]
    seed = 0
    sizes: dict[str, int] = {}
    given: dict[str, Tensor] = {}
    roles: dict[str, Tensor] = {}
    taken: set[str] = set()
    for spec in data:
        key, equals, path = spec.partition("=")
        if spec.partition(":")[0] == "random":
            for item, number in _settings(spec):
                if item == "seed":
                    seed = number
                else:
                    sizes[item] = number
            continue
        if equals and key.isidentifier():
            program.check_operand(key)
            check_free(key, taken)
            taken.add(key)
            given[key] = read_tensor(Path(path))
            continue
        found = _by_role(spec) if spec != "karate" or reads_graph else {}
        for role, tensor in found.items():
            check_free(_ROLES[role], taken)
            taken.add(_ROLES[role])
            roles[role] = tensor
    if "mask" in roles:
        program.check_operand("M")
        given["M"] = roles["mask"]
    tensors = model_data(
        name,
        graph=roles.get("adjacency"),
        features=roles.get("features", roles.get("input")),
        given=given,
        sizes=sizes,
        seed=seed,
    )
    program = program.bind({key: tensor.shape for key, tensor in tensors.items()})
    return Workload("+".join(short_name(spec) for spec in data), program, tensors)


def _by_role(spec: str) -> dict[str, Tensor]:
    """The tensors of a `--data` that names none: those of a data set, or a graph alone."""
    if spec == "karate":
        return {"adjacency": karate()}
    if spec.partition(":")[0] == SYNTHETIC:
        return synthetic(spec)
    check_known(spec)
    if is_dataset(Path(spec)):
        return read_dataset(Path(spec))
    return {"adjacency": read_tensor(Path(spec))}


def _settings(spec: str) -> Iterator[tuple[str, int]]:
    """The settings of `random:a=1,b=2`."""
    for item in filter(None, spec.partition(":")[2].split(",")):
        key, _, text = item.partition("=")
        if not text.isdecimal() or len(text) > LONGEST:
            raise InputError(
                f"--data {spec}: '{text}' is no whole number of up to {LONGEST} digits for {key}."
            )
        yield key, int(text)
