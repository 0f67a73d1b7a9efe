"""A module of PyTorch as a program: its operators one by one, its tensors as inputs, its outputs as it has
them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import (
    Arguments,
    Build,
    Emitted,
    PlacedResult,
    Tensors,
    Value,
    as_results,
    emit,
    input_sources,
    placed_result,
)
from samhw.importers.torch.export import argument_names, arguments_by_name, exported, own_name
from samhw.importers.torch.given import annotation_of, check_arguments, check_module, module_of
from samhw.importers.torch.imported import ImportedModule, OutputSource
from samhw.importers.torch.loops import UNROLL, loops_in
from samhw.importers.torch.node import place_of
from samhw.importers.torch.operators.complex_numbers import Complex
from samhw.importers.torch.rolled import RollError
from samhw.importers.torch.state import held_tensors
from samhw.importers.torch.value import Host, Known
from samhw.importers.torch.walk import GraphWalk
from samhw.lang.expr import Access, Literal

__all__ = ["Outputs", "check_written", "import_module"]


# The outputs of a module: what the program computes for them, and how its results are put back.


class Outputs:
    """A module's outputs, in its order."""

    def __init__(self, build: Build, tensors: Tensors, outputs: Sequence[object]) -> None:
        self.build = build
        build.scope, build.result_name = "", "output"
        values = [output for output in outputs if isinstance(output, Value)]
        if any(value.mask is not None for value in values):
            raise InputError("An output of the module is -inf at places; mask it after the run.")
        made = iter(as_results(build, tensors, values, "output"))
        self._outputs = [next(made) if isinstance(output, Value) else output for output in outputs]

    @property
    def computed(self) -> list[str]:
        """The results that the program has to have, by name."""
        values = [output.expr for output in self._outputs if isinstance(output, Value)]
        return [expr.tensor for expr in values if isinstance(expr, Access)]

    def sources(self, emitted: Emitted) -> Sequence[OutputSource]:
        """The outputs, with their modes as the program stores them."""
        return [OutputSource(self._source(output, emitted)) for output in self._outputs]

    def _source(self, output: object, emitted: Emitted) -> PlacedResult | Callable[[Arguments], object]:
        if isinstance(output, Value) and isinstance(output.expr, Access):
            return placed_result(self.build, output, emitted)
        if isinstance(output, Value):
            assert isinstance(output.expr, Literal)
            held = torch.full(self.build.shape(output), float(output.expr.value))
            return lambda _: held
        if isinstance(output, Known):
            tensor = output.dense()
            return lambda _: tensor
        if isinstance(output, Host):
            return output.fetch
        if isinstance(output, Complex):
            raise InputError("An output of the module is complex; return torch.view_as_real() of it.")
        return lambda _: output


# What a module writes into its own state and into its arguments as it runs.


_KINDS = ("BUFFER_MUTATION", "PARAMETER_MUTATION")
"""By their names, of which older PyTorchs have not all."""


def check_written(module: nn.Module, program: ExportedProgram) -> None:
    """Raises `InputError` for what hardware would have to keep between runs: a buffer or a parameter that
    gets what inputs decide, or something else at each call. A cache, which gets the same of constants alone
    at each call, is none of these."""
    name = type(module).__name__
    (last,) = (node for node in program.graph.nodes if node.op == "output")
    for spec, output in zip(program.graph_signature.output_specs, last.args[0], strict=True):
        if spec.kind is OutputKind.USER_INPUT_MUTATION:
            raise InputError(
                f"{name} changes its argument '{spec.target}'; compute a new tensor and return it."
            )
        if spec.kind.name not in _KINDS or _is_observed(output):
            continue
        if _is_cache(program, spec.target or "", output):
            continue
        place, line = place_of(output)
        kind = spec.kind.name.partition("_")[0].lower()
        raise InputError(
            f"{place}{': ' if place else ''}{name} changes its {kind} '{own_name(spec.target or '')}' as it "
            "runs, and hardware keeps nothing between runs; call model.eval(), or give the state as an "
            f"argument and return the new one.{f'{chr(10)}  {line}' if line else ''}"
        )


def _is_observed(node: Any) -> bool:
    """Whether it is a range that training observes: its importer asks whether it still does."""
    source = node.args[0] if isinstance(node, Node) and node.args else None
    return isinstance(source, Node) and "_obs_fq_" in str(source.target)


def _is_cache(program: ExportedProgram, target: str, node: Node) -> bool:
    """Whether what is written there is the same at each call."""
    held = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
    if set(program.graph_signature.user_inputs) & _placeholders(node):
        return False
    state = {**program.state_dict, **program.constants}
    values = {name: state.get(place) for name, place in held.items() if place is not None}
    with torch.no_grad():
        first = _value(node, values)
        again = {name: first if held[name] == target else value for name, value in values.items()}
        second = _value(node, again)
    return isinstance(first, Tensor) and isinstance(second, Tensor) and torch.equal(first, second)


def _placeholders(node: Node) -> set[str]:
    """Those that a node is computed of, by name."""
    seen, left = {node}, [node]
    while left:
        for source in left.pop().all_input_nodes:
            if source not in seen:
                seen.add(source)
                left.append(source)
    return {each.name for each in seen if each.op == "placeholder"}


def _value(node: Node, values: Mapping[str, object]) -> object:
    """What a node gives, of the placeholders' values."""
    known: dict[Node, Any] = {}

    def of(item: Node) -> Any:
        if item not in known:
            if item.op == "placeholder":
                held = values[item.name]
                known[item] = held.detach().clone() if isinstance(held, Tensor) else held
            else:
                assert callable(item.target)
                args, kwargs = torch.fx.map_arg((item.args, item.kwargs), of)
                known[item] = item.target(*args, **kwargs)
        return known[item]

    return of(node)


def import_module(
    module: nn.Module | ExportedProgram,
    arguments: Sequence[object],
    *,
    sparsify: float | None = None,
    unroll: int = UNROLL,
    name: str | None = None,
    walk: Callable[..., GraphWalk] = GraphWalk,
) -> ImportedModule:
    """Imports a module for arguments of these shapes and layouts.

    Args:
        sparsify: the share of zeros from which on a weight is stored by its nonzeros.
        unroll: loops of at most this many steps stay unrolled.
        name: of the program; by default that of the module's class.
        walk: makes what goes through the operators.

    Raises:
        InputError: for a module that cannot be imported, with the line of the user's file and a way out.
    """
    module = module_of(module)
    check_arguments(arguments)
    check_module(module)
    program, places, sparse = exported(module, arguments)
    check_written(module, program)
    given = arguments_by_name(program, arguments)
    names = argument_names(program)
    # Copies: what the user does to the arguments afterwards changes no constant.
    decided = {names[place]: given[names[place]] for place in places}
    fixed = {name: held.detach().clone() for name, held in decided.items() if isinstance(held, Tensor)}
    state = {path: held.clone() for path, held in held_tensors(module).items()}
    label = name or type(module).__name__
    label = label if label.isidentifier() else "module"
    loops = loops_in(program.graph, unroll)
    while True:
        walked = walk(program, state, sparse, _annotated(module), given, fixed, sparsify, loops)
        try:
            emitted, outputs = _emitted(walked, module, label)
            break
        except RollError as error:
            loops = [loop for loop in loops if loop is not error.loop]
        except InputError:
            # Is it something that only scans lack?
            if not loops:
                raise
            loops = []
    inputs = input_sources(walked.build, emitted)
    results = outputs.sources(emitted)
    return ImportedModule(emitted.program, inputs, results, emitted.scopes, fixed, state, program)


def _emitted(walked: GraphWalk, module: nn.Module, label: str) -> tuple[Emitted, Outputs]:
    """The program of all operators, and the module's outputs."""
    found = walked.run()
    outputs = Outputs(walked.build, walked.importer.tensors, found)
    if not outputs.computed and any(isinstance(output, Known) and not output.numel() for output in found):
        raise InputError(
            f"{type(module).__name__} gives an empty tensor for these arguments; there is nothing to compute."
        )
    if not outputs.computed and any(isinstance(output, Host) for output in found):
        raise InputError(
            f"{type(module).__name__} computes with integers and conditions alone, which the host does as it "
            "loads them; give the data of the hardware as floating-point numbers (x.float())."
        )
    if not outputs.computed and walked.fixed:
        raise InputError(
            f"{type(module).__name__} computes with {', '.join(walked.fixed)} alone, which decides what is "
            "computed and is a constant of the design; there is nothing to compile."
        )
    if not outputs.computed:
        raise InputError(
            f"{type(module).__name__} computes nothing of its arguments; there is nothing to compile."
        )
    return emit(walked.build, label, outputs.computed), outputs


def _annotated(module: nn.Module) -> dict[str, str]:
    """The formats that a user has asked for, by the names of parameters and buffers."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    found = {name: annotation_of(tensor) for name, tensor in named}
    return {name: text for name, text in found.items() if text is not None}
