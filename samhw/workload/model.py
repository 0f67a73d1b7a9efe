"""Data for a built-in model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from samhw.compiler import AUTO
from samhw.errors import InputError
from samhw.frontend import load_model, model_data
from samhw.tensors import Tensor, is_dataset, karate, read_dataset, read_tensor
from samhw.workload.data import DEFAULT, SYNTHETIC, short_name, synthetic
from samhw.workload.workload import Workload

__all__ = ["make_model_workload"]

LONGEST = 20
"""Digits of a number in `random:..`."""


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
    options: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    single: dict[str, Tensor] = {}
    for spec in data:
        key, equals, path = spec.partition("=")
        if spec == "karate":
            options["graph"] = karate() if reads_graph else None
        elif spec.partition(":")[0] == "random":
            for item, number in _settings(spec):
                if item == "seed":
                    options["seed"] = number
                else:
                    sizes[item] = number
        elif equals and key.isidentifier():
            program.check_operand(key)
            single[key] = read_tensor(Path(path))
        elif spec.partition(":")[0] == SYNTHETIC:
            found = synthetic(spec)
            options["graph"], options["features"] = (
                found.get("adjacency"),
                found.get("features", found.get("input")),
            )
            single |= {"M": found["mask"]} if "mask" in found else {}
        elif is_dataset(Path(spec)):
            found = read_dataset(Path(spec))
            options["graph"], options["features"] = found["adjacency"], found.get("features")
        else:
            options["graph"] = read_tensor(Path(spec))
    for key in single:
        program.check_operand(key)
    tensors = model_data(name, sizes=sizes, given=single, **options)
    program = program.bind({key: tensor.shape for key, tensor in tensors.items()})
    return Workload("+".join(short_name(spec) for spec in data), program, tensors)


def _settings(spec: str) -> Iterator[tuple[str, int]]:
    """The settings of `random:a=1,b=2`."""
    for item in filter(None, spec.partition(":")[2].split(",")):
        key, _, text = item.partition("=")
        if not text.isdecimal() or len(text) > LONGEST:
            raise InputError(
                f"--data {spec}: '{text}' is no whole number of up to {LONGEST} digits for {key}."
            )
        yield key, int(text)
