"""Goes through the operators of an exported program: what computes with constants alone is folded, what
computes indices is left to the host, and for the rest there are importers."""

import operator as python_operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import (
    Arguments,
    Build,
    Hints,
    UnsupportedError,
    Value,
    check_unmasked,
    is_scaled,
    scaled,
)
from samhw.importers.torch import host
from samhw.importers.torch.export import own_name, user_outputs
from samhw.importers.torch.given import annotation_of
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.loops import UnrolledLoop
from samhw.importers.torch.node import (
    MADE_OF_SHAPES,
    PRODUCTS,
    draws,
    empty_of,
    feeds_products,
    is_complex,
    keeps_integers,
    located,
    makes_conditions,
    makes_fractions,
    name_of,
    of_shape,
    scope_of,
)
from samhw.importers.torch.normal_form import bring_to_normal_form, written_with_others
from samhw.importers.torch.operators.complex_numbers import TAKES_PAIRS, Complex, as_real_numbers, of_complex
from samhw.importers.torch.registry import (
    COMPLEX_DECOMPOSED,
    DECOMPOSED,
    MASKED,
    MOVES,
    OWN,
    VIEWS,
    Handler,
    handler_of,
    operator_name,
)
from samhw.importers.torch.rolled import Rolled, StepOf, joined_steps
from samhw.importers.torch.updates import is_of_arguments
from samhw.importers.torch.value import Host, Known, TensorFetch

__all__ = ["GraphWalk"]

tree_leaves, tree_map = torch.utils._pytree.tree_leaves, torch.utils._pytree.tree_map


class GraphWalk:
    """Goes through the operators of an exported program."""

    def __init__(
        self,
        program: ExportedProgram,
        state: Mapping[str, Tensor],
        sparse: Mapping[str, Tensor],
        annotated: Mapping[str, str],
        arguments: Arguments,
        fixed: Mapping[str, Tensor],
        sparsify: float | None,
        updates: Mapping[str, Node],
        loops: Sequence[UnrolledLoop] = (),
        *,
        is_exact: bool = False,
    ) -> None:
        """
        Args:
            updates: the operators that give the new values of buffers, by the names of these.
            is_exact: finite numbers never count as -inf.
        """
        self.exported = program
        self.state = state
        self.sparse = sparse
        self.annotated = annotated
        self.arguments = arguments
        self.fixed = fixed
        self.updates = updates
        self.build = Build()
        self.update_names = [self.build.name(name) for name in updates]
        self.importer = Importer(self.build, sparsify, self.inlined, is_exact=is_exact)
        self.env: dict[Node, object] = {}
        self.loops = {loop.first: loop for loop in loops}
        self.in_loops = {node for loop in loops for node in loop.nodes}

    def run(self) -> Sequence[object]:
        """The module's outputs and the new values of its buffers, as the importer has them.

        Raises:
            RollError: for a loop that has to stay unrolled.
        """
        specs = {spec.arg.name: spec for spec in self.exported.graph_signature.input_specs}
        for node in self.exported.graph.nodes:
            if node.op == "placeholder":
                self.env[node] = self.placeholder(node, specs[node.name])
            elif node in self.loops:
                Rolled(self.importer, self.loops[node], self.env, self.call).add()
            elif node in self.in_loops:
                continue
            elif node.op == "get_attr":
                self.env[node] = getattr(self.exported.graph_module, str(node.target))
            elif node.op == "call_function":
                self.env[node] = self.call(node)
            elif node.op == "output":
                outputs = (*user_outputs(self.exported), *self.updates.values())
                return [self.real(self.mapped(output)) for output in outputs]
            else:
                raise InputError(f"the operator '{node.op}' of torch.export is not known; fix the module.")
        return []

    # Arguments and constants

    def placeholder(self, node: Node, spec: InputSpec) -> object:
        if spec.kind is InputKind.USER_INPUT:
            return self.argument(node)
        stored_as = spec.target or ""
        target = own_name(stored_as)
        if target in self.sparse:
            stored = self.state.get(target, self.sparse[target])
            return Known(None, target, stored, annotation=self.annotated.get(target))
        held = self.state.get(target)
        if held is None:
            held = self.exported.state_dict.get(stored_as)
        if held is None:
            held = self.exported.constants.get(stored_as)
        if not isinstance(held, Tensor):
            return held
        if target in self.updates:
            return self.state_before(target, held.detach())
        return Known(held.detach(), target, annotation=self.annotated.get(target))

    def state_before(self, target: str, held: Tensor) -> object:
        """What is in a buffer before the module changes it: an input, so that the design is the same for
        whatever is there; a constant where constants alone change it."""
        annotation = self.annotated.get(target)
        # A result has the buffer's own name.
        label = f"{target}_before"
        if not held.numel() or held.is_complex():
            return Known(held, label, annotation=annotation)
        if not held.is_floating_point():
            return Host(held, lambda _: held, label)
        if not is_of_arguments(self.exported, self.updates[target]):
            return Known(held, label, annotation=annotation)
        hints = Hints(host.format_of(held, annotation, self.importer.operands.sparsify))
        return self.importer.operands.input(("buffer", target), label, held, lambda _: held, hints)

    def argument(self, node: Node) -> object:
        example = self.fixed.get(node.name, self.arguments[node.name])
        if not isinstance(example, Tensor):
            return example
        if node.name in self.fixed and example.layout != torch.strided:
            return Known(None, node.name, example.detach())
        if not example.numel() or node.name in self.fixed:
            return Known(example.detach(), node.name)
        name = node.name

        def fetch(arguments: Arguments) -> Tensor:
            found = arguments[name]
            assert isinstance(found, Tensor)
            return found.detach()

        if not example.is_floating_point():
            if example.layout != torch.strided:
                return self.importer.operands.input(
                    ("argument", name), name, example, fetch, Hints(host.format_of(example, None, None))
                )
            return Host(example, fetch, name)
        fmt = host.format_of(example, annotation_of(example), None)
        return self.importer.operands.input(("argument", name), name, example.detach(), fetch, Hints(fmt))

    # Operators

    def mapped(self, argument: object) -> object:
        """An argument of an operator, as the importer holds it."""
        if isinstance(argument, Node):
            found = self.env[argument]
            if isinstance(found, UnsupportedError):
                raise found
            return found.value(self.importer) if isinstance(found, StepOf) else found
        if isinstance(argument, list | tuple):
            return [self.mapped(item) for item in argument]
        return argument

    def call(self, node: Node) -> object:
        """What an operator of the module gives, whose name its results have."""
        name = operator_name(node.target)
        if node.target is not python_operator.getitem:
            self.build.scope = scope_of(node)
            self.build.result_name = name_of(self.build.scope, name)
        try:
            return self.applied(node, name)
        except InputError as error:
            if node.target is python_operator.getitem:
                # It is what gives the results that has one to refuse.
                (node, *_) = node.all_input_nodes
            raise located(node, operator_name(node.target), error) from None

    def applied(self, node: Node, name: str) -> object:
        """What an operator gives, be it one of the module or one that another is written with."""
        if name.startswith(_CHECKS):
            return None
        self.importer.operator = name
        if (steps := self.parts_with_steps(name, node)) is not None:
            return self.kept(node, self.importer.call("cat", *steps))
        arguments = [self.mapped(argument) for argument in node.args]
        named = {key: self.mapped(argument) for key, argument in node.kwargs.items()}
        if node.target is python_operator.getitem:
            results, place = arguments
            assert isinstance(results, list | tuple)
            assert isinstance(place, int)
            return self.kept(node, _MISSING if results[place] is None else results[place])
        return self.kept(node, self.made(node, name, self.without_pairs(name, arguments), named))

    def inlined(self, function: Callable[..., Any], like: tuple[Any, Any], given: tuple[Any, Any]) -> Any:
        """What a function in PyTorch makes of arguments and named ones.

        Args:
            like: tensors of their shapes in their places.
        """
        graph = written_with_others(function, *like)
        pairs = zip(tree_leaves(like), tree_leaves(given), strict=True)
        left = iter([found for meta, found in pairs if isinstance(meta, Tensor)])
        for part in graph.nodes:
            if part.op == "placeholder":
                self.env[part] = self.kept(part, next(left))
            elif part.op == "call_function":
                self.env[part] = self.applied(part, operator_name(part.target))
            elif part.op == "output":
                return self.mapped(part.args[0])
        return None

    def parts_with_steps(self, name: str, node: Node) -> tuple[list[object], int] | None:
        """The parts of what puts steps of scans one after the other, and its dimension; None for others."""
        if name not in ("aten.stack", "aten.cat") or not isinstance(node.args[0], list | tuple):
            return None
        parts = [self.env[part] if isinstance(part, Node) else part for part in node.args[0]]
        if not any(isinstance(part, StepOf) for part in parts):
            return None
        dim = node.args[1] if len(node.args) > 1 else 0
        assert isinstance(dim, int)
        return joined_steps(self.importer, parts, dim, new=name == "aten.stack"), dim

    def scan(self, body: Any, states: Any, inputs: Any, others: Any = ()) -> list[Value]:
        """What PyTorch's own scan gives: the last states, then what its steps give."""
        bring_to_normal_form(body.graph)
        placeholders = [node for node in body.graph.nodes if node.op == "placeholder"]

        def step(before: Sequence[Value], now: Sequence[Value]) -> tuple[list[Value], list[Value]]:
            self.env.update(zip(placeholders, [*before, *now, *others], strict=True))
            found: list[Value] = []
            for node in body.graph.nodes:
                if node.op == "call_function":
                    self.env[node] = self.call(node)
                elif node.op == "output":
                    found = [self.importer.value(self.mapped(item)) for item in node.args[0]]  # type: ignore[arg-type]
            return found[: len(before)], found[len(before) :]

        start, given = ([self.importer.value(item) for item in items] for items in (states, inputs))
        last, every, _ = self.importer.scans.scan(step, start, given, self.importer.shape(given[0])[0])
        return [*last, *every]

    def made(self, node: Node, name: str, arguments: list[object], named: dict[str, object]) -> object:
        held = [
            item
            for item in tree_leaves((arguments, named))
            if isinstance(item, Value | Known | Host | Complex)
        ]
        handler = handler_of(node.target)
        if node.target is torch.ops.higher_order.scan:
            return self.scan(*arguments)
        if handler is None and name not in DECOMPOSED and draws(node):
            raise UnsupportedError("draws random numbers", "call model.eval(), or give them as an argument")
        if (empty := empty_of(node)) is not None:
            return Known(empty, self.build.result_name)
        if name in PRODUCTS and any(isinstance(item, Host) for item in held) and host.are_integers(held):
            arguments = [self.importer.integers(x) if isinstance(x, Known | Host) else x for x in arguments]
            held = [item for item in arguments if isinstance(item, Value)]
        if not name.startswith(OWN) and not any(isinstance(item, Value | Complex) for item in held):
            if name == "aten._to_copy" and host.are_bytes(arguments[0]) and feeds_products(node):
                return self.importer.real(self.importer.integers(arguments[0]))  # type: ignore[arg-type]
            if all(isinstance(item, Known) for item in held):
                return self.folded(node, name, arguments, named, handler)
            if host.is_of_indices(node, name, held):
                return self.on_host(node, arguments, named)
        if name in MADE_OF_SHAPES:
            return Known(of_shape(node, name, arguments), self.build.result_name)
        if name in MOVES and any(isinstance(item, Value) and item.mask is not None for item in held):
            return self.under_masks(node, name, arguments, named)
        of_pairs = is_complex(node) or any(isinstance(item, Complex) for item in held)
        if (function := (COMPLEX_DECOMPOSED if of_pairs else DECOMPOSED).get(name)) is not None:
            like = torch.fx.map_arg((node.args, node.kwargs), lambda source: source.meta["val"])
            return self.inlined(function, like, (tuple(arguments), named))
        if of_pairs:
            return of_complex(self.importer, name, [_as_number(item) for item in arguments], named)
        if handler is None:
            raise UnsupportedError(
                "is an operator that the importer does not know",
                "write it with others, or register one with samhw.torch.mapping",
            )
        if name not in MASKED:
            check_unmasked(*held)
        if keeps_integers(node):
            # Of whatever width: they are numbers of the value type.
            named.pop("dtype", None)
        plain = [_as_number(item) for item in arguments]
        if makes_fractions(node) and not name.startswith(OWN):
            plain = tree_map(lambda x: self.importer.real(x) if isinstance(x, Value) else x, plain)
        found = handler(self.importer, *plain, **{key: _as_number(item) for key, item in named.items()})
        # A view or a part of conditions, too, has the values of conditions.
        return (
            replace(found, condition=True) if isinstance(found, Value) and makes_conditions(node) else found
        )

    def under_masks(self, node: Node, name: str, arguments: list[object], named: dict[str, object]) -> Value:
        """What moves elements of which some are -inf: what is hidden of a part is hidden of the whole."""
        masks, operands = self.importer.masks, Value | Known | Host

        def part(number: int) -> Value:
            def pick(x: Any) -> Any:
                return masks.apart(x)[number] if isinstance(x, operands) else x

            given = [
                tree_map(pick, argument) if place in MOVES[name] else argument
                for place, argument in enumerate(arguments)
            ]
            return self.importer.value(self.made(node, name, given, named))  # type: ignore[arg-type]

        return masks.masked(part(0), replace(part(1), condition=True))

    def without_pairs(self, name: str, arguments: list[object]) -> list[object]:
        """Arguments in which the pairs that a complex tensor is viewed as are a tensor of real numbers, but
        for what takes one number of each, or makes them complex again."""
        return arguments if name in TAKES_PAIRS else [self.real(item) for item in arguments]

    def real(self, item: object) -> object:
        """Pairs as real numbers, in lists too, and anything else as it is."""
        if isinstance(item, list):
            return [self.real(each) for each in item]
        is_viewed = isinstance(item, Complex) and item.viewed
        return as_real_numbers(self.importer, item) if is_viewed else item  # type: ignore[arg-type]

    def folded(
        self,
        node: Node,
        name: str,
        arguments: list[object],
        named: dict[str, object],
        handler: Handler | None,
    ) -> object:
        """What is computed of constants alone."""
        source = arguments[0] if arguments else None
        if name in VIEWS and isinstance(source, Known) and handler is not None and source.tensor is None:
            rest = arguments[1:]
            return Known(
                None,
                source.name,
                # Of a shape alone; the values stay with what it is a view of.
                torch.zeros(()).expand(tuple(node.meta["val"].shape)),
                self.replayed(source, name, handler, rest, named),
                elements=lambda: host.called(node, arguments, named, lambda item: item.example),
            )
        found = host.called(node, arguments, named, lambda item: item.example)
        base = None
        if name in VIEWS and isinstance(source, Known) and isinstance(found, Tensor) and handler is not None:
            rest = arguments[1:]
            if source.stored().is_floating_point():
                base = self.replayed(source, name, handler, rest, named)
        label = source.name if isinstance(source, Known) and base else self.build.result_name
        given = [item for item in tree_leaves((arguments, named)) if isinstance(item, Known)]
        of_numbers = all(item.of_numbers for item in given)
        if isinstance(found, list | tuple):
            return [Known(item, label, of_numbers=of_numbers) for item in found]
        is_tensor = isinstance(found, Tensor)
        return Known(found, label, base=base, of_numbers=of_numbers) if is_tensor else found

    def replayed(
        self,
        source: Known,
        operator: str,
        handler: Handler,
        rest: Sequence[object],
        named: Mapping[str, object],
    ) -> tuple[Known, Callable[[Value], Value]]:
        """What a view is one of, and the view of that one's value."""
        importer = self.importer

        def apply(value: Value) -> Value:
            before, importer.operator = importer.operator, operator
            try:
                found = handler(importer, value, *rest, **named)
            finally:
                importer.operator = before
            assert isinstance(found, Value)
            return found

        return source, apply

    def on_host(self, node: Node, arguments: list[object], named: dict[str, object]) -> object:
        """What is computed of indices and conditions, as the data are loaded."""
        example = host.called(node, arguments, named, lambda item: item.example)
        names = [item.name for item in tree_leaves(arguments) if isinstance(item, Host)]

        def fetch(env: Arguments) -> Any:
            return host.called(node, arguments, named, lambda item: item.fetch(env))

        label = names[0] if names else self.build.result_name
        if isinstance(example, list | tuple):

            def part(place: int) -> TensorFetch:
                return lambda env: fetch(env)[place]

            return [Host(item, part(place), label) for place, item in enumerate(example)]
        return Host(example, fetch, label)

    def is_shared(self, node: Node, found: Value) -> bool:
        """Whether several operators may compute a value, each for itself: what integers stand for, and sums
        of that for those that quantise them."""
        if found.mask is not None or scaled(self.build, found.expr) is not None:
            return found.mask is None
        quantised = all("quantize_per" in operator_name(user.target) for user in node.users)
        return quantised and is_scaled(self.build, found.expr)

    def kept(self, node: Node, found: object) -> object:
        """A value that several operators use is a tensor of its own."""
        if isinstance(found, UnsupportedError) and node.target is python_operator.getitem:
            raise found
        if len(node.users) > 1:
            if isinstance(found, Value):
                return found if self.is_shared(node, found) else self.importer.tensors.materialized(found)
            if isinstance(found, Complex):
                keep = self.importer.tensors.materialized
                parts = [keep(p) if isinstance(p, Value) else p for p in (found.real, found.imag)]
                return replace(found, real=parts[0], imag=parts[1])
        return found


_MISSING = UnsupportedError("gives a result for which there is no hardware yet", "use its first result")
_CHECKS = ("aten._assert", "aten.sym_constrain", "_assert", "aten._linalg_check_errors")
"""What only checks, and computes nothing."""


def _as_number(item: object) -> object:
    """A constant without dimensions as a number."""
    if isinstance(item, Known) and item.tensor is not None and item.held is None and item.tensor.dim() == 0:
        return complex(item.tensor) if item.tensor.is_complex() else float(item.tensor)
    return item
