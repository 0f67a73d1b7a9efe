"""The value that holds all that a user may choose about how a program is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from samhw.choices.schedule import toml
from samhw.choices.schedule.blocks import check_blocks, with_blocks
from samhw.choices.schedule.cascade import Cascade, cascade_text, check_cascade
from samhw.choices.schedule.counts import counts_text
from samhw.choices.schedule.fields import (
    AUTO,
    ITERATIONS,
    NO_RESULTS,
    FusionLevel,
    FusionRule,
    Iteration,
    Share,
    check_brackets,
    check_formats,
    check_fuse,
    check_names,
    check_one_of,
    check_order,
    check_partial_sums,
    check_share,
    check_whole,
    plain,
)
from samhw.choices.schedule.formats import with_formats
from samhw.choices.schedule.lanes import check_lanes
from samhw.choices.schedule.queues import check_queues
from samhw.choices.schedule.regions import ordered, regions_of
from samhw.errors import InputError, shown
from samhw.files import read_toml
from samhw.lang import Program
from samhw.lang.brackets import apply_brackets
from samhw.lang.splits import RowOrders, check_permute_rows, check_split, order_rows

__all__ = ["Schedule"]


@dataclass(frozen=True)
class Schedule:
    """How a program is computed: whatever may be chosen without changing its results.

    The default is the program's own: the regions, orders and formats of its text. Latencies, and the depths
    that these ask for, belong to `Arch`; the value type and the capacities stand beside a schedule too.

    Raises:
        InputError: for a field that is of another kind, or has a value that there is not.
    """

    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] = "partial"
    """The regions: `partial` leaves them as they are written; `none` gives every statement one of its own;
    `full` merges all that follow each other, up to a reshape; `kinds` groups by the kinds of statements, as
    TVM does (`samhw.lang.fusion.kind_groups`); `module` merges what one module of PyTorch computes
    (`samhw.compiler.search.in_modules`); `auto` chooses, with brackets and formats, what is expected to take
    the fewest cycles (`samhw.compiler.search.choose_schedule`). Or, for each region, the results that it
    computes, in the program's order; a statement that no list names is a region of its own. Regions run in
    the order of the lists."""
    iteration: Iteration = "factored"
    """`factored` places each sum where it belongs; `global` has one iteration space, as Custard does."""
    permute: bool = False
    """Permission to copy tensors into another mode order, where storage orders conflict."""
    off_chip: Sequence[str] | None = None
    """The tensors that lie in off-chip memory, if there is one; None for all."""
    order: Sequence[str] | Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    """Of a region's indices, outermost first, by the region's last result; or that of the only region."""
    formats: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The storage of tensors, by name, in place of what the program declares."""
    largest_copy: int = 1 << 22
    """The most points of a tensor that is copied (`permute`), each mode rounded up to a power of two: the
    copy takes an accumulator of twice as many words."""
    attempts: int = 12
    """The orders that are tried for a region before its first refusal is reported."""
    lanes: Mapping[str, int] = field(default_factory=dict, hash=False)
    """For an index, how many copies of what lies inside of it share its coordinates."""
    share: Share | Mapping[str, str] = field(default="auto", hash=False)
    """What uses of an intermediate share: `auto` chooses by cost; `all` computes nothing twice, and ends a
    region where streams do not allow that; `none` recomputes an intermediate for each use, and ends no region
    earlier than it is asked to. Or for some intermediates, by name: `buffer` keeps its streams for all uses,
    `store` ends the region behind it, `recompute` recomputes it for each use."""
    brackets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """For a result, the right side of its statement without indices, with parentheses around what is summed
    first; it may name what intermediates are made of in their place (`samhw.lang.brackets`). All other fields
    speak of the statements that come of it."""
    split: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By input, the rule by which it is split into parts in formats of their own (`samhw.lang.splits`), such
    as
    `rows(4)`, `hyb(1,2)` or `file.py:function`. The program becomes a sum over the parts."""
    partial_sums: Sequence[str] | str = AUTO
    """The results whose terms over parts of what is split are stored, each by a region of its own, and added
    behind that. `auto` takes those of which streams cannot add the terms in one region, or where it is
    expected to take clearly fewer cycles."""
    permute_rows: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By input, the order in which its rows are stored: `by length`, `even(n)`, `reverse Cuthill-McKee` or
    `file.py:function` (`samhw.lang.splits.order_rows`). It is drawn anew for each run's data, the same for
    all tensors that share their extent, and results are put back."""
    cascade: Cascade | Mapping[str, Any] = field(default="off", hash=False)
    """What is done about reductions over one index that depend on each other, such as the sum of a softmax on
    its maximum: `off` computes them as they are written, one pass behind the other; `deferred` takes what an
    earlier result contributes behind the reduction, where that is a quotient or a product; `rescaled` also
    rescales sums as they go, in one pass with constant state; `finite` also makes several sums of one, which
    may cancel; `auto` is `rescaled`. It changes how results are rounded, and so their bounds. A table has the
    `form`, by default `rescaled`, and a `tile`, of as many coordinates a sum is rescaled once."""
    blocks: Mapping[str, int] = field(default_factory=dict, hash=False)
    """For an index, the size of the dense blocks in which all tensors that have it are stored along it."""
    queues: Mapping[str, int] = field(default_factory=dict, hash=False)
    """For an intermediate, how many further rows of it may wait in channels between what computes it and what
    reads it in the same region, so that neither waits for long rows of the other (docs/compiler.md,
    *Queues*)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fuse", check_fuse(self.fuse))
        object.__setattr__(self, "brackets", check_brackets(self.brackets))
        check_one_of("iteration", self.iteration, ITERATIONS)
        object.__setattr__(self, "cascade", check_cascade(self.cascade))
        object.__setattr__(self, "share", check_share(self.share))
        if not isinstance(self.permute, bool | np.bool_):
            raise InputError(f"'permute' is {shown(self.permute)}; give true or false.")
        object.__setattr__(self, "permute", bool(self.permute))
        for name, most in (("largest_copy", 1 << 40), ("attempts", 1 << 20)):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), most))
        if self.off_chip is not None:
            object.__setattr__(self, "off_chip", check_names("off_chip", self.off_chip))
        object.__setattr__(self, "order", check_order(self.order))
        object.__setattr__(self, "formats", check_formats(self.formats))
        object.__setattr__(self, "lanes", check_lanes(self.lanes))
        object.__setattr__(self, "blocks", check_blocks(self.blocks))
        object.__setattr__(self, "queues", check_queues(self.queues))
        object.__setattr__(self, "split", check_split(self.split))
        object.__setattr__(self, "partial_sums", check_partial_sums(self.partial_sums))
        object.__setattr__(self, "permute_rows", check_permute_rows(self.permute_rows))

    def apply(self, program: Program) -> Program:
        """The program with the brackets, the regions, the orders and the formats of this schedule. What it
        says of tensors that passes have yet to add is left to the compiler.

        Raises:
            InputError: for a name that the program does not have, regions that it cannot have, or a format
                that does not fit.
        """
        program = apply_brackets(program, self.brackets)
        grows = self._grows(program)
        regions = ordered(program, regions_of(program, self.fuse), self.order, is_open=grows)
        program = with_blocks(with_formats(program, regions, self.formats), self.blocks)
        program.check_computed("partial_sums", self.stored_terms)
        if not grows:
            program.check_computed("share", self.shared)
            program.check_computed("queues", self.queues)
        for name in (*self.split, *self.permute_rows):
            program.check_operand(name)
        for name in self.off_chip or ():
            if name not in program.tensors:
                raise InputError(
                    f"There is no tensor '{name}' to place off chip; the program has "
                    f"{', '.join(program.tensors)}."
                )
        return program

    def _grows(self, program: Program) -> bool:
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

    def share_of(self, tensor: str) -> str:
        """What is asked for an intermediate: `auto`, `all`, `none`, `buffer`, `store` or `recompute`."""
        return self.share if isinstance(self.share, str) else self.share.get(tensor, "auto")

    def __str__(self) -> str:
        """In a table, by what most often differs."""
        words = [self.fuse_text(), self.iteration]
        words += [f"{result} = {text}" for result, text in self.brackets.items()]
        if order := self.order_text():
            words.append(f"order {order}")
        words += [f"{name} {text}" for name, text in self.formats.items()]
        if self.lanes:
            words.append(f"lanes {counts_text(self.lanes)}")
        if self.blocks:
            words.append(f"blocks {counts_text(self.blocks)}")
        if self.queues:
            words.append(f"queues {counts_text(self.queues)}")
        words += [f"{tensor} as {rule}" for tensor, rule in self.split.items()]
        if self.stored_terms:
            words.append(f"terms of {', '.join(self.stored_terms)} stored")
        elif self.partial_sums != AUTO and self.split:
            words.append("no terms stored")
        words += [f"rows of {tensor} {rows}" for tensor, rows in self.permute_rows.items()]
        if self.cascade != "off":
            words.append(f"cascade {cascade_text(self.cascade)}")
        if share := self.share_text():
            words.append(f"share {share}")
        return ", ".join(words)

    @property
    def stored_terms(self) -> tuple[str, ...]:
        """The results of `partial_sums`, as far as they are decided."""
        return () if isinstance(self.partial_sums, str) else tuple(self.partial_sums)

    def partial_sums_text(self) -> str:
        """`partial_sums` in a word, as an option takes it."""
        return AUTO if self.partial_sums == AUTO else "+".join(self.stored_terms) or NO_RESULTS

    @property
    def cascade_form(self) -> str:
        """What is done about cascades, in a word."""
        return self.cascade if isinstance(self.cascade, str) else self.cascade.get("form", "rescaled")

    @property
    def tile(self) -> int:
        """Of how many coordinates a cascade rescales once."""
        return 1 if isinstance(self.cascade, str) else self.cascade["tile"]

    def fuse_text(self) -> str:
        """The regions in a word: a level, or the results of each region."""
        return self.fuse if isinstance(self.fuse, str) else ",".join("+".join(names) for names in self.fuse)

    def share_text(self) -> str:
        """What is shared in a line; nothing where the compiler chooses."""
        if isinstance(self.share, str):
            return "" if self.share == "auto" else self.share
        return " ".join(f"{tensor}:{way}" for tensor, way in self.share.items())

    def order_text(self) -> str:
        """The orders in a line; nothing where there are none."""
        if isinstance(self.order, Mapping):
            return " ".join(f"{result}:{','.join(order)}" for result, order in self.order.items())
        return ",".join(self.order)

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
        data = read_toml(path, "a schedule")
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
                    "A schedule says which tensors lie off chip ('off_chip'), and not in which memory; name "
                    "that with --memory."
                )
            if name not in known:
                raise InputError(f"A schedule has no field '{name}'; its fields are {', '.join(known)}.")
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, without those that say nothing; `from_fields` is the inverse."""
        found: dict[str, object] = {
            "fuse": plain(self.fuse),
            "iteration": self.iteration,
            "permute": self.permute,
        }
        if self.brackets:
            found["brackets"] = plain(self.brackets)
        if self.off_chip is not None:
            found["off_chip"] = plain(self.off_chip)
        if self.split:
            found["split"] = plain(self.split)
        if self.partial_sums != AUTO:
            found["partial_sums"] = plain(self.partial_sums)
        if self.permute_rows:
            found["permute_rows"] = plain(self.permute_rows)
        if self.cascade != "off":
            found["cascade"] = plain(self.cascade)
        if self.share != "auto":
            found["share"] = plain(self.share)
        if self.order:
            found["order"] = plain(self.order)
        if self.formats:
            found["formats"] = plain(self.formats)
        if self.lanes:
            found["lanes"] = plain(self.lanes)
        if self.blocks:
            found["blocks"] = plain(self.blocks)
        if self.queues:
            found["queues"] = plain(self.queues)
        for name in ("largest_copy", "attempts"):
            if getattr(self, name) != getattr(Schedule, name):
                found[name] = getattr(self, name)
        return found

    def dumps(self) -> str:
        """The text of a file that `load` reads back."""
        return toml.dumps(self.to_json())
