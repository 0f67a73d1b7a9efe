"""What stands around a folder of Verilog: a wrapper, packages for the tools of others, a driver, a
testbench."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from samhw.graph import AddressMap, HostOptions, MemoryRole
from samhw.graph.address_map import Control
from samhw.names import comment_text, plain
from samhw.targets.building.elaborate import TopPin
from samhw.targets.building.ip_xact import Bus, PhysicalPort, component

if TYPE_CHECKING:
    import jinja2

__all__ = ["BenchRun", "write_driver", "write_project"]

_TEMPLATES = Path(__file__).parent / "templates" / "verilog"
_SHARED = Path(__file__).parents[2] / "hls_templates"
"""Has what scripts for Vivado have in common."""

_ON_CHIP = {"{}_litex.py": "litex.py", "{}_pynq.py": "pynq.py", "overlay.tcl": "overlay.tcl"}
"""What is written where all tensors lie on the chip, and its templates."""

_LITE_PINS = (
    *(("awaddr", 0), ("awprot", 3), ("awvalid", 1), ("-awready", 1), ("wdata", 32), ("wstrb", 4)),
    *(("wvalid", 1), ("-wready", 1), ("-bresp", 2), ("-bvalid", 1), ("bready", 1), ("araddr", 0)),
    *(("arprot", 3), ("arvalid", 1), ("-arready", 1), ("-rdata", 32), ("-rresp", 2), ("-rvalid", 1)),
    ("rready", 1),
)
"""The pins of the port and their widths, an address' being 0; outputs have a minus."""

_BURST_PINS = (("len", 8), ("size", 3), ("burst", 2), ("lock", 1), ("cache", 4), ("qos", 4))
"""Those that both channels of addresses have in AXI4, beside their IDs."""


class _Pin(NamedTuple):
    name: str
    width: int
    way: str

    @property
    def is_address(self) -> bool:
        return not self.width

    @property
    def channel(self) -> str:
        """Of AXI: aw, w, b, ar or r."""
        return self.name[:2] if self.name.startswith(("aw", "ar")) else self.name[0]

    @property
    def signal(self) -> str:
        """Its name within the channel."""
        return self.name[len(self.channel) :]


class BenchRun(NamedTuple):
    """A run that the testbench does: what it loads, and what the simulator has of it."""

    extents: Mapping[str, int]
    inputs: Mapping[str, Sequence[int]]
    """The words of the input memories, by the memories' names."""
    results: Mapping[str, Sequence[int]]
    """Those that the run leaves in the memories of results."""
    cycles: int
    latency: int = 0
    """Of the memories off the chip, which the testbench has: they are `constant:T` (docs/memory.md)."""


def write_project(
    addresses: AddressMap, directory: Path, name: str, bench: BenchRun | None, far: Sequence[TopPin] = ()
) -> None:
    """Writes what docs/host_port.md lists under *Around the Verilog*.

    Args:
        name: of the top module.
        bench: what the testbench runs; without, it tries the registers alone.
        far: the pins to memory off the chip, with which there is nothing of `_ON_CHIP`.
    """
    host, masters = addresses.host, _masters(far)
    files = [*(directory / f"{name}.f").read_text(encoding="utf-8").split(), f"{name}_axi.v"]
    context: dict[str, Any] = {
        "name": name,
        "about": _about(addresses),
        "files": files,
        "kind": "".join(word[:1].upper() + word[1:] for word in name.split("_")),
        "bits": addresses.address_bits,
        "range": 1 << addresses.address_bits,
        "pins": _pins(host),
        "far": far,
        "masters": masters,
        "beat": addresses.layout.ports.beat if addresses.layout else 0,
        "bursts": host.bursts,
        "host_clock": host.clock,
        "id_bits": host.id_bits,
        "protocol": "AXI4" if host.bursts else "AXI4-Lite",
        **_driver(addresses, name),
    }
    (directory / "bench").mkdir()
    write_driver(addresses, directory, name)
    for path, template in {
        f"{name}_axi.v": "wrapper.v",
        "package.tcl": "package.tcl",
        f"{name}.core": "core",
        **({} if far else {path.format(name): template for path, template in _ON_CHIP.items()}),
        **({f"{name}_clocks.xdc": "clocks.xdc"} if host.clock else {}),
        f"bench/test_{name}.py": "test_bench.py",
        "bench/run.py": "run.py",
    }.items():
        text = _environment().get_template(f"{template}.j2").render(context)
        (directory / path).write_text(text, encoding="utf-8")
    ports, buses = _ports(host, far), [*_buses(host, far, masters)]
    text = component(addresses, name, _about(addresses), ports, buses, files)
    (directory / "component.xml").write_text(text, encoding="utf-8")
    words = {} if bench is None else bench._asdict()
    if not far:
        words.pop("latency", None)
    (directory / "bench" / "words.json").write_text(json.dumps(words) + "\n", encoding="utf-8")


def _about(addresses: AddressMap) -> str:
    """What the build computes, in a line that any file takes."""
    return comment_text(addresses.design.name).replace('"', "'")


def _ports(host: HostOptions, far: Sequence[TopPin]) -> list[PhysicalPort]:
    """Those of the wrapper."""
    return [
        PhysicalPort("aclk", 1, "input"),
        PhysicalPort("aresetn", 1, "input"),
        *(PhysicalPort(f"s_axi_{name}", 1, "input") for name in ("aclk", "aresetn") if host.clock),
        *(PhysicalPort(f"s_axi_{pin.name}", pin.width, pin.way) for pin in _pins(host)),
        *(PhysicalPort(*pin) for pin in far),
        *([PhysicalPort("irq", 1, "output")] if host.interrupt else []),
        *(PhysicalPort(name, 1, "output") for name in ("running", "done", "error")),
        PhysicalPort("cycle", 64, "output"),
    ]


def _buses(host: HostOptions, far: Sequence[TopPin], masters: Sequence[str]) -> Iterator[Bus]:
    """Its interfaces: AXI4 and AXI4-Lite are one kind, of which Vivado tells them apart by their ports."""
    if host.clock:
        yield from _clock("s_axi_", ["s_axi"])
    yield from _clock("", masters if host.clock else ["s_axi", *masters])
    protocol = {"PROTOCOL": "AXI4" if host.bursts else "AXI4LITE"}
    yield Bus("s_axi", "aximm", "slave", {p.name.upper(): f"s_axi_{p.name}" for p in _pins(host)}, protocol)
    for master in masters:
        own = [pin.name for pin in far if pin.name.rpartition("_")[0] == master]
        yield Bus(
            *(master, "aximm", "master", {name[len(master) + 1 :].upper(): name for name in own}),
            {"PROTOCOL": "AXI4"},
        )
    if host.interrupt:
        about = {"SENSITIVITY": "LEVEL_HIGH"}
        yield Bus("irq", "interrupt", "master", {"INTERRUPT": "irq"}, about)


def _clock(prefix: str, buses: Sequence[str]) -> Iterator[Bus]:
    """A clock, with its reset and the interfaces that run on it."""
    clock, reset = f"{prefix}aclk", f"{prefix}aresetn"
    about = {"ASSOCIATED_BUSIF": ":".join(buses), "ASSOCIATED_RESET": reset}
    yield Bus(clock, "clock", "slave", {"CLK": clock}, about)
    yield Bus(reset, "reset", "slave", {"RST": reset}, {"POLARITY": "ACTIVE_LOW"})


def _masters(far: Sequence[TopPin]) -> list[str]:
    """The masters among the pins, none of which an SDRAM answers."""
    names = dict.fromkeys(pin.name.rpartition("_")[0] for pin in far)
    return [] if any(pin.name.startswith("sdram_") for pin in far) else [*names]


def _pins(host: HostOptions) -> list[_Pin]:
    """The pins of a port."""
    pins = list(_LITE_PINS)
    if host.bursts:
        pins += [(f"{channel}{name}", width) for channel in ("aw", "ar") for name, width in _BURST_PINS]
        pins += [
            ("wlast", 1),
            ("-rlast", 1),
            *((name, host.id_bits) for name in ("awid", "-bid", "arid", "-rid")),
        ]
    return [
        _Pin(text.lstrip("-"), width, "output" if text.startswith("-") else "input") for text, width in pins
    ]


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # Takes a tenth of a second to be imported, and a simulation needs none.

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([_TEMPLATES, _SHARED]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _driver(addresses: AddressMap, name: str) -> dict[str, Any]:
    """What the driver has in addition: its prefixes, and the macros of the header."""
    macros = addresses.macros
    memories = {
        role: [
            {
                "memory": macros.memories[memory.name],
                "words": macros.words[memory.name],
                "packed": addresses.packed.get(memory.name),
            }
            for memory in addresses.design.memories
            if memory.role is role and memory.name in macros.memories
        ]
        for role in MemoryRole
    }
    extents = [{"extent": macros.extents[i], "greatest": macros.greatest[i]} for i in addresses.extents]
    return {
        "what": _about(addresses),
        "interrupt": addresses.host.interrupt,
        "pingpong": addresses.host.pingpong,
        "swap": int(Control.SWAP),
        "recovery": addresses.host.recovery,
        "counters": addresses.host.counters,
        "off_chip": addresses.layout is not None,
        "prefix": plain(name).upper(),
        "lower": plain(name).lower(),
        "extents": extents,
        "inputs": memories[MemoryRole.INPUT],
        "results": memories[MemoryRole.OUTPUT],
        "sdram": bool(addresses.packed),
    }


def write_driver(addresses: AddressMap, directory: Path, name: str) -> None:
    """Writes `driver.h`, the driver in C; `name` as of `write_project`."""
    text = _environment().get_template("driver.h.j2").render(_driver(addresses, name))
    (directory / "driver.h").write_text(text, encoding="utf-8")
