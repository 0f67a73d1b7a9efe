"""What a module writes into its own buffers as it runs. Hardware keeps nothing between runs, so each new
value is a further result."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node
from torch.nn.modules.batchnorm import _NormBase

from samhw.errors import InputError
from samhw.importers.torch.export import ROOT, own_name, returned
from samhw.importers.torch.node import place_of

__all__ = ["is_of_arguments", "updates_of"]


def updates_of(module: nn.Module, program: ExportedProgram) -> dict[str, Node]:
    """The buffers that a module changes, by their names, each with the operator that gives its new value.

    Raises:
        InputError: for what is not for hardware to change: an argument, a parameter, the statistics of a norm
            that is training.
    """
    name = type(module).__name__
    found: dict[str, Node] = {}
    (last,) = (node for node in program.graph.nodes if node.op == "output")
    for spec, output in zip(program.graph_signature.output_specs, last.args[0], strict=True):
        if spec.kind is OutputKind.USER_INPUT_MUTATION:
            raise InputError(
                f"{name} changes its argument '{spec.target}'; compute a new tensor and return it."
            )
        if spec.kind.name not in _WAYS_OUT or _is_observed(output):
            continue
        is_buffer = spec.kind is OutputKind.BUFFER_MUTATION
        if _is_settled(program, spec.target or "", output, at_once=is_buffer):
            continue
        target = own_name(spec.target or "")
        if not is_buffer or _is_of_training(module, target):
            raise _refusal(name, target, spec.kind.name, output)
        found[target] = output
    # Whatever has been written there before stays in the tensor that was there.
    for target, output in returned(program)[1].items():
        found.pop(target, None)
        if not _is_settled(program, f"{ROOT}{target}", output, at_once=True):
            found[target] = output
    return found


_WAYS_OUT = {
    "BUFFER_MUTATION": "call model.eval()",
    "PARAMETER_MUTATION": "make it a buffer",
}
"""By the names of kinds, of which older PyTorchs have not all."""


def _refusal(name: str, target: str, kind: str, output: Node) -> InputError:
    place, line = place_of(output)
    return InputError(
        f"{place}{': ' if place else ''}{name} changes its {kind.partition('_')[0].lower()} '{target}' as it "
        f"runs, as training does; {_WAYS_OUT[kind]}, or give the state as an argument and return the new "
        f"one.{f'{chr(10)}  {line}' if line else ''}"
    )


def _is_of_training(module: nn.Module, target: str) -> bool:
    """Whether it is a statistic of one of PyTorch's own norms, which evaluation leaves alone."""
    return isinstance(module.get_submodule(target.rpartition(".")[0]), _NormBase)


def _is_observed(node: Any) -> bool:
    """Whether it is a range that training observes: its importer asks whether it still does."""
    source = node.args[0] if isinstance(node, Node) and node.args else None
    return isinstance(source, Node) and "_obs_fq_" in str(source.target)


def _is_settled(program: ExportedProgram, target: str, node: Node, *, at_once: bool) -> bool:
    """Whether what is written there, of constants alone, is what is there.

    Args:
        at_once: after no call; else after the first one, as a parameter may be that is scaled as it is used.
    """
    held = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
    if is_of_arguments(program, node):
        return False
    state = {**program.state_dict, **program.constants}
    values = {name: state.get(place) for name, place in held.items() if place is not None}
    with torch.no_grad():
        before = state.get(target) if at_once else _value(node, values)
        values |= {name: before for name in values if held[name] == target}
        after = _value(node, values)
    return isinstance(before, Tensor) and isinstance(after, Tensor) and torch.equal(before, after)


def is_of_arguments(program: ExportedProgram, node: Node) -> bool:
    """Whether the arguments of a call have a say in what an operator gives."""
    return bool(set(program.graph_signature.user_inputs) & _placeholders(node))


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
            elif item.op == "get_attr":
                known[item] = getattr(item.graph.owning_module, str(item.target))
            else:
                assert callable(item.target)
                args, kwargs = torch.fx.map_arg((item.args, item.kwargs), of)
                known[item] = item.target(*args, **kwargs)
        return known[item]

    return of(node)
