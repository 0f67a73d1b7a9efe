"""What a module writes into its own state and into its arguments as it runs."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.torch.export import own_name
from samhw.importers.torch.node import place_of

__all__ = ["check_written"]

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
