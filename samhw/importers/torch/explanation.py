"""What becomes of a module, as a value that people read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from samhw.html import html_table, html_text
from samhw.words import in_columns

__all__ = ["Explanation", "Step"]


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
        count = f"{self.module}: {len(self.steps)} operators, {sum(len(s.statements) for s in self.steps)} "
        refused = len(self.refusals)
        return f"{count}statements; {refused or 'nothing'} refused"

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
