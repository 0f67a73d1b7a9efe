"""Programs by what a user calls them, on data."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from samhw.app.workload.bind import FEATURES, RANDOM_DENSITY, drawn_file, make_workload, pattern_of, tensor_of
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
from samhw.graph.numerics import ValueType
from samhw.lang import (
    Example,
    MlirFile,
    Named,
    OnnxFile,
    Program,
    load_model,
    load_named,
    model_data,
    model_names,
)
from samhw.lang.typed import with_types
from samhw.tensors import Tensor, is_dataset, karate, read_dataset
from samhw.tensors.generate import uniform_graph
from samhw.tensors.stand_ins import STAND_INS, small_sizes

__all__ = ["bind_program", "make_model_workload", "stand_ins_for"]

# Data for a built-in model.


LONGEST = 20
"""Digits of a number in `random:..`."""

_ROLES = {"adjacency": "A", "features": "X", "input": "X", "mask": "M"}
"""The tensors that models make of those of a data set."""


def make_model_workload(
    name: str, data: Sequence[str] = DEFAULT, *, own: Mapping[str, Tensor] | None = None
) -> Workload:
    """A built-in model on data.

    Args:
        data: `karate`; `random` or `random:size=8,density=0.1,seed=1,h=32`, with sizes by index name; a
            graph's file, or a data set with its features; `NAME=FILE` for single tensors; or
            `synthetic:cora`. What is not given is drawn. `auto` is `karate` for a model that reads a graph,
            else `random`.
        own: tensors by name, which come before those of a data set.

    Raises:
        InputError: as `make_workload` does.
    """
    program = load_model(name)
    reads_graph = any(decl.name == "A" for decl in program.inputs)
    data = [("karate" if reads_graph else "random") if spec == AUTO else spec for spec in data]
    drawn = _Drawn()
    given: dict[str, Tensor] = {}
    roles: dict[str, Tensor] = {}
    for spec in data:
        key, equals, path = spec.partition("=")
        if spec.partition(":")[0] == "random":
            drawn.take(spec)
            continue
        if equals and key.isidentifier():
            program.check_operand(key)
            check_free(key, given)
            given[key] = drawn_file(spec, path, np.random.default_rng(drawn.seed).standard_normal)
            continue
        found = _by_role(spec) if spec != "karate" or reads_graph else {}
        for role, tensor in found.items():
            if role not in _ROLES:
                raise InputError(f"Model '{name}' reads no {role}; give '{spec}' to another program.")
            check_free(_ROLES[role], {_ROLES[one] for one in roles})
            roles[role] = tensor
    for key, tensor in (own or {}).items():
        check_free(key, given)
        given[key] = tensor
    roles = {role: tensor for role, tensor in roles.items() if _ROLES[role] not in given}
    known = given.keys() | {_ROLES[role] for role in roles}
    if reads_graph and "adjacency" not in roles and "A" not in given:
        roles |= drawn.graph()
    if "mask" in roles:
        program.check_operand("M")
        given["M"] = roles["mask"]
    with drawn.named():
        tensors = model_data(
            name,
            graph=roles.get("adjacency"),
            features=roles.get("features", roles.get("input")),
            given=given,
            sizes=drawn.sizes,
            size=drawn.size,
            seed=drawn.seed,
        )
    program = program.bind({key: tensor.shape for key, tensor in tensors.items()})
    missing = tuple(name for name in tensors if name not in known)
    return Workload("+".join(short_name(spec) for spec in data), program, tensors, drawn=missing)


def _by_role(spec: str) -> dict[str, Tensor]:
    """The tensors of a `--data` that names none: those of a data set, or a graph alone."""
    if spec == "karate":
        return {"adjacency": karate()}
    if spec.partition(":")[0] == SYNTHETIC:
        return synthetic(spec)
    check_known(spec)
    path, _ = pattern_of(spec, spec)  # A model gives a graph values of its own.
    return read_dataset(path) if is_dataset(path) else {"adjacency": tensor_of(path)}


class _Drawn:
    """What `random:..` says of the data of a model: `size` of whatever has none of its own, and of a graph
    that is drawn, where no other is given, its nodes (`i`) and density."""

    def __init__(self) -> None:
        self.spec = ""
        self.seed = 0
        self.size: int | None = None
        self.density: float | None = None
        self.sizes: dict[str, int] = {}

    def take(self, spec: str) -> None:
        """Reads the settings of `random:a=1,b=2`."""
        self.spec = spec
        for item in filter(None, spec.partition(":")[2].split(",")):
            key, _, text = item.partition("=")
            if key == "density":
                self.density = _share(spec, text)
                continue
            if not text.isdecimal() or len(text) > LONGEST:
                raise InputError(
                    f"--data {spec}: '{text}' is no whole number of up to {LONGEST} digits for {key}."
                )
            if key == "seed":
                self.seed = int(text)
            elif key == "size":
                self.size = int(text)
            else:
                self.sizes[key] = int(text)

    def graph(self) -> dict[str, Tensor]:
        """A random graph, if anything is said of it; else the model has its own."""
        nodes = self.sizes.pop("i", self.size)
        if nodes is None and self.density is None:
            return {}
        density = RANDOM_DENSITY if self.density is None else self.density
        return {"adjacency": uniform_graph(max(nodes or FEATURES, 1), density, seed=self.seed)}

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors of a model's data name what asked for them."""
        try:
            yield
        except InputError as error:
            raise (error.within(f"--data {self.spec}") if self.sizes else error) from None


def _share(spec: str, text: str) -> float:
    """A density."""
    try:
        if 0 <= (share := float(text)) <= 1:
            return share
    except ValueError:
        pass
    raise InputError(f"--data {spec}: '{text}' is no density; give a number from 0 to 1.")


def bind_program(
    spec: str,
    data: Sequence[str] = DEFAULT,
    *,
    value: ValueType | None = None,
    types: Mapping[str, ValueType] | None = None,
    loaded: Named | None = None,
    given: Mapping[str, Tensor] | None = None,
) -> Workload:
    """The program that `spec` names (`load_named`), a built-in model or any other one, on data; a module of
    PyTorch, or a function of nested lists, on its example arguments; a file in MLIR on data for its
    function's arguments, and one in ONNX for its inputs.

    Args:
        types: of tensors, instead of those that it gives them.
        loaded: what `load_named` gave, where it was asked already.
        given: tensors by name, which come before those of a data set; of a program in samhw's language.

    Raises:
        InputError: as `load_named` and `make_workload` do.
    """
    if spec in model_names():
        return make_model_workload(spec, data, own=given).with_types(types or {})
    found = loaded or load_named(spec)
    if isinstance(found, Program):
        return make_workload(with_types(found, types or {}), data, value=value, given=given)
    return _made(spec, data, value, found).with_types(types or {})


def stand_ins_for(program: str) -> Iterator[str]:
    """The stand-ins that a program takes: it is bound to a small one of each kind.

    Raises:
        InputError: as `load_named` does.
    """
    loaded = load_named(program)
    taken: dict[str, bool] = {}
    for name in STAND_INS:
        sizes = small_sizes(name)
        if sizes not in taken:
            try:
                bind_program(program, [f"{SYNTHETIC}:{name},{sizes}"], loaded=loaded)
                taken[sizes] = True
            except InputError:
                taken[sizes] = False
        if taken[sizes]:
            yield name


def _made(
    spec: str, data: Sequence[str], value: ValueType | None, found: Example | MlirFile | OnnxFile
) -> Workload:
    """What a program is made of, on data."""
    if isinstance(found, MlirFile):
        # Imported here, as few programs are in MLIR, and its reader is large.
        from samhw.app.workload.mlir import make_mlir_workload

        return make_mlir_workload(found, data, value=value)
    if isinstance(found, OnnxFile):
        return _onnx(found, data, value)
    if tuple(data) != DEFAULT:
        raise InputError(f"'{spec}' has its own data, the example arguments that it gives; leave out --data.")
    given = found.function()
    # Imported here, as few programs are nested lists.
    from samhw.app.workload.nested import is_nested, make_nested_workload

    if is_nested(given):
        return make_nested_workload(found, given)
    # Imported here, since nothing else needs PyTorch, which takes longer than all else.
    try:
        from samhw.app.workload.torch_module import make_module_workload
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            f"'{spec}' is a function, whose module needs PyTorch; install it with pip install 'samhw[torch]'."
        ) from None

    return make_module_workload(spec, found, given)


def _onnx(file: OnnxFile, data: Sequence[str], value: ValueType | None) -> Workload:
    # Imported here, since nothing else needs the package of ONNX.
    try:
        from samhw.app.workload.onnx_model import make_onnx_workload
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "ml_dtypes"):
            raise
        raise InputError(
            f"'{file.path}' is read with the package of ONNX; install it with pip install 'samhw[onnx]'."
        ) from None
    return make_onnx_workload(file, data, value=value)
