"""Data for a program: what `--data` names, and seeded random tensors for whatever it does not.

A *main* matrix (the karate club, a file, the adjacency of a data set) goes to the first operand with a
compressed level; a further feature matrix to the first other matrix that it fits. Every operand left over is
random, of the main matrix' density where it is sparse.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import log2, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.app.workload.workload import (
    DEFAULT,
    SYNTHETIC,
    Workload,
    check_file_of_one,
    check_free,
    check_known,
    short_name,
    synthetic,
)
from samhw.choices.formats import with_formats
from samhw.compiler import choose_value
from samhw.errors import InputError
from samhw.graph.numerics import Integer, ValueType
from samhw.lang import Access, Program, Statement, accesses, check_size
from samhw.limits import WORD, check_memory
from samhw.tensors import (
    Tensor,
    is_archive,
    is_dataset,
    karate,
    random_tensor,
    read_dataset,
    read_tensor,
    read_tensors,
)
from samhw.words import did_you_mean

__all__ = ["FEATURES", "RANDOM_DENSITY", "drawn_file", "make_workload", "pattern_of", "tensor_of"]

FEATURES = 16
"""Extent of an index that no data fixes: the width of the feature matrices of the examples."""

RANDOM_DENSITY = 0.2
"""Of sparse operands without data."""

_GRAPHS = ("adjacency", "weights", "mask")
"""The main matrices of data sets."""

Values = NDArray[Any]


def make_workload(
    program: Program,
    data: Sequence[str] = ("random",),
    *,
    value: ValueType | None = None,
    seed: int = 0,
    given: Mapping[str, Tensor] | None = None,
) -> Workload:
    """Binds a program to data.

    Args:
        data: `karate`; `random` or `random:size=20,density=0.1,seed=1,i=6`, where i is an index; a file (a
            matrix, or a data set's `.npz` or folder), with `:pattern` after it to keep only its pattern and
            draw the values; `NAME=FILE`, also with that, for single tensors; or `synthetic:cora`, random data
            of that data set's sizes. `auto`, by itself, is `karate` where the program takes it, else
            `random`.
        value: the value type, for which random values are drawn: small integers, or multiples of 1/16 between
            -1 and 1. Without one it is the one that the program's text asks for or needs.
        given: tensors by name, which come before those of a data set, as files for single tensors do.

    Raises:
        InputError: for a name that is not a tensor, a file that cannot be read, or shapes that disagree.
    """
    value = choose_value(value, program)
    if tuple(data) == DEFAULT:
        try:
            return _Binder(program, value, seed).bind(["karate"], given or {})
        except InputError:
            data = ["random"]
    return _Binder(program, value, seed).bind(data, given or {})


def tensor_of(path: Path) -> Tensor:
    """The tensor of a file, or the graph of a data set."""
    if not path.exists() and path.parent.is_dir():
        meant = did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
        if meant:
            raise InputError(f"There is no file {path}{meant}.")
    if is_dataset(path):
        found = read_dataset(path)
        for role in _GRAPHS:
            if role in found:
                return found[role]
    return read_tensor(path)


def drawn_file(spec: str, text: str, draw: Callable[[int], Values]) -> Tensor:
    """The tensor of `graph.mtx` or `graph.mtx:pattern`: of a pattern the places, with drawn values.

    Args:
        spec: what --data says, for errors.
        text: what of it names the file.
        draw: gives a number of values.
    """
    check_file_of_one(spec, text)
    path, is_pattern = pattern_of(spec, text)
    tensor = tensor_of(path)
    return _redrawn(tensor, draw) if is_pattern else tensor


def pattern_of(spec: str, text: str) -> tuple[Path, bool]:
    """A file, and whether its places alone count."""
    path, colon, option = text.partition(":")
    if colon and option != "pattern":
        raise InputError(f"--data {spec}: unknown option '{option}'; the only one is ':pattern'.")
    return Path(path), bool(colon)


def _redrawn(tensor: Tensor, draw: Callable[[int], Values]) -> Tensor:
    coords, vals = tensor.to_coo(drop_zeros=True)
    return Tensor.from_coo(coords, draw(len(vals)), tensor.shape, tensor.format)


class _Binder:
    def __init__(self, program: Program, value: ValueType, seed: int):
        self.program = program
        self.value = value
        self.seed = seed
        self.size = FEATURES
        self.density = RANDOM_DENSITY
        self.asked = ""  # where it was asked for
        self.given: dict[str, Tensor] = {}
        self.filed: set[str] = set()
        self.extents: dict[str, int] = {}
        self.notes: list[str] = []

    def bind(self, data: Sequence[str], given: Mapping[str, Tensor]) -> Workload:
        for spec in data:
            self.take(spec)
        for name, own in given.items():
            self.give_one(name, own)
        self.program = self.program.bind({name: t.shape for name, t in self.given.items()})
        self.program = self.program.with_extents(self.extents)
        self.bind_free_extents()
        check_size(self.program)
        drawn: dict[str, Tensor] = {}
        missing = tuple(decl.name for decl in self.program.operands if decl.name not in self.given)
        for n, decl in enumerate(self.program.operands):
            tensor = self.given.get(decl.name)
            if tensor is None:
                shape = tuple(extent or self.size for extent in decl.shape)
                sparse = decl.format.is_sparse
                if decl.name in self.program.index_tensors:
                    tensor = self.random_places(decl.name, shape, self.seed + 1 + n)
                else:
                    density = self.density if sparse else 1.0
                    tensor = self.random(shape, density, self.seed + 1 + n, decl.value)
                    drawn[decl.name] = tensor
            self.given[decl.name] = tensor.convert(decl.format)
        if self.asked and not any(self.program.tensors[name].format.is_sparse for name in drawn):
            self.notes.append(self.density_note(list(drawn)))
        kinds = {name: self.program.tensors[name].value or self.value for name in drawn}
        self.scale_weights([name for name, kind in kinds.items() if not isinstance(kind, Integer)])
        return Workload(
            "+".join(short_name(spec) for spec in data),
            self.program,
            {d.name: self.given[d.name] for d in self.program.operands},
            notes=tuple(self.notes),
            drawn=missing,
        )

    def density_note(self, drawn: Sequence[str]) -> str:
        """That a density counts for nothing. A schedule's formats come too late: all schedules of a program
        have the same data."""
        way_out = ""
        if drawn and self.program.tensors[drawn[0]].rank > 1:
            declared = f"tensor {drawn[0]}[{', '.join(self.program.tensors[drawn[0]].indices)}] : csr"
            way_out = f"; declare one so in the program, as in '{declared}'"
        return (
            f"no tensor that --data {self.asked} draws is sparse, so its density counts for nothing{way_out}"
        )

    def bind_free_extents(self) -> None:
        """Gives every extent that is still open the default size, one tensor after another, since binding one
        may fix others."""
        for name in [d.name for d in self.program.operands]:
            shape = tuple(extent or self.size for extent in self.program.tensors[name].shape)
            self.program = self.program.bind({name: shape})

    def scale_weights(self, drawn: Collection[str]) -> None:
        """Divides the weights of each sum, which are the last of its factors that is drawn, by the root of
        how many of them it takes, so that results neither grow nor vanish from one layer to the next. The
        divisor is a power of two, so that values take no more digits."""
        scaled: set[str] = set()
        for statement in self.program.statements:
            summed = set(statement.reduction_indices)
            weights = [
                a for a in accesses(statement.rhs) if a.tensor in drawn and summed.intersection(a.variables)
            ]
            if statement.reduction != "sum" or not weights or weights[-1].tensor in scaled:
                continue
            weight = weights[-1]
            scaled.add(weight.tensor)
            tensor = self.given[weight.tensor]
            divisor = 2.0 ** round(log2(self.fan_in(statement, weight)) / 2)
            self.given[weight.tensor] = replace(tensor, vals=tensor.vals / divisor)

    def fan_in(self, statement: Statement, weight: Access) -> float:
        """How many of the weights a sum takes, on average: where another factor is sparse, it takes fewer."""
        extents = self.program.extents(statement)
        summed = set(weight.variables).intersection(statement.reduction_indices)
        factors = [a.tensor for a in statement.reads if summed.intersection(a.variables)]
        given = [self.given[name] for name in factors if name in self.given]
        share = min((tensor.nnz / max(1, prod(tensor.shape)) for tensor in given), default=1.0)
        return max(1.0, share * prod(extents[index] or 1 for index in summed))

    def random_places(self, name: str, shape: tuple[int, ...], seed: int) -> Tensor:
        """An index tensor, each of whose numbers is a place wherever it names one."""
        places = self.program.places(name) or self.size
        numbers = np.random.default_rng(seed).integers(0, places, shape)
        return Tensor.from_dense(numbers, "dense")

    def random(
        self, shape: tuple[int, ...], density: float, seed: int, value: ValueType | None = None
    ) -> Tensor:
        """Random numbers of a type, by default the program's."""
        if isinstance(value or self.value, Integer):
            return random_tensor(
                shape, "dense" if density == 1 else "coo", density=density, seed=seed, low=-4, high=4
            )
        tensor = random_tensor(
            shape, "dense" if density == 1 else "coo", density=density, seed=seed, low=-16, high=16
        )
        return replace(tensor, vals=tensor.vals / 16)

    # One --data each

    def take(self, spec: str) -> None:
        name, equals, path = spec.partition("=")
        if spec == "karate":
            self.give_main(karate())
        elif spec.partition(":")[0] == "random":
            self.take_random(spec)
        elif spec.partition(":")[0] == SYNTHETIC:
            self.give_dataset(synthetic(spec))
        elif equals and name.isidentifier():
            self.program.check_operand(name)
            self.give_one(name, drawn_file(spec, path, self.values))
        elif is_archive(Path(spec)):
            for name, tensor in read_tensors(Path(spec)).items():
                self.program.check_operand(name)
                check_free(name, self.given)
                self.give(name, tensor)
        else:
            self.take_file(spec)

    def give_one(self, name: str, tensor: Tensor) -> None:
        """Gives a tensor data of its own, instead of what a data set has given it."""
        check_free(name, self.filed)
        self.filed.add(name)
        self.give(name, tensor)

    def give(self, name: str, tensor: Tensor) -> None:
        """Gives a tensor its data, and its format too if the text has none."""
        self.given[name] = tensor
        decl = self.program.tensors[name]
        if decl.implied and not tensor.format.is_all_dense and decl.rank == tensor.rank:
            fmt = "csr" if decl.rank == 2 else "csf"
            self.program = with_formats(self.program, {name: fmt})

    def take_random(self, spec: str) -> None:
        for item in filter(None, spec.partition(":")[2].split(",")):
            key, _, text = item.partition("=")
            try:
                if key == "size":
                    self.size = int(text)
                elif key == "density":
                    self.density = float(text)
                    self.asked = spec
                elif key == "seed":
                    self.seed = int(text)
                elif key in self.program.dimensions.extents:
                    self.extents[key] = int(text)
                else:
                    raise self.unknown_key(spec, key)
            except ValueError:
                raise InputError(f"--data {spec}: '{text}' is no number for {key}.") from None
        if self.size < 1 or self.seed < 0 or not 0 <= self.density <= 1:
            raise InputError(
                f"--data {spec}: give a size of 1 or more, a seed of 0 or more and a density from 0 to 1."
            )

    def unknown_key(self, spec: str, key: str) -> InputError:
        """The refusal of a key; one index stands for all that have its extent."""
        dimensions = self.program.dimensions
        same = {
            dimension
            for decl in self.program.tensors.values()
            for index, dimension in zip(decl.indices, dimensions.of_tensor(decl.name), strict=True)
            if index == key
        }
        if same:
            return InputError(
                f"--data {spec}: '{key}' has the extent of {' or '.join(sorted(same))}; give that."
            )
        indices = ", ".join(dimensions.extents)
        meant = did_you_mean(key, ("size", "density", "seed"))
        return InputError(
            f"--data {spec}: unknown key '{key}'{meant}; the keys are size, density, seed and {indices}."
        )

    def take_file(self, spec: str) -> None:
        check_known(spec)
        path, is_pattern = pattern_of(spec, spec)
        if not is_dataset(path):
            self.give_main(drawn_file(spec, spec, self.values))
            return
        found = read_dataset(path)
        if is_pattern:
            found |= {role: _redrawn(found[role], self.values) for role in _GRAPHS if role in found}
        self.give_dataset(found)

    def values(self, count: int) -> Values:
        """A number of random values."""
        return self.random((count,), 1.0, self.seed).vals

    def give_dataset(self, data: Mapping[str, Tensor]) -> None:
        for role in _GRAPHS:
            if role in data:
                self.give_main(data[role])
        for role in ("features", "input"):
            if role in data:
                self.give_features(data[role])

    def give_main(self, tensor: Tensor) -> None:
        """Gives the main matrix to the first operand with a compressed level; a tensor of higher rank gets
        fibers on it."""
        self.density = tensor.nnz / max(1, prod(tensor.shape))
        free = [d for d in self.program.operands if d.name not in self.given]
        sparse = [d for d in free if d.format.is_sparse]
        for decl in sparse or [d for d in free if d.implied]:
            if decl.rank == tensor.rank:
                self.give(decl.name, tensor)
                return
        for decl in sparse:
            if decl.rank > tensor.rank:
                self.given[decl.name] = self.extrude(tensor, decl.rank)
                return
        no = "has no further" if self.given else "reads no"
        raise InputError(
            f"'{self.program.name}' {no} sparse tensor of rank {tensor.rank} that could take this data; name "
            "it, as in 'A=file.mtx'."
        )

    def extrude(self, tensor: Tensor, rank: int) -> Tensor:
        """A tensor of the given rank whose outer modes are the matrix: a quarter of the inner coordinates at
        each nonzero."""
        coords, vals = tensor.to_coo(drop_zeros=True)
        rng = np.random.default_rng(self.seed)
        inner = self.size ** (rank - tensor.rank)
        check_memory(WORD * len(vals) * inner, f"a tensor of rank {rank} on this data", "use a smaller size")
        chosen, flat = np.nonzero(rng.random((len(vals), inner)) < 0.25)
        modes = [coords[m][chosen] for m in range(tensor.rank)]
        modes += list(np.unravel_index(flat, (self.size,) * (rank - tensor.rank)))
        shape = (*tensor.shape, *(self.size,) * (rank - tensor.rank))
        return Tensor.from_coo(np.stack(modes), vals[chosen], shape, "coo")

    def give_features(self, tensor: Tensor) -> None:
        """Gives them to the first matrix that they fit, and notes that there is none."""
        free = [decl for decl in self.program.operands if decl.name not in self.given and decl.rank == 2]
        for decl in free:
            try:
                self.program.bind({**{n: t.shape for n, t in self.given.items()}, decl.name: tensor.shape})
            except InputError:
                continue
            self.given[decl.name] = tensor
            return
        if free:
            shape = " x ".join(f"{extent:,}" for extent in tensor.shape)
            self.notes.append(
                f"The features of the data, {shape}, fit no matrix of '{self.program.name}', and are left "
                f"out; {', '.join(decl.name for decl in free)} {'is' if len(free) == 1 else 'are'} random."
            )
