"""The value that holds all that a user may choose about how a program is computed, and its text in TOML,
which Python only reads.

A list stands in one line of that, as people write them. tomli-w gives each name of each region a line of its
own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from samhw.choices.cascade import Cascade
from samhw.choices.choice import AUTO, Choice, choice
from samhw.choices.deal import RANGES
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.iteration import Iteration
from samhw.choices.share import Share
from samhw.errors import InputError, shown
from samhw.files import read_toml
from samhw.lang import Program
from samhw.lang.splits import RowOrders, order_rows
from samhw.words import did_you_mean

__all__ = ["CHOICES", "Schedule", "every", "with_words"]


def _toml(data: Mapping[str, object]) -> str:
    """The text of a TOML file: values first, then tables, whose entries are no tables."""
    lines = [
        f"{_key(name)} = {_value(value)}" for name, value in data.items() if not isinstance(value, Mapping)
    ]
    for name, table in data.items():
        if isinstance(table, Mapping):
            lines += [f"[{_key(name)}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "".join(f"{line}\n" for line in lines)


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            # A text of JSON is one of TOML, but for one character that this escapes.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} has no form in TOML here")


T = TypeVar("T")


@dataclass(frozen=True)
class Schedule:
    """How a program is computed: whatever may be chosen without changing its results.

    Each field is a choice, a folder of `samhw.choices`, which says what it holds and checks it; here they
    stand in the order in which they act on a program. docs/schedule.md has them all. The default is the
    program's own: the regions, orders and formats of its text. A field takes the word of its option too:
    `lanes="i=4"`. Latencies, and the depths that these ask for, belong to `Arch`; the value type and the
    capacities stand beside a schedule too.

    Raises:
        InputError: for a field that is of another kind, or has a value that there is not.
    """

    _: KW_ONLY
    brackets: Mapping[str, str] = field(default_factory=dict, hash=False)
    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] = "partial"
    iteration: Iteration = "factored"
    order: Sequence[str] | Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    formats: Mapping[str, str] = field(default_factory=dict, hash=False)
    blocks: Mapping[str, int] = field(default_factory=dict, hash=False)
    split: Mapping[str, str] = field(default_factory=dict, hash=False)
    partial_sums: Sequence[str] | str = AUTO
    permute_rows: Mapping[str, str] = field(default_factory=dict, hash=False)
    cascade: Cascade | Mapping[str, Any] = field(default="off", hash=False)
    share: Share | Mapping[str, str] = field(default="auto", hash=False)
    lanes: Mapping[str, int] = field(default_factory=dict, hash=False)
    deal: Mapping[str, str] = field(default_factory=dict, hash=False)
    queues: Mapping[str, int] = field(default_factory=dict, hash=False)
    permute: bool = False
    largest_copy: int = 1 << 22
    attempts: int = 12
    place: Mapping[str, str] = field(default_factory=dict, hash=False)
    on_chip: str = AUTO
    interleave: str | Sequence[str] = "none"
    share_hardware: str | Sequence[Sequence[str]] = AUTO
    parallel: str | Sequence[Sequence[str]] = "none"
    fixed_extents: bool = False

    def __post_init__(self) -> None:
        for one in CHOICES:
            object.__setattr__(self, one.name, one.taken(getattr(self, one.name)))

    def apply(self, program: Program) -> Program:
        """The program with the brackets, the regions, the orders and the formats of this schedule. What it
        says of tensors that passes have yet to add is left to the compiler.

        Raises:
            InputError: for a name that the program does not have, regions that it cannot have, or a format
                that does not fit.
        """
        is_open = self.adds_tensors(program)
        for one, value in self.in_words_of(program)._values():
            applied = one.apply(program, value, is_open=is_open)
            if applied.statements != program.statements:
                is_open = self.adds_tensors(applied)
            program = applied
        return program

    def in_words_of(self, program: Program) -> "Schedule":
        """The schedule with all names of a program's tensors that names with a star stand for."""
        changes = {
            one.name: found
            for one, value in self._values()
            if (found := one.with_numbers(value, program.tensors)) != value
        }
        return replace(self, **changes) if changes else self

    def adds_tensors(self, program: Program) -> bool:
        """Whether passes may add tensors to a program, which orders, shares and queues then may name."""
        is_plain = all(s.is_plain and s.scan is None for s in program.statements)
        return not is_plain or bool(self.split or self.blocks) or self.cascade != "off"

    def row_orders(self, program: Program) -> RowOrders:
        """The orders in which a program's data are stored.

        Args:
            program: as `apply` gives it.

        Raises:
            InputError: as `samhw.lang.splits.order_rows` does; and for orders beside cascades in lanes, which
                divide an index by the places of its coordinates.
        """
        if self.permute_rows and self.cascade != "off" and (self.lanes or self.tile > 1):
            raise InputError(
                "'permute_rows' cannot be combined with cascades in lanes or tiles, which divide an index by "
                "its coordinates; leave one of 'permute_rows', 'cascade' and 'lanes' out."
            )
        return order_rows(program, self.permute_rows)

    @property
    def is_open(self) -> bool:
        """The schedule is still to be chosen."""
        return self.fuse == AUTO

    @property
    def shared(self) -> Mapping[str, str]:
        """What is asked for single intermediates, by name."""
        return {} if isinstance(self.share, str) else self.share

    @property
    def recomputed(self) -> frozenset[str]:
        """The intermediates that each use computes for itself."""
        return frozenset(tensor for tensor, way in self.shared.items() if way == "recompute")

    @property
    def ranged(self) -> tuple[str, ...]:
        """The indices whose lanes have ranges of their coordinates."""
        return tuple(index for index, way in self.deal.items() if way == RANGES)

    def share_of(self, tensor: str) -> str:
        """What is asked for an intermediate: `auto`, `all`, `none`, `buffer`, `store` or `recompute`."""
        return self.share if isinstance(self.share, str) else self.share.get(tensor, "auto")

    @property
    def stored_terms(self) -> tuple[str, ...]:
        """The results of `partial_sums`, as far as they are decided."""
        return () if isinstance(self.partial_sums, str) else tuple(self.partial_sums)

    @property
    def cascade_form(self) -> str:
        """What is done about cascades, in a word."""
        return self.cascade if isinstance(self.cascade, str) else self.cascade.get("form", "rescaled")

    @property
    def tile(self) -> int:
        """Of how many coordinates a cascade rescales once."""
        return 1 if isinstance(self.cascade, str) else self.cascade["tile"]

    # Texts

    def __str__(self) -> str:
        """In a table: what differs from the default."""
        said = (one.said(value) for one, value in self._values() if one.is_always_said or self._differs(one))
        return ", ".join(words for one in said for words in one)

    def word(self, name: str) -> str:
        """A field in a word, as an option takes it."""
        return choice(name).word(getattr(self, name))

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, without those that say nothing; `from_fields` is the inverse."""
        return {
            one.name: one.to_json(value)
            for one, value in self._values()
            if one.is_always_said or self._differs(one)
        }

    def dumps(self) -> str:
        """The text of a file that `load` reads back."""
        return _toml(self.to_json())

    def _values(self) -> Iterator[tuple[Choice[Any], Any]]:
        return ((one, getattr(self, one.name)) for one in CHOICES)

    def _differs(self, one: Choice[Any]) -> bool:
        return bool(getattr(self, one.name) != getattr(DEFAULT, one.name))

    # Files

    @classmethod
    def of(cls, given: "Schedule | Mapping[str, object] | Path | str | None") -> "Schedule":
        """A schedule as Python gives it: itself, its fields, its file, `auto` for one that is chosen, or
        nothing, which is the program's.

        Raises:
            InputError: for anything else, and as `load` does.
        """
        match given:
            case Schedule():
                return given
            case None:
                return cls()
            case str() | Path():
                return cls(fuse=AUTO) if given == AUTO else cls.load(Path(given))
            case Mapping():
                return cls.from_fields(given)
        raise InputError(
            f"A schedule cannot be {shown(given)}; give a Schedule, a table of its fields, or its file."
        )

    @classmethod
    def load(cls, path: Path) -> "Schedule":
        """The schedule of a TOML file.

        Raises:
            InputError: for a file that cannot be read, or has a field that there is not.
        """
        data = read_toml(path, "a schedule, or auto")
        try:
            return cls.from_fields(data)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def from_fields(cls, data: Mapping[str, Any]) -> "Schedule":
        """The schedule with these fields, as a file or `to_json` has them; raises `InputError` for others."""
        known = [field.name for field in fields(cls)]
        for name in data:
            if not isinstance(name, str):
                raise InputError(f"The fields of a schedule have names; {shown(name)} is none.")
            if name == "memory":
                raise InputError(
                    "A schedule says which tensors lie off chip ('place'), and not in which memory; name "
                    "that with --memory."
                )
            if name == "off_chip":
                raise InputError(
                    "A schedule has no field 'off_chip' any more; 'place' says where each tensor lies: "
                    'place = {A = "ddr"}.'
                )
            if name not in known:
                meant = did_you_mean(name, known)
                raise InputError(
                    f"A schedule has no field '{name}'{meant}; its fields are {', '.join(known)}."
                )
        return cls(**data)


CHOICES: tuple[Choice[Any], ...] = tuple(choice(field.name) for field in fields(Schedule))
"""All choices, in the order in which they act."""

DEFAULT = Schedule()


def every(choices: Mapping[str, Sequence[T]]) -> Iterator[dict[str, T]]:
    """Every combination of one choice for each name, the last name varying fastest."""
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def with_words(schedule: Schedule, words: Mapping[str, Any]) -> Schedule:
    """The schedule with other fields instead of its own.

    Args:
        words: fields by name, as an option gives them; None leaves a field as it is. `order.T` is an entry
            of a field that is a table: the order of the region whose last result is T.

    Raises:
        InputError: for words that a field does not take.
    """
    chosen: dict[str, Any] = {}
    for name, word in words.items():
        field_name, dot, entry = name.partition(".")
        one = choice(field_name)
        if word is None:
            continue
        if dot:
            before = chosen.get(field_name, getattr(schedule, field_name))
            chosen[field_name] = one.with_entry(one.taken(before), entry, word)
        else:
            chosen[field_name] = word
    return replace(schedule, **chosen)
