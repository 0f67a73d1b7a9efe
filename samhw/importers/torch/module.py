"""A module of PyTorch as a program: its operators one by one, its tensors as inputs, its outputs as it has
them."""

import operator as python_operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from samhw.errors import InputError
from samhw.frontend.expr import Access, Literal
from samhw.importers.core import Build, Emitted, UnsupportedError, Value, check_unmasked, emit, input_sources
from samhw.importers.torch import host
from samhw.importers.torch.annotations import annotation_of
from samhw.importers.torch.export import arguments_by_name, exported, sparse_parts
from samhw.importers.torch.given import check_arguments, check_module
from samhw.importers.torch.imported import ImportedModule, OutputSource
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.node import (
    empty_of,
    is_complex,
    is_condition,
    located,
    makes_integers,
    name_of,
    of_shape,
    scope_of,
)
from samhw.importers.torch.registry import MASKED, VIEWS, handler_of, operator_name
from samhw.importers.torch.value import Host, Known

__all__ = ["import_module"]


def import_module(
    module: nn.Module, arguments: Sequence[Any], *, sparsify: float | None = None, name: str | None = None
) -> ImportedModule:
    """Imports a module for arguments of these shapes and layouts.

    Args:
        sparsify: the share of zeros from which on a weight is stored by its nonzeros.
        name: of the program; by default that of the module's class.

    Raises:
        InputError: for a module that cannot be imported, with the line of the user's file and a way out.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"{type(module).__name__} is no torch.nn.Module; give a module and its arguments.")
    check_arguments(arguments)
    check_module(module)
    program = exported(module, arguments)
    _check_signature(module, program)
    walk = _Walk(
        program, sparse_parts(module), _annotated(module), arguments_by_name(program, arguments), sparsify
    )
    outputs = walk.run()
    results = [walk.result(output) for output in outputs]
    wanted = [access.tensor for access, _ in walk.wanted]
    if not wanted and any(isinstance(output, Known) and not output.numel() for output in outputs):
        raise InputError(
            f"{type(module).__name__} gives an empty tensor for these arguments; there is nothing to compute."
        )
    if not wanted:
        raise InputError(
            f"{type(module).__name__} computes nothing of its arguments; there is nothing to compile."
        )
    label = name or type(module).__name__
    emitted = emit(walk.build, label if label.isidentifier() else "module", wanted)
    finished = [
        result if result.name is None else walk.finished(result, access, value, emitted)
        for result, access, value in _paired(results, walk.wanted)
    ]
    inputs = input_sources(walk.build, emitted)
    return ImportedModule(emitted.program, inputs, finished, emitted.scopes, program)


def _paired(
    results: Sequence[OutputSource], wanted: Sequence[tuple[Access, Value]]
) -> list[tuple[OutputSource, Any, Any]]:
    left = iter(wanted)
    return [(result, *(next(left) if result.name is not None else (None, None))) for result in results]


def _annotated(module: nn.Module) -> dict[str, str]:
    """The formats that a user has asked for, by the names of parameters and buffers."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    found = {name: annotation_of(tensor) for name, tensor in named}
    return {name: text for name, text in found.items() if text is not None}


def _check_signature(module: nn.Module, program: Any) -> None:
    signature = program.graph_signature
    for target in signature.buffers_to_mutate.values():
        raise InputError(
            f"{type(module).__name__} changes its buffer '{target}' as it runs, and hardware keeps nothing "
            "between runs; call model.eval(), or give the state as an argument and return the new one."
        )
    for target in signature.user_inputs_to_mutate.values():
        raise InputError(
            f"{type(module).__name__} changes its argument '{target}'; compute a new tensor and return it."
        )


class _Walk:
    """Goes through the operators of an exported program."""

    def __init__(
        self,
        program: Any,
        sparse: Mapping[str, Any],
        annotated: Mapping[str, str],
        arguments: Mapping[str, Any],
        sparsify: float | None,
    ) -> None:
        self.exported = program
        self.sparse = sparse
        self.annotated = annotated
        self.arguments = arguments
        self.build = Build()
        self.importer = Importer(self.build, sparsify)
        self.env: dict[Any, Any] = {}
        self.wanted: list[tuple[Access, Value]] = []

    def run(self) -> Sequence[Any]:
        """The module's outputs, as the importer has them."""
        specs = {spec.arg.name: spec for spec in self.exported.graph_signature.input_specs}
        for node in self.exported.graph.nodes:
            if node.op == "placeholder":
                self.env[node] = self.placeholder(node, specs[node.name])
            elif node.op == "call_function":
                self.env[node] = self.call(node)
            elif node.op == "output":
                return [self.mapped(arg) for arg in node.args[0]]
            else:
                raise InputError(f"the operator '{node.op}' of torch.export is not known; mend the module.")
        return []

    # Arguments and constants

    def placeholder(self, node: Any, spec: Any) -> Any:
        if spec.kind is torch.export.graph_signature.InputKind.USER_INPUT:
            return self.argument(node)
        target = spec.target
        if target in self.sparse:
            return Known(None, target, self.sparse[target], annotation=self.annotated.get(target))
        held = self.exported.state_dict.get(target)
        if held is None:
            held = self.exported.constants.get(target)
        if not isinstance(held, torch.Tensor):
            return held
        return Known(held.detach(), target, annotation=self.annotated.get(target))

    def argument(self, node: Any) -> Any:
        example = self.arguments[node.name]
        if not isinstance(example, torch.Tensor):
            return example
        if not example.numel():
            return Known(example.detach(), node.name)
        name = node.name

        def fetch(env: Mapping[str, Any]) -> Any:
            return env[name].detach()

        if not example.is_floating_point():
            if example.layout != torch.strided:
                return self.importer.operands.input(
                    ("argument", name), name, example, fetch, host.format_of(example, None, None)
                )
            return Host(example, fetch, name)
        fmt = host.format_of(example, annotation_of(example), None)
        return self.importer.operands.input(("argument", name), name, example.detach(), fetch, fmt)

    # Operators

    def mapped(self, argument: Any) -> Any:
        """An argument of an operator, as the importer has it."""
        if isinstance(argument, torch.fx.Node):
            return self.env[argument]
        if isinstance(argument, list | tuple):
            return [self.mapped(item) for item in argument]
        return argument

    def call(self, node: Any) -> Any:
        arguments = [self.mapped(argument) for argument in node.args]
        named = {key: self.mapped(argument) for key, argument in node.kwargs.items()}
        if node.target is python_operator.getitem:
            found = arguments[0][arguments[1]]
            return self.kept(node, found)
        name = operator_name(node.target)
        if name.startswith(_CHECKS):
            return None
        self.importer.operator = name
        self.build.scope = scope_of(node)
        self.build.result_name = name_of(self.build.scope, name)
        try:
            return self.kept(node, self.made(node, name, arguments, named))
        except InputError as error:
            raise located(node, name, error) from None

    def made(self, node: Any, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        held = [
            item
            for item in _flat([arguments, list(named.values())])
            if isinstance(item, Value | Known | Host)
        ]
        handler = handler_of(node.target)
        if (empty := empty_of(node)) is not None:
            return Known(empty, self.build.result_name)
        if not any(isinstance(item, Value) for item in held):
            if all(isinstance(item, Known) for item in held):
                return self.folded(node, name, arguments, named, handler)
            if _is_of_indices(node, name, held):
                return self.on_host(node, arguments, named)
        if name in _MADE_OF_SHAPES:
            return Known(of_shape(node, name, arguments), self.build.result_name)
        if handler is None:
            raise UnsupportedError(
                "is an operator that the importer does not know",
                "write it with others, or register one with samhw.torch.mapping",
            )
        if name not in MASKED:
            check_unmasked(*held)
        if is_complex(node):
            raise UnsupportedError("computes complex numbers", "compute with their real and imaginary parts")
        if makes_integers(node) and name not in _OF_CONDITIONS and not is_condition(node):
            raise UnsupportedError(
                "computes whole numbers", "hardware has one type of values; give indices as inputs"
            )
        plain = [_as_number(item) for item in arguments]
        return handler(self.importer, *plain, **{key: _as_number(item) for key, item in named.items()})

    def folded(self, node: Any, name: str, arguments: list[Any], named: dict[str, Any], handler: Any) -> Any:
        """What is computed of constants alone."""
        if name in _RANDOM:
            raise UnsupportedError("draws random numbers", "call model.eval(), or give them as an argument")
        source = arguments[0] if arguments else None
        if name in VIEWS and isinstance(source, Known) and handler is not None and source.tensor is None:
            rest = arguments[1:]
            return Known(
                None,
                source.name,
                # Of a shape alone; the values stay with what it is a view of.
                torch.zeros(()).expand(tuple(node.meta["val"].shape)),
                self.replayed(source, name, handler, rest, named),
            )
        plain = [_dense(item) for item in arguments]
        found = node.target(*plain, **{key: _dense(item) for key, item in named.items() if key != "device"})
        base = None
        if (
            name in VIEWS
            and isinstance(source, Known)
            and isinstance(found, torch.Tensor)
            and handler is not None
        ):
            rest = arguments[1:]
            if source.tensor.is_floating_point():
                base = self.replayed(source, name, handler, rest, named)
        label = source.name if isinstance(source, Known) and base else self.build.result_name
        if isinstance(found, list | tuple):
            return [Known(item, label) for item in found]
        return Known(found, label, base=base) if isinstance(found, torch.Tensor) else found

    def replayed(
        self, source: Known, operator: str, handler: Any, rest: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Known, Callable[[Value], Value]]:
        """What a view is one of, and the view of that one's value."""
        importer = self.importer

        def apply(value: Value) -> Value:
            before, importer.operator = importer.operator, operator
            try:
                found: Value = handler(importer, value, *rest, **named)
            finally:
                importer.operator = before
            return found

        return source, apply

    def on_host(self, node: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """What is computed of indices and conditions, as the data are loaded."""
        target = node.target

        def run(pick: Any) -> Any:
            keyword = {key: _picked(item, pick) for key, item in named.items() if key != "device"}
            return target(*[_picked(item, pick) for item in arguments], **keyword)

        example = run(lambda x: x.example)
        names = [item.name for item in _flat(arguments) if isinstance(item, Host)]

        def fetch(env: Mapping[str, Any]) -> Any:
            return run(lambda x: x.dense() if isinstance(x, Known) else x.fetch(env))

        label = names[0] if names else self.build.result_name
        if isinstance(example, list | tuple):

            def part(place: int) -> Any:
                return lambda env: fetch(env)[place]

            return [Host(item, part(place), label) for place, item in enumerate(example)]
        return Host(example, fetch, label)

    def kept(self, node: Any, found: Any) -> Any:
        """A value that several operators use is a tensor of its own."""
        if isinstance(found, UnsupportedError) and node.target is python_operator.getitem:
            raise located(node, operator_name(node.args[0].target), found)
        if isinstance(found, Value) and len(node.users) > 1:
            return self.importer.tensors.materialized(found)
        return found

    # What comes out

    def result(self, output: Any) -> OutputSource:
        """An output; one that the hardware computes gets a statement that nobody else reads."""
        build = self.build
        if isinstance(output, Known):
            tensor = output.dense()
            return OutputSource(None, tuple(tensor.shape), fetch=lambda _: tensor)
        if isinstance(output, Host):
            return OutputSource(None, tuple(output.example.shape), fetch=output.fetch)
        if not isinstance(output, Value):
            return OutputSource(None, (), fetch=lambda _: output)
        if output.mask is not None:
            raise InputError("An output of the module is -inf at places; mask it after the run.")
        build.scope, build.result_name = "", "output"
        value = self.importer.tensors.materialized(output)
        if isinstance(value.expr, Literal):
            held = torch.full(build.shape(value), float(value.expr.value))
            return OutputSource(None, tuple(held.shape), fetch=lambda _: held)
        access = value.expr
        assert isinstance(access, Access)
        read = {a.tensor for made in build.statements for a in made.reads}
        taken = {other.tensor for other, _ in self.wanted}
        if access.tensor in read | taken or build.stored[access.tensor].fetch is not None:
            access = build.statement(access.indices, access, label="output")
        self.wanted.append((access, value))
        return OutputSource(access.tensor, build.shape(value))

    def finished(self, result: OutputSource, access: Access, value: Value, emitted: Emitted) -> OutputSource:
        """An output with the order of its modes, which is known once the program is."""
        axes = self.build.axes
        place = emitted.placed[access.tensor]
        own = axes.resolved(self.build.stored[access.tensor].modes)
        theirs = dict(zip(own, axes.resolved(access.indices), strict=True))
        stored = [theirs[index] for index in place.indices]
        indices = axes.resolved(value.indices)
        order = tuple(stored.index(index) for index in indices if index in stored)
        atoms = tuple(axes.size([index]) for index in indices)
        sizes = tuple(axes.size([index]) if index in stored else 1 for index in indices)
        return OutputSource(result.name, result.shape, order, sizes, shape_of_atoms=atoms)


_RANDOM = frozenset(
    f"aten.{name}"
    for name in ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "bernoulli")
)
_CHECKS = ("aten._assert", "aten.sym_constrain", "_assert")
"""What only checks, and computes nothing."""
_MADE_OF_SHAPES = frozenset(
    f"aten.{name}"
    for name in (
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
    )
)
_OF_CONDITIONS = frozenset(f"aten.{name}" for name in ("where", "masked_fill"))


def _as_number(item: Any) -> Any:
    """A constant without dimensions as a number."""
    if isinstance(item, Known) and item.held is None and item.tensor.dim() == 0:
        return float(item.tensor)
    return item


def _is_of_indices(node: Any, name: str, held: Sequence[Any]) -> bool:
    """Whether an operator of integers and conditions gives such again, or makes plain numbers of them."""
    if any(isinstance(item, Known) and not _is_plain(item) for item in held):
        return False
    return name not in ("aten.embedding", "aten.embedding_bag")


def _is_plain(constant: Known) -> bool:
    """Integers, conditions, or one number all over."""
    tensor = constant.dense()
    return not tensor.is_floating_point() or host.uniform(tensor) is not None


def _dense(item: Any) -> Any:
    return _picked(item, lambda constant: constant.dense())


def _picked(item: Any, pick: Any) -> Any:
    if isinstance(item, Known | Host):
        return pick(item)
    return [_picked(part, pick) for part in item] if isinstance(item, list) else item


def _flat(items: Any) -> list[Any]:
    if isinstance(items, list | tuple):
        return [leaf for item in items for leaf in _flat(item)]
    return [items]
