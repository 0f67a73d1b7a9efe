"""Which ports off the chip are one in hardware."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import samhw
from samhw.graph import Arch, Channel, Design, Endpoint, OffChipLayout, Ports
from samhw.graph.shared_ports import SharedPort, shared_ports
from tests.support.top_graphs import array, copy_graph, node

TWO = """index i=8, j=4, k=8
S[i, j] = A[i, k] * X[k, j]
T[i] = S[i, j]"""
THREE = """index i=8, j=4, k=8
S[i, j] = A[i, k] * X[k, j]
T[i, j] = B[i, k] * X[k, j]
U[i, j] = S[i, j] + T[i, j]"""


def ports_of(program: str, masters: int = 1, **schedule: Any) -> tuple[Design, tuple[SharedPort, ...]]:
    """A design all of whose tensors lie off the chip, and its ports in hardware."""
    formats = {"A": "csr"} | ({"B": "csr"} if "B[" in program else {})
    design = samhw.compile(program, formats=formats, value="i32", schedule={"fuse": "none"} | schedule)
    found = design.compiled.design
    return found, shared_ports(found, OffChipLayout(found, design.compiled.arch, Ports(masters=masters)))


def counts(design: Design, found: Sequence[SharedPort]) -> tuple[list[dict[bool, int]], dict[bool, int]]:
    """How many ports that read, and that write, each fabric has, and how many there are in hardware."""
    own = [
        {write: sum(fabric in p.users for p in found if p.first.write == write) for write in (False, True)}
        for fabric in range(len(design.groups))
    ]
    return own, {write: sum(port.first.write == write for port in found) for write in (False, True)}


def test_fabrics_in_turns_share_as_many_as_the_greatest_needs() -> None:
    design, found = ports_of(TWO)
    own, whole = counts(design, found)
    assert len(own) == 2
    assert whole == {write: max(each[write] for each in own) for write in (False, True)}
    assert sum(sum(each.values()) for each in own) > len(found)


def test_what_runs_side_by_side_shares_none() -> None:
    design, found = ports_of(THREE, parallel="all", share_hardware="none")
    for port in found:
        for region in port.ports:
            assert design.beside[region].isdisjoint(port.ports)
    own, whole = counts(design, found)
    first, second, third = own
    assert whole[False] == first[False] + second[False] > third[False]


def test_a_port_keeps_its_number_where_it_can() -> None:
    _, alone = ports_of(TWO)
    assert all(len(port.numbers) == 1 for port in alone if port.first.number == 0)
    _, found = ports_of(THREE, parallel="all", share_hardware="none")
    assert {0, 1, 2} <= {number for port in found for number in port.numbers}


def test_each_master_has_ports_of_its_own() -> None:
    _, found = ports_of(TWO, masters=2)
    for port in found:
        assert len({own.array.master for own in port.ports.values()}) == 1


def test_values_in_blocks_and_single_ones_have_different_ports() -> None:
    program = f"{TWO.splitlines()[0]}\nS[i, j] = A[i, k] * X[k, j]\nt[i] = A[i, k] * y[k]"
    _, found = ports_of(program, blocks={"j": 4})
    widths = [{own.array.place_bytes for own in port.ports.values()} for port in found]
    assert all(len(width) == 1 for width in widths)
    assert {4, 16} <= set().union(*widths)


def test_a_fabric_with_a_node_that_no_writer_needs_shares_none() -> None:
    """Its ports may still have tokens when its region has ended."""
    whole = copy_graph(source="B", target="D")
    left = replace(array("B"), name="left")
    ends = node("ends", "alu", "a:val1", "out:val1", op="neg")
    channels = (
        Channel(Endpoint("scan_B1", "ref"), Endpoint("left", "ref"), 1, 4),
        Channel(Endpoint("left", "val"), Endpoint("ends", "a"), 1, 4),
    )
    dangling = replace(whole, nodes=(*whole.nodes, left, ends), channels=(*whole.channels, *channels))
    for second, shares in ((whole, True), (dangling, False)):
        design = Design.assemble("two", (copy_graph(), second))
        found = shared_ports(design, OffChipLayout(design, Arch(), Ports()))
        assert any(len(port.users) > 1 for port in found) == shares
