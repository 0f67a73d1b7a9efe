"""A module of PyTorch as a program: its operators one by one, its tensors as inputs, its outputs as it has
them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
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
from samhw.importers.torch.export import argument_names, arguments_by_name, exported, user_outputs
from samhw.importers.torch.given import annotation_of, check_arguments, check_module, module_of
from samhw.importers.torch.imported import ImportedModule, OutputSource
from samhw.importers.torch.loops import UNROLL, loops_in
from samhw.importers.torch.operators.complex_numbers import Complex
from samhw.importers.torch.rolled import RollError
from samhw.importers.torch.state import held_tensors
from samhw.importers.torch.updates import updates_of
from samhw.importers.torch.value import Host, Known
from samhw.importers.torch.walk import GraphWalk
from samhw.lang.expr import Access, Literal

__all__ = ["Outputs", "import_module"]


class Outputs:
    """A module's outputs, in its order, and after them the new values of its buffers: what the program
    computes for them, and how its results are put back.

    Args:
        buffers: names that are kept for the last ones.
    """

    def __init__(
        self, build: Build, tensors: Tensors, outputs: Sequence[object], buffers: Sequence[str]
    ) -> None:
        self.build = build
        build.scope, build.result_name = "", "output"
        # One that is given twice is computed once.
        values = list({id(output): output for output in outputs if isinstance(output, Value)}.values())
        if any(value.mask is not None for value in values):
            raise InputError("An output of the module is -inf at places; mask it after the run.")
        made = dict(zip(map(id, values), as_results(build, tensors, values, "output"), strict=True))
        self._outputs = [made.get(id(output), output) for output in outputs]
        self._name(buffers)

    def _name(self, buffers: Sequence[str]) -> None:
        """Calls results after buffers."""
        first = len(self._outputs) - len(buffers)
        named: dict[str, str] = {}
        for output, name in zip(self._outputs[first:], buffers, strict=True):
            if isinstance(output, Value) and isinstance(output.expr, Access):
                before = output.expr.tensor
                if before not in named:
                    named[before] = self.build.rename(output.expr, name).tensor
        for place, output in enumerate(self._outputs):
            if isinstance(output, Value) and isinstance(output.expr, Access):
                name = named.get(output.expr.tensor, output.expr.tensor)
                self._outputs[place] = replace(output, expr=replace(output.expr, tensor=name))

    @property
    def computed(self) -> list[str]:
        """The results that the program has to have, by name."""
        values = [output.expr for output in self._outputs if isinstance(output, Value)]
        return [expr.tensor for expr in values if isinstance(expr, Access)]

    def sources(self, emitted: Emitted, kinds: Sequence[torch.dtype | None]) -> Sequence[OutputSource]:
        """The outputs of these types, with their modes as the program stores them."""
        pairs = zip(self._outputs, kinds, strict=True)
        return [OutputSource(self._source(output, emitted), kind) for output, kind in pairs]

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
    given = arguments_by_name(program, arguments)
    names = argument_names(program)
    # Copies: what the user does to the arguments afterwards changes no constant.
    decided = {names[place]: given[names[place]] for place in places}
    fixed = {name: held.detach().clone() for name, held in decided.items() if isinstance(held, Tensor)}
    state = {path: held.clone() for path, held in held_tensors(module).items()}
    label = name or type(module).__name__
    label = label if label.isidentifier() else "module"
    loops = every = loops_in(program.graph, unroll)
    # In the normal form that loops are found in.
    updates = updates_of(module, program)
    first: InputError | None = None
    while True:
        walked = walk(
            *(program, state, sparse, _annotated(module), given, fixed, sparsify, updates, loops),
            is_exact=first is not None,
        )
        try:
            emitted, outputs = _emitted(walked, module, label)
            break
        except RollError as error:
            loops = [loop for loop in loops if loop is not error.loop]
        except InputError as error:
            # Is it something that only scans lack? Or something that only softmax does to what is masked?
            if loops:
                loops = []
            elif first is None and walked.importer.masks.took_number:
                loops, first = every, error
            else:
                raise first or error from None
    inputs = input_sources(walked.build, emitted)
    made = [*user_outputs(program), *updates.values()]
    sources = outputs.sources(emitted, [_type_of(node) for node in made])
    count = len(sources) - len(updates)
    buffers = dict(zip(updates, sources[count:], strict=True))
    return ImportedModule(
        emitted.program, inputs, sources[:count], buffers, emitted.scopes, fixed, state, program
    )


def _type_of(output: object) -> torch.dtype | None:
    """That of a tensor; None for any other output."""
    example = output.meta.get("val") if isinstance(output, Node) else None
    return example.dtype if isinstance(example, Tensor) else None


def _emitted(walked: GraphWalk, module: nn.Module, label: str) -> tuple[Emitted, Outputs]:
    """The program of all operators, and the module's outputs."""
    found = walked.run()
    outputs = Outputs(walked.build, walked.importer.tensors, found, walked.update_names)
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
