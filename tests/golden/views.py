"""What samhw makes of programs, nodes, modules and words of commands, as texts: of each there is a digest."""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.cli.after import graph_text
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.cost.area import estimate_area
from samhw.cost.components import FAMILIES
from samhw.graph import HostOptions, OffChipLayout, Ports
from samhw.graph.numerics import value_type
from samhw.hls.emit import Options, emit
from samhw.targets.backends import run
from tests.support.nodes import ARCH, GRAPH, NODES

__all__ = ["VIEWS", "made_by", "texts"]

EXAMPLES = Path(__file__).parents[2] / "examples"

DESIGNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "spmm": ("karate", "i32", {}),
    "spmv": ("auto", "fixed<16,8>", {"lanes": {"i": 2}}),
    "spmspm_kij": ("auto", "f8e4m3", {}),
    "sddmm": ("karate", "bf16", {"lanes": {"i": 2}}),
    "pruned_linear": ("auto", "f32", {}),
    "plus3": ("auto", "i8", {}),
    "mttkrp": ("auto", "i16", {}),
    "rgcn": ("auto", "f32", {}),
    "sparse_convolution": ("auto", "f32", {}),
    "gat": ("auto", "f32", {"fuse": "full"}),
    "gcn_softmax": ("auto", "f32", {"fuse": "none"}),
    "gpt3_block": ("auto", "f32", {}),
    "bigbird_attention": ("auto", "f32", {}),
    "message_passing.ein": ("auto", "f32", {}),
    "multi_head_attention.ein": ("auto", "f32", {}),
    "rotary.ein": ("auto", "f32", {}),
    "stacked_lstm.ein": ("auto", "f32", {}),
    "dilated_rnn.ein": ("auto", "fixed<20,10>", {}),
    "convolution.ein": ("auto", "f32", {}),
    "hypergraph.ein": ("auto", "f32", {}),
    "decay.ein": ("auto", "f32", {}),
    "compositing.ein": ("auto", "f32", {}),
    "ragged_product.ein": ("auto", "f32", {}),
}
"""Programs with their data, value type and schedule."""

COMMANDS = (
    "compile bigbird_attention --data auto --mlir -",
    "compile EXAMPLES/pytorch/models.py:selective_scan --after slice_steps",
    "compile EXAMPLES/mlir/transformer_block.mlir --after depths",
    "run sddmm --data karate --lanes i=2 --stats",
    "run spmv --data karate --schedule auto --json -",
    "compare spmv --data karate",
    "run gcn --data karate --memory ddr4 --clock 125MHz --energy --report OUT",
    "run spmm --data karate --lanes i=4 --deal i=ranges --json -",
    "run sddmm --data karate --trace OUT/tokens.vcd",
    "run EXAMPLES/nested/stacked_lstm.py:example --json -",
    "run EXAMPLES/mlir/transformer_block.mlir --fuse none --json -",
    "accuracy gcn --data karate",
    "accuracy spmv --data karate",
    "sweep EXAMPLES/sweep.toml -o OUT/points.csv --report OUT/page",
    "compile gcn --table --channels --data karate",
    "build spmv --data karate --target vitis-hls -o OUT",
    "build plus3 --data auto --target vitis-hls --on-chip none -o OUT",
    "build plus3 --data auto --target verilog -o OUT",
    "build gcn --data karate --target vitis-hls --fuse none --value fixed<16,8> -o OUT",
    "compile spmm --data karate --schedule auto --area luts=30000,brams=100",
    "compile spmspm_ijk --data random:size=20 --schedule auto",
    "compile mttkrp --data random:size=6 --schedule auto --area LFE5U-85F",
    "compile gcn --data karate --interleave X --lanes i=2 --after depths",
    "compile spmv --data random:size=40 --split B=even(3) --table",
    "compile EXAMPLES/decay.ein --json -",
    "compare sddmm --data karate --lanes i=1 --lanes i=2 --csv -",
    "compare spmm --data random:size=12 --value f8e4m3",
    "correlate spmv --data karate --json -",
    "run sddmm --data karate --memory constant:20 --on-chip 1KB --stats",
    "run spmm --data karate --memory random:3 --lanes i=2 --json -",
    "run spmm --data karate --types A=i8,X=i8 --stats",
    "run spmv --data random:size=40 --split B=even(3) --json -",
    "run mttkrp --data random:size=6 --value f8e5m2 --report OUT",
    "run gcn --data karate --fuse none --parallel all --json -",
    "run EXAMPLES/rotary.ein --data auto --permute --stats",
    "tune spmm --data karate --error 0.01 --value f32 --objective area -o OUT/front.csv",
    "run EXAMPLES/mlir/gcn.mlir --stats",
    "build EXAMPLES/dilated_rnn.ein --data auto --target vitis-hls --fuse none -o OUT",
    "build EXAMPLES/nested_product.ein --data auto --target vitis-hls --check -o OUT",
    "run EXAMPLES/convolution.ein --data auto --json -",
    "run EXAMPLES/hypergraph.ein --data auto --schedule auto --stats",
    "run EXAMPLES/stacked_lstm.ein --data auto --memory ddr4 --json -",
    "compile spmm --data karate --interleave X --lanes i=4 --estimate",
    "compile spmm --data random:size=32 --interleave X --lanes i=4 --deal i=ranges --estimate --json -",
    "compile gcn --data karate --fuse none --memory ddr4 --estimate",
    "compile bigbird_attention --data auto --estimate --value bf16 --fixed-extents",
)
"""Of the command line: what they print, and write into the folder OUT."""

UNLIKE = (".v", ".journal")
"""Of files that another release of Yosys, or another run, writes in another way."""

PARTS = 8
"""The groups into which go the operators of PyTorch, and networks of ONNX."""

EXPORTED = ("1", "6")
"""The groups of operators that are imported, since their export takes seconds."""

OF: dict[str, tuple[str, ...]] = {
    "graph": tuple(DESIGNS),
    "hls": tuple(DESIGNS),
    "area": tuple(DESIGNS),
    "result": tuple(name for name in DESIGNS if name not in ("gpt3_block", "bigbird_attention")),
    "rtl": ("spmv", "ragged_product.ein"),
    "rtl off chip": ("plus3",),
    "component": tuple(dict.fromkeys(node.kind for node in NODES)),
    "command": COMMANDS,
    "torch": EXPORTED,
    "onnx": tuple(map(str, range(PARTS))),
}
"""What is made of which designs, since elaboration and long runs take seconds; of which kinds of nodes; of
which words; and of which operators."""

UNEQUAL = re.compile(
    r"[\d.,]+ m?s\b|\"\w*seconds\": ?[\d.e-]+|\d\.\d+(?=,right)"
    r"|\"(?:python|numpy|samhw|date|commit)\": ?(?:\"[^\"]*\"|null)|samhw \d[\w.+]*"
    r"|\d{4}-\d\d-\d\dT[\d:+]+|(?:python|numpy) \d[\w.]+|\b[0-9a-f]{32}\b"
    r"|samhw: [^\n]* has worked for [^\n]*\n"
)
"""What is not the same in each run, or for other code: times, versions, and keys."""


@cache
def workload(name: str) -> Workload:
    program = str(EXAMPLES / name) if "." in name else name
    return bind_program(program, [DESIGNS[name][0]])


@cache
def compiled(name: str) -> Compiled:
    _, value, schedule = DESIGNS[name]
    return compile_workload(workload(name), Schedule(**schedule), value=value_type(value))


def graph(name: str) -> str:
    return graph_text(compiled(name))


def rtl(
    name: str, host: str = "axi4,interrupt,recovery,counters", layout: OffChipLayout | None = None
) -> str:
    """Amaranth's own text: Yosys takes longer for its Verilog."""
    from amaranth.back import rtlil

    from samhw.rtl.top import Top
    from samhw.rtl.verilog_platform import VerilogPlatform

    design, platform = compiled(name), VerilogPlatform("top")
    top = Top(
        design.design,
        design.arch,
        own_clock=True,
        host=HostOptions.parse(host),
        layout=layout,
    )
    text: str = rtlil.convert(top, name="top", platform=platform, emit_src=False)
    return text + platform.rtlil + platform.text


def rtl_off_chip(name: str) -> str:
    """With ports and masters for all arrays."""
    design = compiled(name)
    arrays = dict.fromkeys((memory.name for memory in design.design.memories), 0)
    return rtl(name, "axi4", OffChipLayout(design.design, design.arch, Ports(), arrays))


def hls(name: str) -> str:
    design = compiled(name)
    return json.dumps(emit(design.design, design.arch, Options(one_top=True)))


def area(name: str) -> str:
    design = compiled(name)
    return "\n".join(repr(estimate_area(design.design, design.arch, family)) for family in FAMILIES)


def result(name: str) -> str:
    """The values and the cycles of the simulator."""
    found = run(compiled(name), workload(name).tensors)
    values = {key: tensor.to_dense().tolist() for key, tensor in found.outputs.items()}
    return repr(([region.cycles for region in found.regions], values))


def command(words: str) -> str:
    with TemporaryDirectory() as folder:
        done = CliRunner().invoke(
            main, words.replace("EXAMPLES", str(EXAMPLES)).replace("OUT", folder).split()
        )
        assert done.exit_code == 0, done.output
        files = sorted(
            path for path in Path(folder).rglob("*") if path.is_file() and path.suffix not in UNLIKE
        )
        written = "".join(f"{path}\n{path.read_text('utf-8', 'replace')}\n" for path in files)
        text = (done.output + written).replace(str(EXAMPLES), "EXAMPLES").replace(folder, "OUT")
        return UNEQUAL.sub("", text)


def components(kind: str) -> str:
    """Amaranth's text of the nodes of a kind."""
    from amaranth.back import rtlil

    from samhw.rtl.actor import component

    return "".join(
        rtlil.convert(component(node, GRAPH, ARCH, stall_port=False), emit_src=False)
        for node in NODES
        if node.kind == kind
    )


def operators(part: str) -> str:
    """The program of a module with operators of docs/pytorch.md side by side."""
    from samhw.importers.torch import import_module
    from tests.importers.torch.cases import CASES, Draw, Several

    draw = Draw(int(part))
    names = sorted(CASES)[int(part) :: PARTS]
    module = Several([CASES[name](draw) for name in names])
    return import_module(module.eval(), draw.arguments).program.text


def networks(part: str) -> str:
    """The programs of networks that are drawn."""
    from samhw.importers.onnx import import_model, read_model
    from tests.importers.onnx.networks import drawn_network

    drawn = [drawn_network(seed) for seed in range(int(part), 12 * PARTS, PARTS)]
    return "".join(import_model(read_model(model), data).program.text for model, data in drawn)


VIEWS: dict[str, Callable[[str], str]] = {
    "graph": graph,
    "rtl": rtl,
    "rtl off chip": rtl_off_chip,
    "component": components,
    "hls": hls,
    "area": area,
    "result": result,
    "command": command,
    "torch": operators,
    "onnx": networks,
}


def texts() -> list[tuple[str, str]]:
    """A view, and what it is of."""
    return [(view, name) for view, names in OF.items() for name in names]


def made_by(view: str) -> str:
    """What else has a part in a text, since another release may give another one: Amaranth finds the names of
    signals in Python's own code."""
    if view.startswith(("rtl", "component")):
        return f" (Python {sys.version_info[1]}, amaranth {version('amaranth')})"
    return f" (torch {version('torch').split('+')[0]})" if view in ("command", "torch") else ""
