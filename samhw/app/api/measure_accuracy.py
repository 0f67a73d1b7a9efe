"""`samhw.accuracy`: what value types cost, over a set of inputs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from samhw.app.api.arguments import Words, value_of
from samhw.app.checking import Difference
from samhw.app.report.accuracy_report import Accuracy, AccuracyRow
from samhw.app.report.time import period_of
from samhw.compiler import asked_text
from samhw.errors import InputError, shown
from samhw.graph.numerics import ValueType
from samhw.words import split_words

__all__ = ["accuracy"]


class _Result(Protocol):
    """A run, of a design or of a module's."""

    @property
    def cycles(self) -> int: ...

    def differences(self) -> dict[str, Difference]: ...


class _Design(Protocol):
    """A `RunnableDesign`, or a module's design."""

    @property
    def name(self) -> str: ...

    def with_value(self, value: ValueType | str | None) -> Self: ...

    def run_all(self, inputs: Iterable[Any], *, progress: bool = ...) -> Iterator[_Result]: ...


def accuracy(
    design: _Design,
    inputs: Iterable[Mapping[str, Any] | Words] | Iterable[Sequence[object]],
    values: Sequence[ValueType | str] | str = ("f32", "bf16"),
    *,
    clock: str | None = None,
    progress: bool = False,
) -> Accuracy:
    """Runs a design on inputs in several value types, and compares each result with float64.

    Args:
        design: of `samhw.compile` or `samhw.torch.compile`. Its schedule stays; its value type does not
            matter.
        inputs: of each run the data by name, or in words, as `run` has them; of a module the arguments of a
            call, (x,) for one.
        values: the value types, several in one text with commas too.
        clock: such as 100MHz, for microseconds beside cycles.
        progress: whether a line on stderr says how far it is.

    Raises:
        InputError: for a value type that there is not, no inputs, or inputs that the design does not take.
        RunError: for a run that ends with an error.
    """
    if isinstance(inputs, str):
        inputs = (inputs,)
    if isinstance(values, str):
        values = split_words(values)
    if not isinstance(values, Sequence):
        raise InputError(f"The value types cannot be {shown(values)}; give several, as in ['f32', 'bf16'].")
    if not isinstance(inputs, Iterable):
        raise InputError(f"The inputs cannot be {shown(inputs)}; give several, each as a run takes it.")
    period = None if clock is None else period_of(clock)
    kinds = {asked_text(kind): kind for kind in map(value_of, values)}
    held = list(inputs)
    if not (held and kinds):
        raise InputError("An accuracy is measured on inputs, in value types; give at least one of each.")
    rows = [
        AccuracyRow(name, str(number), tensor, result.cycles, difference)
        for name, kind in kinds.items()
        for number, result in enumerate(design.with_value(kind).run_all(held, progress=progress))
        for tensor, difference in result.differences().items()
    ]
    return Accuracy(design.name, tuple(rows), period)
