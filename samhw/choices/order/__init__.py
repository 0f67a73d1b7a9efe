"""Orders: how the loops of a region nest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from samhw.choices.choice import (
    Choice,
    check_names,
    check_table,
    is_list,
    read_entries,
    table_with_numbers,
)
from samhw.errors import InputError
from samhw.lang import Program, Region
from samhw.words import did_you_mean

__all__ = ["CHOICE"]

Indices = tuple[str, ...]


class Order(Choice[Indices | dict[str, Indices]]):
    """by each region's last result, its indices, outermost first; a list by itself is the order of the only
    region"""

    name = "order"
    by_default = "the statements' own"
    metavar = "i,k,j"
    several = "i,k,j"
    help = "Order of the indices, outermost first; of several regions as T=i,k,j;U=i,j by their last results."
    nothing = "orders as written"
    has_commas = True
    has_entries = True
    between = ";"
    of = "region"

    def check(self, value: Any) -> Indices | dict[str, Indices]:
        if is_list(value):
            return check_names("order", value) or {}
        table = check_table("order", value, 'such as T = ["i", "k", "j"]')
        return {
            result: _indices(own) if isinstance(own, str) else check_names(f"order.{result}", own)
            for result, own in table.items()
        }

    def read(self, word: str) -> Indices | dict[str, Indices]:
        if "=" not in word:
            return _indices(word) if word else {}
        orders = read_entries("order", word, "each region's last result one order, as in T=i,k,j")
        return {result: _indices(indices) for result, indices in orders.items()}

    def word(self, value: Indices | Mapping[str, Indices]) -> str:
        if isinstance(value, Mapping):
            return ";".join(f"{result}={','.join(indices)}" for result, indices in value.items())
        return ",".join(value)

    def with_entry(self, value: Indices | Mapping[str, Indices], entry: str, word: str) -> dict[str, Indices]:
        return {**(value if isinstance(value, Mapping) else {}), entry: _indices(word)}

    def columns(self, value: Indices | Mapping[str, Indices]) -> dict[str, str]:
        if not isinstance(value, Mapping):
            return {"order": ",".join(value)}
        return {"order": "", **{f"order.{result}": ",".join(order) for result, order in value.items()}}

    def with_numbers(
        self, value: Indices | dict[str, Indices], names: Iterable[str]
    ) -> Indices | dict[str, Indices]:
        return table_with_numbers(value, names) if isinstance(value, dict) else value

    def apply(self, program: Program, value: Indices | dict[str, Indices], *, is_open: bool) -> Program:
        return program.in_regions(_ordered(program, value, is_open=is_open))

    def fits(self, value: Indices | Mapping[str, Indices], regions: Sequence[Region]) -> bool:
        if isinstance(value, Mapping):
            return {*value} <= {region.statements[-1].lhs.tensor for region in regions}
        return len(regions) == 1


CHOICE = Order()


def _indices(word: str) -> Indices:
    """The indices between the commas."""
    return tuple(index.strip() for index in word.split(","))


def _ordered(
    program: Program,
    order: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    is_open: bool = False,
) -> tuple[Region, ...]:
    """Regions with their orders, each under its last result's name.

    Args:
        is_open: passes may add tensors, which orders may name.

    Raises:
        InputError: for one order where there are several regions, or a name that is no region's last result.
    """
    regions = program.regions
    names = [region.statements[-1].lhs.tensor for region in regions]
    if not isinstance(order, Mapping):
        if len(names) != 1:
            raise InputError(
                f"'{program.name}' has {len(names)} regions, so one order does not fit them all; write the "
                "orders into the program, or into a schedule by each region's last result."
            )
        order = dict.fromkeys(names, order)
    computed = {statement.lhs.tensor for statement in program.statements}
    for result in order:
        if result not in names and not (is_open and result not in computed):
            raise InputError(
                f"There is an order for '{result}', which is no region's last "
                f"result{did_you_mean(result, names)}; the regions of "
                f"'{program.name}' end with {', '.join(names)}."
            )
    return tuple(
        replace(region, label=name, order=tuple(order[name]) if name in order else region.order)
        for name, region in zip(names, regions, strict=True)
    )
