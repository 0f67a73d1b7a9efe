"""A build as a component of IP-XACT (IEEE 1685-2009), for catalogs of IP: its bus, registers, memories, ports
and files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, indent, register_namespace, tostring

from samhw.graph import AddressMap, MemoryRole
from samhw.graph.address_map import Register
from samhw.names import identifiers

__all__ = ["Bus", "PhysicalPort", "component"]

_SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_WIDTH = "ADDRESS_WIDTH"
"""The parameter of the wrapper that has the width of its addresses."""
_BUSES = {
    "aximm": ("interface", "aximm"),
    **{kind: ("signal", kind) for kind in ("clock", "reset", "interrupt")},
}
"""The kinds of interfaces, as Vivado's catalog has them."""
_WRITTEN = (Register.CONTROL,)
"""The registers that every build has and that a host writes."""

register_namespace("spirit", _SPIRIT)


class PhysicalPort(NamedTuple):
    """A port of the module: `way` is input or output; a width of 0 is that of an address."""

    name: str
    width: int
    way: str


class Bus(NamedTuple):
    """An interface: what is connected as one.

    Attributes:
        kind: of `_BUSES`.
        way: slave or master.
        ports: by the name that its standard has for it, the port of the module.
        about: parameters, such as the reset of a clock.
    """

    name: str
    kind: str
    way: str
    ports: Mapping[str, str]
    about: Mapping[str, str] = {}


def component(
    addresses: AddressMap,
    name: str,
    about: str,
    ports: Sequence[PhysicalPort],
    buses: Sequence[Bus],
    files: Iterable[str],
) -> str:
    """The document of a build.

    Args:
        name: of the top module, of which a wrapper `<name>_axi` is the component's.
        about: what it computes, in a line.
        files: the Verilog, from the folder of the document.
    """
    root = _element(
        "component",
        _text("vendor", "samhw"),
        _text("library", "user"),
        _text("name", name),
        _text("version", "1.0"),
        _element("busInterfaces", *map(_bus, buses)),
        _spaces(buses),
        _element("memoryMaps", _memory_map(addresses)),
        _model(name, ports),
        _element("fileSets", _file_set(files)),
        _text("description", about),
        _element("parameters", _parameter("Component_Name", name)),
    )
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _element(name: str, /, *children: Element | None, **attributes: str) -> Element:
    found = Element(_named(name), {_named(key): value for key, value in attributes.items()})
    found.extend(child for child in children if child is not None)
    return found


def _text(name: str, text: object, /, **attributes: str) -> Element:
    found = _element(name, **attributes)
    found.text = str(text)
    return found


def _named(name: str) -> str:
    return f"{{{_SPIRIT}}}{name}"


def _parameter(name: str, value: object, kind: str = "parameter") -> Element:
    return _element(kind, _text("name", name), _text("value", value))


def _bus(bus: Bus) -> Element:
    library, kind = _BUSES[bus.kind]
    type_of = {"vendor": "xilinx.com", "library": library, "version": "1.0"}
    refers = {"slave": ("memoryMapRef", bus.name), "master": ("addressSpaceRef", bus.name)}
    reference, to = refers[bus.way]
    ports = (
        _element(
            "portMap",
            _element("logicalPort", _text("name", logical)),
            _element("physicalPort", _text("name", physical)),
        )
        for logical, physical in bus.ports.items()
    )
    return _element(
        "busInterface",
        _text("name", bus.name),
        _element("busType", name=kind, **type_of),
        _element("abstractionType", name=f"{kind}_rtl", **type_of),
        _element(bus.way, _element(reference, **{reference: to}) if kind == "aximm" else None),
        _element("portMaps", *ports),
        _element("parameters", *(_parameter(*pair) for pair in bus.about.items())) if bus.about else None,
    )


def _spaces(buses: Sequence[Bus]) -> Element | None:
    """What masters reach."""
    spaces = [
        _element("addressSpace", _text("name", bus.name), _text("range", "4G"), _text("width", 32))
        for bus in buses
        if (bus.kind, bus.way) == ("aximm", "master")
    ]
    return _element("addressSpaces", *spaces) if spaces else None


# The map of the host's port.


def _memory_map(addresses: AddressMap) -> Element:
    registers = [*_registers(addresses)]
    end = addresses.counters.stop or addresses.interrupts.stop
    blocks = [_block("registers", 0, end, "register", "", *(_register(*one) for one in registers))]
    names = identifiers(addresses.windows)
    for name, window in addresses.windows.items():
        access = "write-only" if window.memory.role is MemoryRole.INPUT else "read-only"
        blocks.append(_block(names[name], window.base, 4 * max(window.words, 1), "memory", access))
    if addresses.sdram is not None:
        blocks.append(_block("sdram", addresses.sdram, addresses.sdram, "memory", "read-write"))
    return _element("memoryMap", _text("name", "s_axi"), *blocks, _text("addressUnitBits", 8))


def _block(name: str, base: int, size: int, usage: str, access: str, *registers: Element) -> Element:
    return _element(
        "addressBlock",
        _text("name", name),
        _text("baseAddress", f"0x{base:x}"),
        _text("range", f"0x{size:x}"),
        _text("width", 32),
        _text("usage", usage),
        _text("access", access) if access else None,
        *registers,
    )


def _registers(addresses: AddressMap) -> Iterator[tuple[str, int, int, bool]]:
    """The name, the address and the number of words of each, and whether the host writes it."""
    yield from ((register.name, register, 1, register in _WRITTEN) for register in Register)
    fixed, named = addresses.design.fixed, identifiers(addresses.extents)
    for index, address in addresses.extents.items():
        yield f"EXTENT_{named[index]}", address, 1, index not in fixed
    for what, words in (
        ("REGION_CYCLES", addresses.region_cycles),
        ("CHANNEL_STATES", addresses.channel_states),
    ):
        if words:
            yield what, words.start, len(words), False
    for what, address in zip(("INTERRUPT_ENABLE", "INTERRUPTS"), addresses.interrupts, strict=False):
        yield what, address, 1, True
    if addresses.counters:
        count = (addresses.counters.stop - addresses.counters.start) // 4
        yield "COUNTERS", addresses.counters.start, count, False


def _register(name: str, address: int, words: int, is_written: bool) -> Element:
    return _element(
        "register",
        _text("name", name),
        _text("dim", words) if words > 1 else None,
        _text("addressOffset", f"0x{address:x}"),
        _text("size", 32),
        _text("access", "read-write" if is_written else "read-only"),
        _element(
            "field",
            _text("name", "value"),
            _text("bitOffset", 0),
            _text("bitWidth", 32),
        ),
    )


# The module.


def _model(name: str, ports: Sequence[PhysicalPort]) -> Element:
    view = _element(
        "view",
        _text("name", "verilog"),
        _text("envIdentifier", "verilogSource::"),
        _text("language", "verilog"),
        _text("modelName", f"{name}_axi"),
        _element("fileSetRef", _text("localName", "verilog")),
    )
    width = _element(
        "modelParameter",
        _text("name", _WIDTH),
        _text("value", 32, id=f"MODELPARAM_VALUE.{_WIDTH}", format="long", resolve="generated"),
        dataType="integer",
    )
    return _element(
        "model",
        _element("views", view),
        _element("ports", *map(_port, ports)),
        _element("modelParameters", width),
    )


def _port(port: PhysicalPort) -> Element:
    if port.width == 0:
        expression = f"(spirit:decode(id('MODELPARAM_VALUE.{_WIDTH}')) - 1)"
        left = _text("left", 31, format="long", resolve="dependent", dependency=expression)
    else:
        left = _text("left", port.width - 1)
    is_vector = port.width != 1
    vector = _element("vector", left, _text("right", 0)) if is_vector else None
    direction = {"input": "in", "output": "out"}[port.way]
    return _element("port", _text("name", port.name), _element("wire", _text("direction", direction), vector))


def _file_set(files: Iterable[str]) -> Element:
    every = (_element("file", _text("name", path), _text("fileType", "verilogSource")) for path in files)
    return _element("fileSet", _text("name", "verilog"), *every)
