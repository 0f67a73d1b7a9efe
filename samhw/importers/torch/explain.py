"""What becomes of a module: goes through it as its import does, and notes it of each operator; no refusal
ends it."""

import operator as python_operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import HostArray, Value
from samhw.importers.torch.given import module_of
from samhw.importers.torch.module import import_module
from samhw.importers.torch.node import depends_on_data, place_of, scope_of, written_as
from samhw.importers.torch.registry import VIEWS, operator_name
from samhw.importers.torch.value import Host
from samhw.importers.torch.walk import GraphWalk
from samhw.words import counted, html_table, html_text, in_columns

__all__ = ["Explanation", "Step", "explain"]


# What becomes of a module, as a value that people read.


@dataclass(frozen=True)
class Step:
    """An operator of a module.

    Attributes:
        operator: its name in `torch.ops`, such as `aten.linear`, as in the module.
        scope: the path of the module that it stands in; empty for the outermost one.
        place: its line in the user's file, as `file:line`; empty where PyTorch does not know it.
        becomes: what becomes of it, in words.
        statements: the results of the statements that it adds to the program.
        refusal: the sentence with which `samhw.torch.compile` refuses it; None if it does not.
    """

    operator: str
    scope: str
    place: str
    becomes: str
    statements: tuple[str, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True)
class Explanation:
    """What becomes of a module, for its example arguments.

    Attributes:
        module: the name of its class.
        steps: its operators, as they run.
        refusals: the sentences of all that is refused, each once; none for a module that becomes a program.
    """

    module: str
    steps: Sequence[Step] = field(repr=False)
    refusals: Sequence[str]

    @property
    def summary(self) -> str:
        """How many operators there are, and how many are refused."""
        operators = counted(len(self.steps), "operator")
        statements = counted(sum(len(step.statements) for step in self.steps), "statement")
        return f"{self.module}: {operators}, {statements}; {len(self.refusals) or 'nothing'} refused"

    def __str__(self) -> str:
        said = (f"\n({n}) {sentence}" for n, sentence in self._numbered())
        return "\n".join([self.summary, "", in_columns(self._rows()), *said])

    def _repr_html_(self) -> str:
        said = "\n".join(f"({n}) {sentence}" for n, sentence in self._numbered())
        return html_text(self.summary) + html_table(self._rows()) + (html_text(said) if said else "")

    def _numbered(self) -> Sequence[tuple[int, str]]:
        return list(enumerate(self.refusals, start=1))

    def _rows(self) -> Sequence[Sequence[str]]:
        """A row for all operators of which the same becomes in the same place, as in the steps of a loop."""
        number = {said: n for n, said in self._numbered()}
        times = Counter(
            (
                step.operator,
                step.scope,
                step.place.replace("\\", "/").rpartition("/")[2],
                step.becomes if step.refusal is None else f"refused ({number[step.refusal]})",
            )
            for step in self.steps
        )
        head = ("operator", "times", "module", "line", "what becomes of it")
        return [head, *((row[0], str(count), *row[1:]) for row, count in times.items())]


def explain(
    module: nn.Module | ExportedProgram, arguments: Sequence[object], *, sparsify: float | None = None
) -> Explanation:
    """What `samhw.torch.compile` would make of each operator of a module, and all that it would refuse.

    Takes arguments as `samhw.torch.compile` does, and compiles nothing. A refusal of the whole module,
    such as of what PyTorch cannot export, stands among the refusals, and has no operator.

    Raises:
        InputError: for a module that is none.
    """
    steps: list[Step] = []

    def walk(*given: Any, is_exact: bool) -> GraphWalk:
        # Once more, with a loop unrolled, or with numbers for what is masked.
        steps.clear()
        return _ExplainingWalk(steps, *given, is_exact=is_exact)

    refusals = []
    module = module_of(module)
    try:
        import_module(module, arguments, sparsify=sparsify, walk=walk)
    except InputError as error:
        refusals.append(str(error))
    refusals = [*(step.refusal for step in steps if step.refusal is not None), *refusals]
    return Explanation(type(module).__name__, tuple(steps), tuple(dict.fromkeys(refusals)))


class _ExplainingWalk(GraphWalk):
    """Notes the steps. What is refused gives an input in the place of its result, and the rest goes on."""

    def __init__(self, steps: list[Step], *given: Any, is_exact: bool) -> None:
        super().__init__(*given, is_exact=is_exact)
        self.steps = steps
        self.is_exact = is_exact

    def run(self) -> Sequence[object]:
        found = super().run()
        refusals = [step.refusal for step in self.steps if step.refusal is not None]
        if refusals and not self.is_exact and self.importer.masks.took_number:
            raise InputError(refusals[0])
        return found

    def call(self, node: Node) -> object:
        before = len(self.build.statements)
        refusal = None
        try:
            found = super().call(node)
        except InputError as error:
            if self.build.block is not None:
                # It is tried again outside of the scan.
                raise
            found, refusal = self.stand_in(node), str(error)
        if node.target is python_operator.getitem and refusal is None:
            return found
        name = operator_name(node.target)
        if found is None and refusal is None:
            return None
        made = tuple(statement.lhs.tensor for statement in self.build.statements[before:])
        place, _ = place_of(node)
        self.steps.append(
            Step(
                written_as(node) or name,
                scope_of(node),
                place,
                _becomes(name, found, len(made)) if refusal is None else "refused",
                made,
                refusal,
            )
        )
        return found

    def stand_in(self, node: Node) -> object:
        """What an operator that is refused would give: of its shapes, and of zeros."""
        meta = node.meta.get("val")
        if isinstance(meta, list | tuple):
            return [self.like(item, f"{node.name}_{place}") for place, item in enumerate(meta)]
        return self.like(meta, node.name)

    def like(self, meta: object, name: str) -> object:
        if not isinstance(meta, Tensor):
            return meta
        shape = tuple(1 if depends_on_data(size) else int(size) for size in meta.shape)
        if not meta.is_floating_point():
            zeros = torch.zeros(shape, dtype=meta.dtype)
            return Host(zeros, lambda _: zeros, name)
        held = HostArray.dense(np.broadcast_to(np.float32(0), shape))
        return self.build.input(("refused", name), name, held, lambda _: held)


def _becomes(name: str, found: object, statements: int) -> str:
    """What becomes of an operator that is taken, in words."""
    if statements:
        return "a statement" if statements == 1 else f"{statements} statements"
    results = found if isinstance(found, list | tuple) else [found]
    if all(isinstance(item, Host) for item in results):
        return "worked out by the host, as data are loaded"
    if not any(isinstance(item, Value) for item in results):
        return "worked out at once, of constants alone"
    return "a view, which costs nothing" if name in VIEWS else "part of the statement that reads it"
