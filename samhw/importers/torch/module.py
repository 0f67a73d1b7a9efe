"""A module of PyTorch as a program: its operators one by one, its tensors as inputs, its outputs as it has
them."""

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from samhw.errors import InputError
from samhw.importers.core import Emitted, emit, input_sources
from samhw.importers.torch.export import argument_names, arguments_by_name, exported
from samhw.importers.torch.given import annotation_of, check_arguments, check_module
from samhw.importers.torch.imported import ImportedModule
from samhw.importers.torch.loops import UNROLL, loops_in
from samhw.importers.torch.outputs import Outputs
from samhw.importers.torch.rolled import RollError
from samhw.importers.torch.state import held_tensors
from samhw.importers.torch.value import Host, Known
from samhw.importers.torch.walk import GraphWalk
from samhw.importers.torch.written import check_written

__all__ = ["import_module"]


def import_module(
    module: nn.Module,
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
    if not isinstance(module, nn.Module):
        raise InputError(f"{type(module).__name__} is no torch.nn.Module; give a module and its arguments.")
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
