"""The built-in programs, small data for the models among them, and programs by the names that users give."""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import prod
from pathlib import Path

import numpy as np

from samhw.errors import InputError
from samhw.installed import installed
from samhw.lang.capacity import check_size
from samhw.lang.declaration import TensorDecl
from samhw.lang.objects import Example, MlirFile, Named, OnnxFile, load_object, name_one_of
from samhw.lang.parse import load, parse
from samhw.lang.program import Program
from samhw.tensors import Tensor, karate
from samhw.tensors.generate import bigbird_mask, pruned_weights
from samhw.words import did_you_mean

__all__ = [
    "CASCADES",
    "KERNELS",
    "MODELS",
    "SEQUENCES",
    "Library",
    "built_in_names",
    "built_in_programs",
    "cascade_names",
    "kernel_description",
    "kernel_names",
    "load_cascade",
    "load_kernel",
    "load_model",
    "load_named",
    "load_program",
    "load_sequence",
    "model_data",
    "model_description",
    "model_names",
    "sequence_names",
    "titled",
]


# The built-in programs that are no networks: kernels, those of the Sparse Abstract Machine paper; cascades,
# reductions that depend on each other (docs/cascades.md); and sequences, programs with windows and
# recurrences (docs/sequences.md), of which some are functions of nested lists, those of `examples/nested`.
# The others are texts, ``.ein`` files in folders of this package.


class Library:
    """The programs of one folder of this package. `what` is how errors call one of them.

    The extents of a program come from the data (`Program.bind`).
    """

    def __init__(self, folder: str, what: str) -> None:
        self._folder = files("samhw.lang") / folder
        self._what = what

    def names(self) -> tuple[str, ...]:
        """The names of all of them, sorted."""
        names = (path.name for path in self._folder.iterdir())
        return tuple(sorted(name.removesuffix(".ein") for name in names if name.endswith(".ein")))

    def load(self, name: str) -> Program:
        """The program `name`. Raises InputError when there is none of this name."""
        return parse(self._text(name), f"{name}.ein")

    def description(self, name: str) -> str:
        """What the program computes, in one line: its first comment."""
        return self._text(name).partition("\n")[0].removeprefix("#").strip()

    def _text(self, name: str) -> str:
        if name not in self.names():
            known = ", ".join(self.names())
            raise InputError(f"there is no built-in {self._what} '{name}'; there are {known}")
        return (self._folder / f"{name}.ein").read_text(encoding="utf-8")


class Sequences:
    """The same of programs some of which are functions, which have data of their own."""

    texts = Library("sequences", "program")

    def names(self) -> tuple[str, ...]:
        """The names of all of them, sorted."""
        return tuple(sorted((*self.texts.names(), *_functions())))

    def load(self, name: str) -> Program | Example:
        """The program `name`, or the function. Raises InputError when there is none of this name."""
        if name in _functions():
            return load_object(f"{_functions()[name]}:example")
        if name not in self.texts.names():
            raise InputError(
                f"there is no built-in program '{name}'{did_you_mean(name, self.names())}; there are "
                f"{', '.join(self.names())}"
            )
        return self.texts.load(name)

    def description(self, name: str) -> str:
        """What it computes, in one line: its first comment, or the first sentence of its file."""
        if name not in _functions():
            return self.texts.description(name)
        told = ast.get_docstring(ast.parse(_functions()[name].read_text(encoding="utf-8"))) or ""
        return " ".join(told.split()).partition(". ")[0].removesuffix(".")


@cache
def _functions() -> dict[str, Path]:
    """The files of the functions, each of which gives it under the name `example`."""
    files = installed("examples").items()
    return {
        name.stem: path for name, path in files if name.parts[:-1] == ("nested",) and name.suffix == ".py"
    }


KERNELS, CASCADES = Library("kernels", "program"), Library("cascades", "program")
SEQUENCES = Sequences()

kernel_names, load_kernel, kernel_description = KERNELS.names, KERNELS.load, KERNELS.description
cascade_names, load_cascade = CASCADES.names, CASCADES.load
sequence_names, load_sequence = SEQUENCES.names, SEQUENCES.load


MODELS = Library("models", "model")

model_names, load_model, model_description = MODELS.names, MODELS.load, MODELS.description

_GRAPH_SIZES = {"f": 16, "h": 8, "c": 4}

_SIZES: dict[str, dict[str, int]] = {
    "gcn": _GRAPH_SIZES,
    "gcn_softmax": _GRAPH_SIZES,
    "graphsage": _GRAPH_SIZES,
    "gin": {**_GRAPH_SIZES, "g": 8},
    "gat": {"f": 16, "c": 8},
    "sae": {"n": 5, "f": 32, "h": 16, "g": 16},
    "mlp": {"n": 8, "f": 32, "h": 16, "g": 16, "c": 4},
    "bigbird_attention": {"i": 64, "d": 16},
    "gpt3_block": {"i": 64, "e": 32, "h": 4, "d": 8, "f": 64},
}
"""Default extents, by the names that the models' inputs have for their modes."""

_FEATURE_DENSITY = 0.3
_WEIGHT_DENSITY = 0.5
_MASK_BLOCKS = 8


def model_data(
    name: str,
    *,
    graph: Tensor | None = None,
    features: Tensor | None = None,
    given: Mapping[str, Tensor] | None = None,
    sizes: Mapping[str, int] | None = None,
    size: int | None = None,
    seed: int = 0,
) -> dict[str, Tensor]:
    """An input for every tensor that the model `name` reads, in the format that it declares.

    Weights are normal, scaled by the square root of their number per unit; sparse ones keep half of
    themselves, by magnitude. BigBird masks have 8 x 8 blocks. Equal arguments give equal tensors.

    Args:
        graph: the adjacency for a graph model, 0 or 1, to which self loops and normalisation are added
            as the model wants it; by default the karate club.
        features: the tensor X; by default random.
        given: other tensors by name, as they are.
        sizes: extents that differ from the small default ones, by index name, as in ``{"h": 64}``.
        size: instead of all default ones.

    Raises:
        InputError: when there is no such model or index, or when shapes do not agree.
    """
    program = load_model(name)
    names = {decl.name for decl in program.inputs}
    small = _SIZES[name] if size is None else dict.fromkeys(_SIZES[name], size)
    extents = {**small, **(sizes or {})}
    if unknown := extents.keys() - _SIZES[name].keys():
        raise InputError(
            f"model '{name}' has no size '{min(unknown)}'{did_you_mean(min(unknown), _SIZES[name])}; its "
            f"sizes are {', '.join(_SIZES[name])}"
        )
    if graph is not None and "A" not in names:
        raise InputError(f"model '{name}' reads no graph; leave the graph out")
    if features is not None and "X" not in names:
        raise InputError(f"model '{name}' reads no features; leave them out")
    given = dict(given or {})
    if "A" in names and "A" not in given:
        given["A"] = _adjacency(name, karate() if graph is None else graph)
    if features is not None:
        given["X"] = features
    for key, tensor in given.items():
        extents.update(zip(program.tensors[key].indices, tensor.shape, strict=False))
    if "A" in given:
        # A node is a neighbour too.
        extents["i"] = extents["k"] = given["A"].shape[0]
    extents.setdefault("j", extents.get("i", 1))
    shapes = {decl.name: tuple(extents[index] for index in decl.indices) for decl in program.inputs}
    check_size(program.bind(shapes | {key: tensor.shape for key, tensor in given.items()}))
    data = _Data(program, extents, np.random.default_rng(seed))
    tensors = {decl.name: given.get(decl.name) or data.tensor(decl) for decl in program.inputs}
    return {name: tensor.convert(program.tensors[name].format) for name, tensor in tensors.items()}


class _Data:
    """Draws the inputs that no one gave, by the names that the models have for them."""

    def __init__(self, program: Program, extents: Mapping[str, int], rng: "np.random.Generator") -> None:
        self.program = program
        self.extents = extents
        self.rng = rng

    def tensor(self, decl: TensorDecl) -> Tensor:
        shape = tuple(self.extents[index] for index in decl.indices)
        seed = int(self.rng.integers(2**32))
        match decl.name:
            case "scale":
                values = np.asarray(self.extents["d"] ** -0.5)
            case "width":
                values = np.asarray(float(self.extents["e"]))
            case "M":
                block = max(1, shape[0] // _MASK_BLOCKS)
                return bigbird_mask(shape[0], block, seed=seed, format=decl.format)
            case weights if weights.startswith("W"):
                density = 1.0 if decl.format.is_all_dense else _WEIGHT_DENSITY
                scale = self.fan_in(decl) ** -0.5
                return pruned_weights(shape, density, seed=seed, scale=scale, format=decl.format)
            case "X" if not decl.format.is_all_dense:
                return pruned_weights(shape, _FEATURE_DENSITY, seed=seed, format=decl.format)
            case "X" | "Q" | "K" | "V":
                values = self.rng.normal(size=shape)
            case gain if gain.startswith("g"):
                values = self.rng.normal(1, 0.1, shape)
            case _:
                values = self.rng.normal(0, 0.3, shape)
        return Tensor.from_dense(values, decl.format)

    def fan_in(self, decl: TensorDecl) -> int:
        """How many of the weights each sum takes."""
        for statement in self.program.statements:
            for access in statement.reads:
                if access.tensor == decl.name:
                    return prod(
                        self.extents[mode]
                        for mode, index in zip(decl.indices, access.names, strict=True)
                        if index in statement.reduction_indices
                    )
        raise ValueError(f"'{decl.name}' is not read")


def _adjacency(model: str, graph: Tensor) -> Tensor:
    """The graph as the model wants it."""
    if graph.rank != 2 or graph.shape[0] != graph.shape[1]:
        raise InputError(f"a graph of shape {graph.shape} is not square; give an adjacency matrix")
    coords, _ = graph.to_coo(drop_zeros=True)
    n = graph.shape[0]
    row, column = coords
    if model in ("gcn", "gcn_softmax", "gat"):
        loops = row != column
        row, column = (np.concatenate([mode[loops], np.arange(n)]) for mode in (row, column))
    degree = np.bincount(row, minlength=n)
    in_degree = np.bincount(column, minlength=n)
    match model:
        case "gcn" | "gcn_softmax":
            values = 1 / np.sqrt(degree[row] * in_degree[column])
        case "graphsage":
            values = 1 / degree[row]
        case _:
            values = np.ones(len(row))
    return Tensor.from_coo(np.stack([row, column]), values, graph.shape, "csr")


# Programs by what a user calls them.


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
        python = "samhw.onnx.compile, or to " if kind == "ONNX" else ""
        raise InputError(f"'{spec}' is a file in {kind}; give it to {python}'samhw run' or another command.")
    if not isinstance(found, Program):
        raise InputError(
            f"'{spec}' is a function; call it, and give what it gives to samhw.torch.compile, or to "
            "samhw.lang.nested.lowered if it is of nested lists."
        )
    return found


def titled(spec: str) -> str:
    """What a program that `spec` names is called where there is no room for all of a text: that by its last
    statement."""
    statements = [line.strip() for line in spec.splitlines() if "=" in line and not _DECLARES.match(line)]
    return statements[-1] if "\n" in spec and statements else spec


_DECLARES = re.compile(r"\s*(tensor\b|index\b|#)")
"""A line that computes nothing."""


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
