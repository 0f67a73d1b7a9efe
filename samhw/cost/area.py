"""What a design takes of an FPGA: the sum of its components, as they were measured; and FPGAs by name, with
what they have."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from samhw.cost.components import (
    DEPTH,
    Component,
    Use,
    are_widths_measured,
    channel_component,
    control_component,
    memory_component,
    node_component,
    shell_component,
    unit_component,
    use_of_component,
)
from samhw.errors import InputError
from samhw.graph import Arch, Design, Endpoint, Graph, Node
from samhw.graph.widths import LEAST_INDEX_BITS, carried_bits, index_bits

__all__ = ["DEVICES", "SHOWN_DEVICES", "AreaEstimate", "Device", "RegionArea", "estimate_area", "find_device"]


@dataclass(frozen=True)
class Device:
    """An FPGA.

    Attributes:
        family: whose components were measured, one of `FAMILIES`.
        luts: of four inputs, or of six where the FPGA has those; or what its tools count.
        block_rams: of 36 Kb in a Xilinx FPGA, of 18 Kb in an ECP5, of 4 Kb in an iCE40.
    """

    name: str
    family: str
    luts: int
    registers: int
    block_rams: int
    multipliers: int

    def shares(self, use: Use) -> dict[str, float]:
        """What something takes of it, as fractions of all that it has."""
        return {name: figure / getattr(self, name) for name, figure in asdict(use).items()}


DEVICES = {
    device.name: device
    for device in (
        # Lattice ECP5: family data sheet FPGA-DS-02012.
        Device("LFE5U-25F", "ecp5", 24_288, 24_288, 56, 28),
        Device("LFE5U-85F", "ecp5", 83_640, 83_640, 208, 156),
        Device("LFE5UM5G-45F", "ecp5", 43_848, 43_848, 108, 72),
        # Lattice iCE40 UltraPlus: FPGA-DS-02008.
        Device("iCE40UP5K", "ice40", 5_280, 5_280, 30, 8),
        # Xilinx 7 series: DS180; Zynq-7000: DS190.
        Device("XC7A35T", "xc7", 20_800, 41_600, 50, 90),
        Device("XC7A100T", "xc7", 63_400, 126_800, 135, 240),
        Device("XC7Z020", "xc7", 53_200, 106_400, 140, 220),
        # Xilinx UltraScale+: DS890; Zynq UltraScale+: DS891.
        Device("XCZU3EG", "xcup", 70_560, 141_120, 216, 360),
        Device("XCVU9P", "xcup", 1_182_240, 2_364_480, 2_160, 6_840),
    )
}
"""By name."""

SHOWN_DEVICES = tuple(DEVICES[name] for name in ("LFE5U-85F", "iCE40UP5K", "XC7A100T", "XCZU3EG"))
"""One of each family: what estimates show unless one is named."""


def find_device(name: str) -> Device:
    """That of a name, in letters of either case; raises `InputError` for one that is not known."""
    for device in DEVICES.values():
        if device.name.casefold() == name.casefold():
            return device
    raise InputError(f"No FPGA {name!r} is known; there are {', '.join(DEVICES)}.")


@dataclass(frozen=True)
class RegionArea:
    """What is expected of a region's nodes.

    Attributes:
        name: of its graph.
        nodes: by name, each with the channels at its inputs.
    """

    name: str
    nodes: Mapping[str, Use]

    @property
    def use(self) -> Use:
        """Of all of them."""
        return sum(self.nodes.values(), Use())


@dataclass(frozen=True)
class AreaEstimate:
    """What is expected of a design with its memories and its host's port, without a board's link.

    Attributes:
        family: of the FPGA, one of `FAMILIES`.
        regions: in the order in which they run.
        memories: those of the tensors.
        control: what starts and ends runs, and the host's port.
        unmeasured: components of which nothing is known, and which do not count.
        guessed: components that are narrower or wider than those that were measured, or count as their
            operations do.
    """

    family: str
    regions: tuple[RegionArea, ...]
    memories: Use
    control: Use
    unmeasured: tuple[str, ...]
    guessed: tuple[str, ...] = ()

    @property
    def use(self) -> Use:
        """Of the whole design."""
        return sum((region.use for region in self.regions), self.memories + self.control)

    @property
    def caveat(self) -> str:
        """What the figures leave out or guess, in words; empty where all of the design was measured."""
        said = []
        if self.unmeasured:
            said.append(f"without {', '.join(self.unmeasured)}, which have not been measured")
        if self.guessed:
            said.append(f"with {', '.join(self.guessed)} by the area of other widths")
        return ", and ".join(said)


def estimate_area(design: Design, arch: Arch, family: str = "ecp5") -> AreaEstimate:
    """What a design is expected to take, at the latencies that `Arch` has by default."""
    return _Area(design, arch, family).estimate()


class _Area:
    def __init__(self, design: Design, arch: Arch, family: str):
        self._design = design
        self._bits = index_bits(design, arch)
        self._family = family
        self._unmeasured: dict[str, None] = {}
        self._guessed: dict[str, None] = {}

    def estimate(self) -> AreaEstimate:
        design = self._design
        regions = tuple(
            RegionArea(graph.name, {node.name: self._node(graph, node) for node in graph.nodes})
            for graph in design.runs
        )
        memories = (
            memory_component(memory, design.stored(memory).width(self._bits), design.copies[memory.name])
            for memory in design.memories
        )
        writers = sum(not node.outputs for _, node in design.nodes)
        control = control_component(len(design.nodes), writers, len(design.regions))
        shell = shell_component(len(design.extents), len(design.channels), len(design.regions))
        return AreaEstimate(
            self._family,
            regions,
            sum(map(self._use, memories), Use()),
            self._use(control) + self._use(shell),
            tuple(self._unmeasured),
            tuple(self._guessed),
        )

    def _node(self, graph: Graph, node: Node) -> Use:
        """With the channels at its inputs, as deep as they are."""
        found = self._whole(graph, node)
        for port in node.inputs:
            channel = graph.fanin[Endpoint(node.name, port.name)]
            carried = max(carried_bits(graph, channel.source), LEAST_INDEX_BITS)
            deep = self._use(channel_component(carried, channel.depth))
            usual = self._use(channel_component(graph.taken(node, port.name).width(self._bits), DEPTH))
            found = found + deep - usual
        return found.at_least_none()

    def _whole(self, graph: Graph, node: Node) -> Use:
        """A node with channels of the usual depth; one that was not measured, and makes several operations at
        a time, by the area of as many units for one."""
        whole, work = node_component(graph, node, self._bits), node.spec.work(node.params)
        if work is None or work.each == 1 or use_of_component(whole, self._family) is not None:
            return self._use(whole)
        unit = unit_component(work.operation, graph.operand_type(node), graph.result_type(node))
        each = use_of_component(unit, self._family)
        if each is None:
            return self._use(whole)
        self._guessed[f"{whole.kind} {whole.variant}"] = None
        return each.times(work.each)

    def _use(self, component: Component) -> Use:
        found = use_of_component(component, self._family)
        name = f"{component.kind} {component.variant}".strip()
        if found is None:
            self._unmeasured[name] = None
        elif not are_widths_measured(component):
            self._guessed[name] = None
        return found or Use()
