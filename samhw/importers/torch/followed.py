"""The values of integers and conditions, followed beside the trace of a module: what they decide, the example
arguments decide, which are fixed by that."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from samhw.importers.torch import places
from samhw.importers.torch.sparse_layouts import (
    KEPT,
    LAYOUT,
    MAKERS,
    ON_PATTERN,
    PARTS,
    PRODUCTS,
    SAME,
    SparseLayouts,
    asked_for,
)
from samhw.importers.torch.state import assigned_buffers

__all__ = ["Followed", "FollowedModule"]


T = TypeVar("T")


class FollowedModule(nn.Module):
    """A module as it is traced, with its integers followed and its sparse parts known.

    Attributes:
        followed: the module.
        follower: what follows them.
    """

    def __init__(self, module: nn.Module, follower: "Followed", examples: Sequence[object]) -> None:
        super().__init__()
        self.followed, self.training = module, module.training
        self.follower = follower
        self.examples = torch.utils._pytree.tree_leaves(tuple(examples))

        @wraps(module.forward)
        def forward(*args: Any, **kwargs: Any) -> Any:
            return self._called(*args, **kwargs)

        # PyTorch names the arguments as this one does.
        self.forward = forward

    def _called(self, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Tensor]]:
        """What the module gives, and what it has assigned to its buffers."""

        def call() -> Any:
            return self.followed(*args, **kwargs)

        if self.follower.has_begun:
            return assigned_buffers(self.followed, call, follow=False)
        self.follower.begin(self.followed, torch.utils._pytree.tree_leaves((args, kwargs)), self.examples)
        with self.follower:
            return assigned_buffers(self.followed, call)


class Followed(TorchFunctionMode):
    """Runs beside the trace whatever is computed of integer arguments, buffers and constants alone.

    Where the module needs such a value itself, for a condition, as a number, or since a shape depends on it,
    it gets that of the example arguments. Whatever else is computed of the arguments stays in the trace.

    Attributes:
        fixed: the arguments that have decided something, by their places among all leaves.
        sparse: the stand-ins of sparse tensors.
        asked: how often a condition has been asked for that nobody knows.
    """

    def __init__(self, module: nn.Module, sparse: Mapping[str, Tensor], asserted: Mapping[int, bool]) -> None:
        """`asserted`: what some of the unknown conditions, counted from 1, are taken to be."""
        super().__init__()
        self.asked, self._asserted = 0, asserted
        parameters = module.named_parameters(remove_duplicate=False)
        buffers = {name: part.detach() for name, part in parameters if part.numel() <= _SMALL}
        buffers |= dict(module.named_buffers(remove_duplicate=False))
        self.sparse = SparseLayouts()
        self._sparse_parts = sparse
        self.fixed: set[int] = set()
        self.has_begun = False
        self._buffers = {name: buffer for name, buffer in buffers.items() if buffer.layout == torch.strided}
        self._values: WeakIdKeyDictionary = WeakIdKeyDictionary()
        # By storage, so that a view has what its base has; None if it is not known any more.
        self._sources: dict[int, set[int] | None] = {}
        self._kept: list[Tensor] = []

    def begin(self, module: nn.Module, traced: Sequence[object], examples: Sequence[object]) -> None:
        """Says what the tensors of a trace are: those of the module, and its arguments."""
        self.has_begun = True
        for name, part in (
            *module.named_parameters(remove_duplicate=False),
            *module.named_buffers(remove_duplicate=False),
        ):
            if name in self._sparse_parts:
                self.sparse.add(part, self._sparse_parts[name])
            elif name in self._buffers:
                self._keep(part, _copy(self._buffers[name]), ())
        for place, (tensor, example) in enumerate(zip(traced, examples, strict=True)):
            if not isinstance(tensor, Tensor) or not isinstance(example, Tensor):
                continue
            if example.layout != torch.strided:
                self.sparse.add(tensor, _untraced(example.detach), (place,))
            elif is_discrete(example):
                self._keep(tensor, _copy(example), (place,))

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        tensors = places.tensors_of((args, kwargs))
        if (found := self._of_sparse(function, args, kwargs, tensors)) is not NotImplemented:
            return found
        values = [self.value(tensor) for tensor in tensors]
        if (place := _ASKED_FOR_ITS_SHAPE.get(name)) is not None and len(args) > place:
            asked = args[place]
            values = [
                _like(tensor) if value is None and tensor is asked else value
                for tensor, value in zip(tensors, values, strict=True)
            ]
        is_known = all(value is not None for value in values) if tensors else name in _FACTORIES
        if name == "cov" and not {"fweights", "aweights"} & set(kwargs):
            return _covariance(*args, **kwargs)
        if is_known and name not in _DESCRIPTIONS:
            return self._beside(function, args, kwargs, tensors, values)
        if name == "__bool__":
            self.asked += 1
            if self.asked in self._asserted:
                return self._asserted[self.asked]
        if name in places.BY_PLACES and "input" in kwargs:
            args, kwargs = (kwargs["input"], *args), {n: x for n, x in kwargs.items() if n != "input"}
        second = args[1] if len(args) > 1 else kwargs.get("mask", kwargs.get("repeats"))
        if name in places.BY_PLACES and isinstance(second, Tensor) and self.value(second) is not None:
            with self:
                return places.BY_PLACES[name](*args, **kwargs)
        function, args, kwargs = places.without_conditions(self, function, args, kwargs)
        if places.changes_its_first(name) and isinstance(args[0], Tensor):
            self._forget(args[0])
        if isinstance(out := kwargs.get("out"), Tensor):
            self._forget(out)
        return function(*args, **kwargs)

    def value(self, tensor: Tensor) -> Tensor | None:
        """What a tensor is for the example arguments; None if that depends on more than integers."""
        if tensor not in self._values:
            if tensor in self.sparse:
                return None
            is_plain = type(tensor) in (Tensor, nn.Parameter) and not _is_wrapped(tensor)
            if not is_plain or tensor.layout != torch.strided:
                return None
            # A constant that the module keeps beside its buffers.
            self._keep(tensor, _copy(tensor), ())
        value: Tensor = self._values[tensor]
        return None if self._sources[_storage(value)] is None else value

    def constant(self, value: Any, of: Iterable[Tensor]) -> Any:
        """A value as a constant of the trace, decided by these tensors."""
        return self._constant(value, self._fix(of))

    def _constant(self, value: Any, sources: set[int]) -> Any:
        def traced(item: Any) -> Any:
            if not isinstance(item, Tensor):
                return item
            # The trace holds on to the constant; what is followed may change.
            made = item.clone()
            self._keep(made, _copy(item), sources)
            return made

        return torch.utils._pytree.tree_map(traced, value)

    def decided(self, compute: Callable[[], Any]) -> Any:
        """What a function gives, outside of the trace."""
        return _untraced(compute)

    def _of_sparse(
        self, function: Callable[..., Any], args: Any, kwargs: Any, tensors: Sequence[Tensor]
    ) -> Any:
        """What a function gives that takes a sparse tensor apart, or makes one; else `NotImplemented`."""
        name = asked_for(function)
        if name in MAKERS:
            return self._sparse_of_parts(function, args, kwargs, tensors)
        if not args or not isinstance(args[0], Tensor) or args[0] not in self.sparse:
            return NotImplemented
        first, (stand_in, *rest) = self.sparse[args[0]], args
        if name in LAYOUT:
            return getattr(first.held, name)
        if name in SAME or name in KEPT:
            made = partial(function, first.held, *rest, **kwargs)
            held = first.held if name == "_coalesced_" else _untraced(made)
            found = stand_in.view(stand_in.shape) if name in SAME else function(*args, **kwargs)
            self.sparse.add(found, held, first.sources, first.is_computed, first.entries)
            return found
        if first.entries is not None and name in PRODUCTS and len(args) == 2 and args[1] not in self.sparse:
            return first.times(args[1])
        if name in PARTS:
            self.fixed |= first.sources
            if first.is_computed and name in ("values", "_values"):
                if name == "_values" and first.entries is not None:
                    return first.entries[1]
                places = _untraced(lambda: first.held.to_sparse().coalesce().indices())
                return stand_in[tuple(self._constant(places, set(first.sources)))]

            def part() -> Any:
                is_loose = name in ("indices", "values") and first.held.layout == torch.sparse_coo
                found = function(first.held.coalesce() if is_loose else first.held, *rest, **kwargs)
                return found.clone() if isinstance(found, Tensor) else found

            return self._constant(_untraced(part), set(first.sources))
        if (make := ON_PATTERN.get(name)) is not None:
            self.fixed |= first.sources
            pattern = _untraced(lambda: torch.sparse_coo_tensor(*_places(first.held)).to_dense() > 0)
            found = make(stand_in, self._constant(pattern, set(first.sources)), *rest, **kwargs)
            self.sparse.add(found, first.held, first.sources, True)
            return found
        if name == "_sparse_sum":
            held, found = (
                _untraced(partial(function, first.held, *rest, **kwargs)),
                stand_in.sum(*rest, **kwargs),
            )
            if held.layout != torch.strided:
                self.sparse.add(found, held, first.sources, True)
            return found
        if name == "_sparse_mm" and len(args) > 2:
            return self._reduced_product(*args)
        return NotImplemented

    def _sparse_of_parts(
        self, function: Callable[..., Any], args: Any, kwargs: Any, tensors: Sequence[Tensor]
    ) -> Any:
        """A sparse tensor of parts that are all known, or of known indices and other values."""
        values = {id(tensor): self.value(tensor) for tensor in tensors}
        if any(value is None for value in values.values()):
            return self._sparse_of_computed(function, args, kwargs)
        real_args, real_kwargs = places.mapped((args, kwargs), lambda tensor: values[id(tensor)])
        sources = self._fix(tensors)
        return _untraced(lambda: self.sparse.constant(function(*real_args, **real_kwargs), sources))

    def _sparse_of_computed(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A sparse tensor of known indices: where these stand several times, the sum of their values."""
        given = dict(zip(("indices", "values", "size"), args, strict=False)) | kwargs
        indices = given.get("indices")
        if asked_for(function) != "sparse_coo_tensor" or (known := self._known(indices)) is None:
            return NotImplemented
        places = self._fix([indices])
        values: Tensor = given["values"]
        size = given.get("size") or _untraced(lambda: (known.max(1).values + 1).tolist())
        held = _untraced(lambda: torch.sparse_coo_tensor(known, torch.ones(known.shape[1]), tuple(size)))
        found = values.new_zeros(tuple(size)).index_put(tuple(indices), values, accumulate=True)
        self.sparse.add(found, held, places, True, (indices, values))
        return found

    def _known(self, item: object) -> Tensor | None:
        return self.value(item) if isinstance(item, Tensor) else None

    def _reduced_product(self, matrix: Tensor, x: Tensor, reduce: str) -> Any:
        """A product with a sparse matrix in which other than sums stand, as in PyTorch for processors."""
        if reduce == "sum":
            return torch.ops.aten._sparse_mm(matrix, x)
        first = self.sparse[matrix]
        if first.is_computed:
            return NotImplemented
        self.fixed |= first.sources

        def parts() -> tuple[Tensor, ...]:
            held = first.held.to_sparse().coalesce()
            (rows, columns), values = held.indices().clone(), held.values().clone()
            return rows, columns, values, torch.bincount(rows, minlength=held.shape[0]).clamp(min=1)

        rows, columns, values, counts = self._constant(_untraced(parts), set(first.sources))
        if reduce == "mean":
            return torch.ops.aten._sparse_mm(matrix, x) / counts[:, None]
        terms = x[columns] * values[:, None]
        kind = reduce if reduce.startswith("a") else f"a{reduce}"
        goals = rows[:, None].expand_as(terms)
        return terms.new_zeros(matrix.shape[0], x.shape[1]).scatter_reduce(
            0, goals, terms, kind, include_self=False
        )

    def _beside(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        tensors: Sequence[Tensor],
        values: Sequence[Tensor | None],
    ) -> Any:
        """What a function gives, in the trace and beside it."""
        by_id = {id(tensor): value for tensor, value in zip(tensors, values, strict=True)}
        real_args, real_kwargs = places.mapped((args, kwargs), lambda tensor: by_id[id(tensor)])
        watch = _Watch()  # type: ignore[no-untyped-call]

        def watched() -> Any:
            with watch:
                return function(*real_args, **real_kwargs)

        try:
            value = _untraced(watched)
        except Exception:
            # Nothing to follow; the trace says what is wrong, if anything is.
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name in _NUMBERS or (watch.decides and not _has_its_shape(function, kwargs, args)):
            return self.constant(value, tensors)
        if places.changes_its_first(name):
            self._keep(args[0], real_args[0], self._sources_of(tensors))
        found = function(*args, **kwargs)
        leaves = torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(value)
        sources = self._sources_of(tensors)
        if len(leaves[0]) == len(leaves[1]):
            for traced, real in zip(*leaves, strict=True):
                if isinstance(traced, Tensor) and isinstance(real, Tensor) and not _is_wrapped(real):
                    self._keep(traced, real, sources)
        return found

    def _keep(self, traced: Tensor, value: Tensor, sources: Iterable[int]) -> None:
        self._values[traced] = value
        # No other storage gets the place of this one.
        self._kept.append(value)
        known = self._sources.setdefault(_storage(value), set())
        if known is not None:
            known.update(sources)

    def _forget(self, tensor: Tensor) -> None:
        """What shares memory with a tensor is not followed any more."""
        if tensor in self._values:
            self._sources[_storage(self._values[tensor])] = None

    def _fix(self, tensors: Iterable[Tensor]) -> set[int]:
        sources = self._sources_of(tensors)
        self.fixed |= sources
        return sources

    def _sources_of(self, tensors: Iterable[Tensor]) -> set[int]:
        """The arguments that tensors are computed of."""
        found: set[int] = set()
        for tensor in tensors:
            if tensor in self._values:
                found |= self._sources[_storage(self._values[tensor])] or set()
        return found


def is_discrete(tensor: Tensor) -> bool:
    """Whether it holds integers or conditions, one by one."""
    return tensor.layout == torch.strided and not (tensor.is_floating_point() or tensor.is_complex())


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees whether an operator decides something by its data: a number of Python, or a shape."""

    decides = False

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in op.tags:
            raise _DrawsError
        if {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(op.tags):
            self.decides |= op.overloadpacket is not torch.ops.aten.index or any(
                isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8) for index in args[1]
            )
        return op(*args, **(kwargs or {}))


_SMALL = 64
"""Elements of a parameter that may decide something; a greater one is not followed."""


class _DrawsError(Exception):
    """An operator draws random numbers, which nobody is to draw twice."""


_OUTSIDE = ThreadPoolExecutor(1, "samhw-followed")
"""A thread of its own, since traces are those of a thread."""


def _untraced(compute: Callable[[], T]) -> T:
    """What a function gives outside of any trace, on tensors that have values."""

    def outside() -> T:
        with torch.no_grad():
            return compute()

    return _OUTSIDE.submit(outside).result()


def _is_wrapped(tensor: Tensor) -> bool:
    """Whether it is one of a transform of functions, such as vmap, and has no memory of its own."""
    return torch.func.debug_unwrap(tensor) is not tensor


def _places(held: Tensor) -> tuple[Tensor, Tensor, torch.Size]:
    """The indices of what a tensor stores, a one for each, and its shape."""
    indices = held.to_sparse().coalesce().indices()
    return indices, torch.ones(indices.shape[1]), held.shape


def _copy(tensor: Tensor) -> Tensor:
    return _untraced(lambda: tensor.detach().clone())


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _covariance(input: Tensor, *, correction: int = 1) -> Tensor:
    """That of rows, which PyTorch itself asks for weights that are not there."""
    rows = input if input.dim() > 1 else input.reshape(1, -1)
    apart = rows - rows.mean(1, keepdim=True)
    return (apart @ apart.T / max(rows.shape[1] - correction, 0)).squeeze()


def _like(tensor: Tensor) -> Tensor | None:
    """A tensor of the same shape, which is all that is asked of it; None if that is not known."""
    if tensor.layout != torch.strided or not all(type(size) is int for size in tensor.shape):
        return None
    return _untraced(lambda: torch.zeros((), dtype=tensor.dtype).expand(tensor.shape))


def _has_its_shape(function: Callable[..., Any], kwargs: Mapping[str, Any], args: Sequence[Any]) -> bool:
    """Whether the arguments say the shape of what looks at its data only to check them."""
    if function is torch.nn.functional.one_hot:
        return bool(kwargs.get("num_classes", args[1] if len(args) > 1 else -1) != -1)
    name = getattr(function, "__name__", "")
    return name == "repeat_interleave" and kwargs.get("output_size") is not None


_NUMBERS = frozenset(
    ("__bool__", "__int__", "__float__", "__index__", "item", "tolist", "numpy", "__array__", "is_nonzero")
)
"""What gives a tensor's elements to Python."""

_DESCRIPTIONS = frozenset(("__repr__", "__str__", "__format__"))

_FACTORIES = frozenset(
    (
        *("arange", "eye", "full", "linspace", "ones", "scalar_tensor", "tensor", "as_tensor", "zeros"),
        *("tril_indices", "triu_indices"),
    )
)
"""What makes tensors of no others, and gives the same each time."""

_ASKED_FOR_ITS_SHAPE = dict.fromkeys(
    ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "new_tensor"), 0
) | dict.fromkeys(("expand_as", "reshape_as", "type_as", "view_as"), 1)
"""The argument that a function asks for its shape and type alone."""
