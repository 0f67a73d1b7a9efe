"""From a module to a graph of operators: `torch.export`, with dense stand-ins for what is stored sparsely."""

import ast
import dis
import linecache
import logging
import re
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from copy import copy
from functools import wraps
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.rnn import PackedSequence

from samhw.errors import InputError
from samhw.importers.core import Arguments
from samhw.importers.torch.followed import Followed, FollowedModule
from samhw.importers.torch.normal_form import of_pytorch
from samhw.importers.torch.state import assigned_buffers, restored

__all__ = [
    "ROOT",
    "argument_names",
    "arguments_by_name",
    "exported",
    "in_users_file",
    "own_name",
    "returned",
    "user_outputs",
    "without_fast_path",
]

T = TypeVar("T")

ROOT = "followed."
"""Where the module stands in what is traced."""

_ATTRIBUTES = ("_parameters", "_buffers")
_PACKAGES = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
"""Where Python keeps packages that somebody has installed."""
_PYTHON = Path(ast.__file__).parent
"""Where Python's own library lies, of which no line is the user's."""


def exported(
    module: nn.Module, arguments: Sequence[object]
) -> tuple[ExportedProgram, list[int], dict[str, Tensor]]:
    """The exported program of a module, in operators that the importer knows as far as PyTorch can say them;
    the arguments whose integers have decided something in it, by their places among all leaves; and the
    parameters, buffers and constants that are sparse, for which there are stand-ins in the program.

    Raises:
        InputError: for what PyTorch cannot export, with the user's line.
    """
    sparse = sparse_parts(module)
    stand_ins = [dense_stand_in(argument) for argument in arguments]
    try:
        with _quiet(), torch.no_grad(), without_fast_path(), _without_moves(), restored(module):
            _make_dense(module)
            _watch_for_packed_sequences(module)
            program, follower = _decomposed(module, arguments, stand_ins, sparse)
    except InputError:
        raise
    except Exception as error:
        raise _export_error(module, error) from error
    for stand_in, held in follower.sparse.made:
        constants = program.constants.items()
        names = [own_name(n) for n, one in constants if isinstance(one, Tensor) and _is_same(one, stand_in)]
        sparse |= dict.fromkeys(names, held)
    return program, sorted(follower.fixed), sparse


def _decomposed(
    module: nn.Module,
    arguments: Sequence[object],
    stand_ins: Sequence[object],
    sparse: Mapping[str, Tensor],
) -> tuple[ExportedProgram, Followed]:
    """The exported program of a module in operators that the importer knows, and what has followed it."""
    try:
        program, follower = _traced(module, arguments, stand_ins, sparse)
        transforms = any(map(_is_transform, program.graph.nodes))
    except Exception as error:
        if not _is_of_transforms(error):
            raise
        transforms = True
        failure: Exception | None = error
    else:
        failure = None
    if transforms:
        try:
            plain = _without_transforms(module, stand_ins)
        except Exception as error:
            raise failure or error from None
        program, follower = _traced(plain, arguments, stand_ins, sparse)
    return program.run_decompositions(dict(of_pytorch())), follower


def _is_transform(node: Node) -> bool:
    """Whether an operator begins or ends a transform of functions, which PyTorch writes with no others."""
    return str(getattr(node.target, "__module__", "")).startswith("torch._functorch") or (
        "set_grad_enabled" in str(node.target)
    )


_TRANSFORMS = re.compile(
    r"functorch|set_grad_enabled|has no attribute 'constant'|that doesn't have storage|found a fake tensor"
)
"""What torch.export says of modules that call torch.func.grad, vmap and their kin."""


def _is_of_transforms(error: Exception) -> bool:
    """Whether PyTorch could not export a module since it transforms functions as it runs."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(_TRANSFORMS.search(str(error))) or any("_functorch" in Path(f.filename).parts for f in frames)


def _without_transforms(module: nn.Module, arguments: Sequence[object]) -> nn.Module:
    """A module with the same parameters and buffers that calls the operators which a module comes to, those
    of its gradients too, and transforms no functions."""
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    leaves, structure = torch.utils._pytree.tree_flatten(tuple(arguments))
    places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

    def called(state: Mapping[str, Tensor], given: Sequence[Tensor]) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, given, strict=True):
            filled[place] = tensor
        call = torch.utils._pytree.tree_unflatten(filled, structure)
        return torch.func.functional_call(
            _Assigning(module), {f"whole.{n}": x for n, x in state.items()}, call
        )

    trace = make_fx(called, dict(of_pytorch()), "fake", record_stack_traces=True)
    with sdpa_kernel(SDPBackend.MATH):
        calls = Interpreter(trace(held, [leaves[n] for n in places]))
    plain = copy(module)

    @wraps(module.forward)
    def forward(*given: Any, **named: Any) -> Any:
        found = [leaf for leaf in torch.utils._pytree.tree_leaves((given, named)) if isinstance(leaf, Tensor)]
        # With the user's lines.
        with preserve_node_meta():
            state = {**dict(plain.named_parameters()), **dict(plain.named_buffers())}
            given_back, assigned = calls.run(*state.values(), *found)
        for path, tensor in assigned.items():
            part, _, name = path.rpartition(".")
            setattr(plain.get_submodule(part), name, tensor)
        return given_back

    plain.forward = forward
    return plain


class _Assigning(nn.Module):
    """A module that gives what another one does, and what that has assigned to its buffers."""

    def __init__(self, whole: nn.Module) -> None:
        super().__init__()
        self.whole = whole

    def forward(self, *arguments: Any) -> tuple[Any, dict[str, Tensor]]:
        return assigned_buffers(self.whole, lambda: self.whole(*arguments))


def _traced(
    module: nn.Module,
    arguments: Sequence[object],
    stand_ins: Sequence[object],
    sparse: Mapping[str, Tensor],
) -> tuple[ExportedProgram, Followed]:
    """The exported program of a module that is followed, and what has followed it."""
    asserted: dict[int, bool] = {}
    while True:
        follower = Followed(module, sparse, asserted)
        root = FollowedModule(module, follower, arguments)
        try:
            # What PyTorch prints of an attempt is not for the user.
            with _quiet(), restored(module):
                return torch.export.export(root, tuple(stand_ins), strict=False), follower
        except Exception as error:
            if "HigherOrderOp" in type(error).__name__:
                # PyTorch captures the body of a loop by itself only where nobody else looks on.
                return torch.export.export(root, tuple(stand_ins), strict=False), follower
            answer = _asserted(error)
            if follower.asked in asserted or answer is None:
                raise
            # Once more, with what the assertion says.
            asserted[follower.asked] = answer


_CHECKING = Path(torch.__file__).parent / "distributions"
"""Where PyTorch looks at data only to check them."""


def _asserted(error: Exception) -> bool | None:
    """What a condition has to be that the user's innermost line in an error's traceback asks for: that of an
    `assert`, or of an `if` that does nothing but raise. What these say of data is taken to hold. None for any
    other line."""
    place, step = None, error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if _is_users(file) or _CHECKING in Path(file).parents:
            place = step
        step = step.tb_next
    if place is None:
        return None
    try:
        tree = ast.parse("".join(linecache.getlines(place.tb_frame.f_code.co_filename)))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        match node:
            case ast.If(body=[*_, ast.Raise()], orelse=[]) as checks:
                holds = False
            case ast.Assert() as checks:
                holds = True
            case _:
                continue
        if checks.test.lineno <= place.tb_lineno <= (checks.test.end_lineno or 0):
            wanted = [*_parts(checks.test, holds)]
            return wanted[0] if len({*wanted}) == 1 else _of_part(wanted, checks, place)
    return None


def _parts(test: ast.expr, wanted: bool) -> Iterator[bool]:
    """What the parts of a condition, which `not`, `and` and `or` join, have to be so that the whole is what
    is wanted: one for each time that Python asks. All of them together are enough, whichever word joins them.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand, not wanted)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts(value, wanted)
        case ast.Compare(ops=several):
            yield from [wanted] * len(several)
        case _:
            yield wanted


def _of_part(wanted: Sequence[bool], node: ast.If | ast.Assert, place: TracebackType) -> bool | None:
    """Of a condition's parts the one that is asked at a place in a traceback. A jump ends each of them; None
    where there are others."""
    first, end = (node.lineno, node.col_offset), (node.test.end_lineno or 0, node.test.end_col_offset or 0)
    jumps = [
        step.offset
        for step in dis.get_instructions(place.tb_frame.f_code)
        if step.opname.startswith("POP_JUMP") and step.positions is not None
        if first <= (step.positions.lineno or 0, step.positions.col_offset or 0) < end
    ]
    if len(jumps) != len(wanted):
        return None
    return next((one for one, jump in zip(wanted, jumps, strict=True) if place.tb_lasti <= jump), None)


def _is_same(one: Tensor, other: Tensor) -> bool:
    """Whether both lie in the same place of memory."""
    return one.layout == other.layout and one.data_ptr() == other.data_ptr()


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Without PyTorch's kernels for whole layers of attention, which leave out the rows that padding masks
    hide, and give 0 there."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextmanager
def _without_moves() -> Iterator[None]:
    """Modules stay where they are if they are where they move to, as in `self.part.to(x.device)`: PyTorch
    cannot trace what puts other parameters in their places."""
    apply: Callable[..., nn.Module] = nn.Module._apply

    def stay(part: nn.Module, change: Callable[[Tensor], Tensor], recurse: bool = True) -> nn.Module:
        kinds = {(held.dtype, held.device) for held in (*part.parameters(), *part.buffers())}
        samples = [torch.empty(0, dtype=dtype, device=device) for dtype, device in kinds]
        made = [(found.dtype, found.device) for found in map(change, samples)]
        return part if made == list(kinds) else apply(part, change, recurse)

    nn.Module._apply = stay  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module._apply = apply  # type: ignore[method-assign]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings and logs: PyTorch logs what it raises too, and prints its graph so far, over many
    lines. What the module itself prints stays."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    printed, graph = StringIO(), None
    try:
        with redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        graph = getattr(error, "partial_fx_graph", None)
        raise
    finally:
        logging.disable(before)
        text = printed.getvalue()
        sys.stderr.write(text if graph is None else text.replace(f"{graph}\n", ""))


def sparse_parts(module: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers that are not dense, by name."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {name: tensor.detach() for name, tensor in named if tensor.layout != torch.strided}


def dense_stand_in(argument: T) -> T | Tensor:
    """A dense tensor of the same shape that takes no room, for a sparse one; any other argument itself."""
    if not isinstance(argument, Tensor) or argument.layout == torch.strided:
        return argument
    return torch.zeros((), dtype=argument.dtype).expand(argument.shape)


def _make_dense(module: nn.Module) -> None:
    """Puts stand-ins in the place of sparse parameters and buffers."""
    for part in module.modules():
        for attribute in _ATTRIBUTES:
            held = getattr(part, attribute)
            for name, tensor in held.items():
                if tensor is not None and tensor.layout != torch.strided:
                    stand_in = dense_stand_in(tensor.detach())
                    is_parameter = isinstance(tensor, nn.Parameter)
                    held[name] = nn.Parameter(stand_in, False) if is_parameter else stand_in


class _PackedError(Exception):
    """A recurrent layer gets a packed sequence."""


def _watch_for_packed_sequences(module: nn.Module) -> None:
    def check(_: nn.Module, arguments: tuple[object, ...]) -> None:
        if any(isinstance(given, PackedSequence) for given in arguments):
            raise _PackedError

    for part in module.modules():
        if isinstance(part, nn.RNNBase):
            part.register_forward_pre_hook(check)


def in_users_file(stack: str) -> tuple[str, str] | None:
    """The innermost place of a stack trace in a file of the user's own, as `file:line`, and the text of the
    line; if that calls a package which the operator stands in, the place in the package too."""
    own: tuple[str, str] | None = None
    inner: tuple[str, str] | None = None
    lines = stack.splitlines()
    for n, line in enumerate(lines):
        text = line.strip()
        if text.startswith('File "'):
            path, _, rest = text[6:].partition('", line ')
            if not _is_torch(path) and not _is_own(path) and not path.startswith("<"):
                code = lines[n + 1].strip() if n + 1 < len(lines) else ""
                inner = f"{path}:{rest.split(',')[0]}", code
                own = own if _is_package(path) else inner
    if own is None or inner is None or own == inner:
        return inner
    return f"{own[0]}, by way of {inner[0]}", own[1]


def _is_package(path: str) -> bool:
    return any(folder in Path(path).parents for folder in _PACKAGES)


def _is_torch(path: str) -> bool:
    return Path(torch.__file__).parent in Path(path).parents


def _is_own(path: str) -> bool:
    return Path(__file__).parents[2] in Path(path).parents


def _is_users(path: str) -> bool:
    library = Path(path).parent == _PYTHON
    return not _is_own(path) and not library and not _is_torch(path) and Path(path).is_file()


def _export_error(module: nn.Module, error: Exception) -> InputError:
    """What PyTorch could not export, in a sentence."""
    frames = traceback.extract_tb(error.__traceback__)
    users = [f for f in frames if _is_users(f.filename)]
    place = f"{users[-1].filename}:{users[-1].lineno}: " if users else ""
    text = str(error).replace(ROOT, "").strip().splitlines()
    first = text[0] if text else type(error).__name__
    depends = any(
        word in str(error) for word in ("data-dependent", "Data dependent", "DataDependent", "unbacked")
    )
    if depends or "DataDependent" in type(error).__name__:
        return InputError(
            f"{place}{type(module).__name__} decides by its data what it computes, and hardware has one "
            "graph for all data; replace the condition by torch.where, or the data by their shape."
            + (f"\n  {users[-1].line}" if users else "")
        )
    line = f"\n  {users[-1].line}" if users else ""
    if "does not require grad" in str(error):
        return InputError(
            f"{place}{type(module).__name__} takes gradients of its arguments as it runs, which torch.export "
            f"does not follow; take them of a function, by torch.func.grad.{line}"
        )
    if re.search(r"\bexpected sparse|aten(::|\.)_(nnz|values|indices|sparse_)", first):
        return InputError(
            f"{place}{type(module).__name__} asks a sparse tensor for its parts, and is exported with a "
            f"dense one in its place ({first.partition('. ')[0]}); compute with the whole tensor, or give "
            f"its indices and values as arguments of their own.{line}"
        )
    if isinstance(error, _PackedError):
        return InputError(
            f"{place}a recurrent layer takes a packed sequence, whose steps have batches of different sizes; "
            f"give padded sequences, and mask what it gives after their ends.{line}"
        )
    if "data is not allocated" in first:
        return InputError(
            f"{place}{type(module).__name__} calls an operator that PyTorch cannot trace, such as one of its "
            "own in C++; say what it gives by torch.library.register_fake, and register an importer of it "
            f"by samhw.torch.mapping.{line}"
        )
    return InputError(
        f"{place}PyTorch cannot export {type(module).__name__} ({type(error).__name__}: {first}); fix "
        f"the module, or its example arguments.{line}"
    )


def own_name(target: str) -> str:
    """The module's own name of a parameter, a buffer or a constant of its exported program."""
    return target.removeprefix(ROOT)


def returned(program: ExportedProgram) -> tuple[Any, dict[str, Any]]:
    """What the module returns, in its structure, and what it has assigned to its buffers, by their names: the
    nodes that give these."""
    (last,) = (node for node in program.graph.nodes if node.op == "output")
    pairs = zip(program.graph_signature.output_specs, last.args[0], strict=True)
    outputs = [output for spec, output in pairs if spec.kind is OutputKind.USER_OUTPUT]
    found, assigned = torch.utils._pytree.tree_unflatten(outputs, program.call_spec.out_spec)
    return found, assigned


def user_outputs(program: ExportedProgram) -> list[Any]:
    """The leaves of what the module returns."""
    return torch.utils._pytree.tree_leaves(returned(program)[0])


def arguments_by_name(program: ExportedProgram, arguments: Sequence[object]) -> Arguments:
    """The arguments of a call by the placeholders of an exported program."""
    flat, _ = torch.utils._pytree.tree_flatten((tuple(arguments), {}))
    return dict(zip(argument_names(program), flat, strict=True))


def argument_names(program: ExportedProgram) -> list[str]:
    """The placeholders of the arguments of a call, leaf by leaf."""
    specs = program.graph_signature.input_specs
    return [spec.arg.name for spec in specs if spec.kind is InputKind.USER_INPUT]
