"""Streams and cycles worked out by hand from the tables of docs/primitives.md.

Token k of each input is pushed in cycle k, so the primitive may take it in cycle k + 1. Outputs are written
`token@cycle`. Latencies are those of `WORKED`: memory 2, locate 4, and of integers neg, max, add 2, mul 4;
others 1. Sums of floating point have a page of their own, test_block_sum.py.
"""

import re
from typing import Any

import numpy as np
import pytest

from samhw.errors import InputError, RunError
from samhw.graph import Arch, latency, make
from samhw.graph.numerics import ALL_OPERATIONS, value_type
from samhw.graph.spec import kinds
from tests.support.bench import Bench, bench_primitive
from tests.support.streams import tokens, written
from tests.support.worked import WORKED


def bench(kind: str, depth: int, params: dict[str, Any], inputs: dict[str, str], **data: Any) -> Bench:
    node = make(kind, "n", depth, **params)
    deep = {port.name: 99 for port in (*node.inputs, *node.outputs)}
    timed = {name: list(enumerate(tokens(text))) for name, text in inputs.items()}
    memories = {name: np.array(words) for name, words in data.pop("memories", {}).items()}
    arch = data.pop("arch", WORKED)
    data.setdefault("extents", {"x": 9})
    return bench_primitive(node, arch, timed, memories, input_depths=deep, output_depths=deep, **data)


CASES = {
    "root": ("root", 0, {}, {}, {}, {"out": "0@2 D@3"}),
    "step_ref: the step before": (
        *("step_ref", 0, {"repeat": "t", "offset": -1, "extent": "i"}, {}, {"extents": {"t": 3, "i": 4}}),
        {"ref": "2@2 D@3"},
    ),
    "step_ref: there is none": (
        *("step_ref", 0, {"repeat": "t", "offset": -1, "extent": "i"}, {}, {"extents": {"t": 0, "i": 4}}),
        {"ref": "N@2 D@3"},
    ),
    "step_ref: down": (
        *("step_ref", 0, {"repeat": "t", "offset": 1, "extent": "i", "down": "i"}, {}),
        *({"extents": {"t": 1, "i": 4}}, {"ref": "3@2 D@3"}),
    ),
    "step_ref: a tensor of one step": (
        *("step_ref", 0, {"repeat": "t", "offset": -2}, {}, {"extents": {"t": 2}}, {"ref": "0@2 D@3"}),
    ),
    "scan_dense: an EMPTY last": (
        # scale fires in 1 to 4, walk sees its tokens from 5 on
        *("scan_dense", 1, {"extent": "i"}, {"ref": "1 N S0 D"}, {"extents": {"i": 2}}),
        {"crd": "0@6 1@7 S0@8 S1@9 D@10", "ref": "2@6 3@7 S0@8 S1@9 D@10"},
    ),
    "scan_compressed: an empty fiber first costs a cycle more": (
        *("scan_compressed", 1, {"pos": "p", "crd": "c", "extent": "x"}, {"ref": "1 0 2 S0 D"}),
        {"memories": {"p": [0, 2, 2, 3], "c": [4, 7, 1]}},
        {"crd": "S0@6 4@7 7@8 S0@9 1@10 S1@11 D@12", "ref": "S0@5 0@6 1@7 S0@8 2@9 S1@10 D@11"},
    ),
    "scan_compressed: empty fibers in the middle and last": (
        *("scan_compressed", 1, {"pos": "p", "crd": "c", "extent": "x"}, {"ref": "0 1 0 1 S0 D"}),
        {"memories": {"p": [0, 1, 1], "c": [6]}},
        {"crd": "6@5 S0@6 S0@7 6@8 S0@9 S1@10 D@11", "ref": "0@4 S0@5 S0@6 0@7 S0@8 S1@9 D@10"},
    ),
    "scan_compressed: no fiber": (
        *("scan_compressed", 2, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "S0 S1 D"}, {"memories": {"p": [0], "c": []}}),
        {"crd": "S1:1@5 S1:2@6 D@7", "ref": "S1:1@4 S1:2@5 D@6"},
    ),
    "scan_singleton": (
        *("scan_singleton", 1, {"crd": "c", "extent": "x"}, {"ref": "1 0 S0 D"}, {"memories": {"c": [5, 6]}}),
        {"crd": "6@3 S0@4 5@5 S1@6 D@7", "ref": "1@2 S0@3 0@4 S1@5 D@6"},
    ),
    "scan_ell: padding costs nothing": (
        # fetch fires in 1 to 5, walk sees its tokens from 4 on
        *("scan_ell", 1, {"cnt": "n", "crd": "c", "width": 2, "extent": "x"}, {"ref": "0 1 2 S0 D"}),
        {"memories": {"n": [2, 0, 1], "c": [4, 7, 0, 0, 1, 0]}},
        {"crd": "4@6 7@7 S0@8 S0@9 1@10 S1@11 D@12", "ref": "0@5 1@6 S0@7 S0@8 4@9 S1@10 D@11"},
    ),
    "scan_ragged": (
        *("scan_ragged", 1, {"pos": "p", "extent": "x"}, {"ref": "0 1 2 S0 D"}),
        {"memories": {"p": [0, 2, 2, 3]}},
        {"crd": "0@4 1@5 S0@6 S0@7 0@8 S1@9 D@10", "ref": "0@4 1@5 S0@6 S0@7 2@8 S1@9 D@10"},
    ),
    "scan_dia: a diagonal outside of the matrix costs a cycle": (
        # walk sees the rows from 3 on, and keep what lies on diagonals from 6 on
        *("scan_dia", 1, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}, {"ref": "0 2 S0 D"}),
        {"memories": {"n": [3], "o": [2**32 - 1, 0, 2]}, "extents": {"x": 3}},
        {"crd": "0@8 2@9 S0@10 1@11 2@12 S1@14 D@15", "ref": "3@8 6@9 S0@10 2@11 5@12 S1@14 D@15"},
    ),
    "scan_dia: a row without coordinates": (
        *("scan_dia", 1, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}, {"ref": "0 1 S0 D"}),
        {"memories": {"n": [1], "o": [2**32 - 1]}, "extents": {"x": 3}},
        {"crd": "S0@8 0@9 S1@10 D@11", "ref": "S0@8 1@9 S1@10 D@11"},
    ),
    "repeat: a bubble for the empty fiber at the end": (
        *("repeat", 1, {"payload": "ref"}, {"ref": "7 N 8 S0 D", "crd": "1 2 S0 3 S0 S1 D"}, {}),
        {"ref": "7@2 7@3 S0@4 N@5 S0@6 S1@8 D@9"},
    ),
    "repeat: an empty fiber elsewhere": (
        *("repeat", 1, {"payload": "val"}, {"ref": "7 8 S0 D", "crd": "S0 3 S1 D"}, {}),
        {"ref": "S0@2 8@3 S1@4 D@5"},
    ),
    "crd_hold: a list without fibers": (
        *("crd_hold", 2, {}, {"outer": "S0 4 S1 D", "inner": "S1:1 9 S2 D"}, {}),
        {"crd": "S1:1@2 4@3 S2@4 D@5"},
    ),
    "locate": (
        *("locate", 0, {"extent": "i"}, {"ref": "2 D", "crd": "3 4 S0 D"}, {"extents": {"i": 10}}),
        {"ref": "23@5 24@6 S0@7 D@8"},
    ),
    "locate: EMPTY": (
        *("locate", 1, {"extent": "i"}, {"ref": "N 2 S0 D", "crd": "3 S0 4 S1 D"}, {"extents": {"i": 10}}),
        {"ref": "N@5 S0@6 24@7 S1@8 D@9"},
    ),
    "pick": (
        *("pick", 1, {"crd": "c", "extent": "i"}, {"at": "2 0 S0 D", "ref": "1 3 S0 D"}),
        {"memories": {"c": [4, 0, 9]}, "extents": {"i": 10}},
        {"ref": "19@7 34@8 S0@9 D@10"},
    ),
    "pick: EMPTY": (
        *("pick", 1, {"crd": "c", "extent": "i"}, {"at": "N 1 N S0 D", "ref": "1 N N S0 D"}),
        {"memories": {"c": [4, 0, 9]}, "extents": {"i": 10}},
        {"ref": "N@7 N@8 N@9 S0@10 D@11"},
    ),
    "shift": (
        *("shift", 2, {"extent": "i"}, {"crd": "0 4 S0 S1 D"}, {"extents": {"i": 10}}),
        {"crd": "10@2 14@3 S0@4 S1@5 D@6"},
    ),
    "shift: sums wrap": (
        *("shift", 1, {"extent": "i"}, {"crd": "0 4 S0 D"}, {"extents": {"i": (1 << 32) - 3}}),
        {"crd": "4294967293@2 1@3 S0@4 D@5"},
    ),
    "scatter: each list begins with lane 0": (
        *("scatter", 2, {"lanes": 2, "payload": "ref"}, {"ref": "1 N 3 S0 4 S1 D"}, {}),
        {"ref0": "1@2 3@4 S0@5 4@6 S1@7 D@8", "ref1": "N@3 S0@5 S1@7 D@8"},
    ),
    "gather: payloads": (
        *("gather", 2, {"lanes": 2, "levels": 0, "payload": "ref"}),
        *({"ref0": "1 3 S0 4 S1 D", "ref1": "N S0 S1 D"}, {}),
        {"ref": "1@2 N@3 3@4 S0@5 4@6 S1@7 D@8"},
    ),
    "gather: the last row is not that of the first lane whose list is over": (
        *("gather", 2, {"lanes": 2, "levels": 1, "payload": "val"}),
        *({"ref0": "1 2 S0 4 S1 D", "ref1": "3 S1 D"}, {}),
        {"ref": "1@2 2@3 S0@4 3@5 S0@6 4@7 S1@8 D@9"},
    ),
    "gather: fewer rows than lanes, an empty one last": (
        *("gather", 3, {"lanes": 3, "levels": 1, "payload": "crd"}),
        # Lists of two rows, of none, and of one.
        *({"ref0": "7 S1 S1:1 S2 D", "ref1": "S1 S1:1 S1:2 D", "ref2": "S1:1 S1:1 S1:2 D"}, {}),
        {"ref": "7@2 S0@3 S1@4 S1:1@5 S2@6 D@7"},
    ),
    "gather: rows of two levels": (
        *("gather", 3, {"lanes": 2, "levels": 2, "payload": "ref"}),
        *({"ref0": "1 S0 2 S1 S1:2 D", "ref1": "3 S2 D"}, {}),
        # A row without lists is the last one.
        {"ref": "1@2 S0@3 2@4 S1@5 3@6 S1@7 S1:2@8 D@9"},
    ),
    "gather: no list": (
        *("gather", 3, {"lanes": 2, "levels": 1, "payload": "ref"}),
        *({"ref0": "S2:2 D", "ref1": "S2:2 D"}, {}),
        {"ref": "S2:2@2 D@3"},
    ),
    "intersect": (
        *("intersect", 1, {"inputs": 2, "payloads": ["ref", "val"]}),
        {"crd0": "1 3 5 S0 D", "ref0": "10 30 50 S0 D", "crd1": "3 4 S0 D", "ref1": "31 41 S0 D"},
        {},
        {"crd": "3@3 S0@6 D@7", "ref0": "30@3 S0@6 D@7", "ref1": "31@3 S0@6 D@7"},
    ),
    "intersect: all that lag are dropped together": (
        *("intersect", 1, {"inputs": 3, "payloads": ["ref", "ref", "ref"]}),
        {"crd0": "1 9 S0 D", "ref0": "1 2 S0 D", "crd1": "2 9 S0 D", "ref1": "3 4 S0 D"}
        | {"crd2": "9 S0 D", "ref2": "N S0 D"},
        {},
        {"crd": "9@3 S0@4 D@5", "ref0": "2@3 S0@4 D@5", "ref1": "4@3 S0@4 D@5", "ref2": "N@3 S0@4 D@5"},
    ),
    "union": (
        *("union", 1, {"inputs": 2, "payloads": ["ref", "crd"]}),
        {"crd0": "1 3 5 S0 D", "ref0": "10 30 50 S0 D", "crd1": "3 4 S0 D", "ref1": "31 41 S0 D"},
        {},
        {
            "crd": "1@2 3@3 4@4 5@5 S0@6 D@7",
            "ref0": "10@2 30@3 N@4 50@5 S0@6 D@7",
            "ref1": "N@2 31@3 41@4 N@5 S0@6 D@7",
        },
    ),
    "array": (
        *("array", 1, {"vals": "v"}, {"ref": "1 N 0 S0 D"}, {"memories": {"v": [9, 8]}}),
        {"val": "8@3 0@4 9@5 S0@6 D@7"},
    ),
    "alu: mul": (
        *("alu", 1, {"op": "mul"}, {"a": "2 N S0 D", "b": "3 5 S0 D"}, {}),
        {"val": "6@5 0@6 S0@7 D@8"},
    ),
    "matmul: single values": (
        *("matmul", 1, {"shape": [], "over": [], "a": [], "b": []}, {"a": "2 N S0 D", "b": "3 5 S0 D"}, {}),
        {"val": "6@5 0@6 S0@7 D@8"},
    ),
    # Blocks of i8, the first element in the lowest bits: 1 2 and 3 4 are 0x0201 and 0x0403.
    "matmul: two by two": (
        *("matmul", 1, {"shape": [2, 2], "over": [2], "a": [0, 2], "b": [2, 1], "value": "i8"}),
        *({"a": "0x04030201 N S0 D", "b": "0x08070605 1 S0 D"}, {}),
        {"val": f"{0x322B1613}@7 0@8 S0@9 D@10"},  # 19 22, 43 50
    ),
    "alu: a vector along the rows of a block": (
        *("alu", 1, {"op": "sub", "shape": [2, 2], "axes": {"b": [1]}, "value": "i8"}),
        *({"a": "0x04030201 N S0 D", "b": "0x0301 0x0100 S0 D"}, {}),
        {"val": f"{0x0102FF00}@3 {0xFF00FF00}@4 S0@5 D@6"},  # 1-1 2-3, 3-1 4-3
    ),
    "fold: the rows of a block": (
        *("fold", 1, {"op": "max", "shape": [2, 3], "over": [1], "value": "i8"}),
        *({"block": "0x020605040301 N S0 D"}, {}),
        {"val": f"{0x0604}@5 0@6 S0@7 D@8"},
    ),
    "reduce_scalar: blocks": (
        *("reduce_scalar", 1, {"op": "sum", "shape": [2], "value": "i8"}),
        *({"val": "0x0201 N 0x0403 S0 D"}, {}),
        {"val": f"{0x0604}@6 D@7"},
    ),
    "drop_val: blocks": (
        *("drop_val", 1, {"shape": [2], "value": "i8"}),
        *({"crd": "1 2 3 4 S0 D", "val": "0x0100 0 N 0x0002 S0 D"}, {}),
        {"crd": "1@2 4@5 S0@6 D@7", "val": f"{0x0100}@2 {0x0002}@5 S0@6 D@7"},
    ),
    "alu: sub an immediate": (
        *("alu", 1, {"op": "sub", "immediates": {"b": 5}}, {"a": "7 4 S0 D"}, {}),
        {"val": "2@3 4294967295@4 S0@5 D@6"},
    ),
    "alu: sub from an immediate": (
        *("alu", 1, {"op": "sub", "immediates": {"a": 5}}, {"b": "3 N S0 D"}, {}),
        {"val": "2@3 5@4 S0@5 D@6"},
    ),
    "alu: an immediate in value space": (
        *("alu", 0, {"op": "mul", "immediates": {"b": 1.5}}, {"a": "256 D"}, {"value": "fixed<16,8>"}),
        {"val": "384@5 D@6"},
    ),
    "alu: neg": ("alu", 1, {"op": "neg"}, {"a": "1 N S0 D"}, {}, {"val": "4294967295@3 0@4 S0@5 D@6"}),
    "alu: three operands": (
        *("alu", 1, {"op": "select"}, {"a": "1 0 N S0 D", "b": "5 6 7 S0 D", "c": "8 9 N S0 D"}, {}),
        {"val": "5@3 9@4 0@5 S0@6 D@7"},
    ),
    "alu: two of three operands": (
        *("alu", 1, {"op": "select", "immediates": {"b": -1}}, {"a": "1 0 S0 D", "c": "8 9 S0 D"}, {}),
        {"val": "4294967295@3 9@4 S0@5 D@6"},
    ),
    "alu: a type of its own, with the latency of f32": (
        # 1.5 * 1.5 = 2.25
        *("alu", 0, {"op": "mul", "value": "f32"}, {"a": "1069547520 D", "b": "1069547520 D"}, {}),
        {"val": "1074790400@7 D@8"},
    ),
    "alu: widened, with the latency of i32": (
        # -128 * -128
        *("alu", 0, {"op": "mul", "value": "i8", "to": "i32"}, {"a": "128 D", "b": "128 D"}, {}),
        {"val": "16384@5 D@6"},
    ),
    "alu: widened, with the latency of f32": (
        # 1 + 2**-7 + 2**-15 has more digits than bf16; add takes 8 cycles in f32, 6 in bf16.
        *("alu", 0, {"op": "add", "value": "bf16", "to": "f32"}, {"a": "16257 D", "b": "14336 D"}, {}),
        {"val": "1065419008@9 D@10"},
    ),
    "alu: convert, with the latency of the operand's type": (
        # 2.5 rounds to even
        *("alu", 1, {"op": "convert", "value": "f32", "to": "i8"}, {"a": "1075838976 N S0 D"}),
        *({"arch": Arch(alu={"f32": {"convert": 5}})},),
        {"val": "2@6 0@7 S0@8 D@9"},
    ),
    "alu: scale": (
        # 5 * 3 / 2 = 7.5 and 3 * 3 / 2 = 4.5 to even; 300 saturates; -1.5
        *("alu", 1, {"op": "scale", "to": "i8", "immediates": {"b": 3, "c": 1}}),
        *({"a": "5 3 300 4294967295 S0 D"}, {}, {"val": "8@7 4@8 127@9 254@10 S0@11 D@12"}),
    ),
    "alu: scale of streams": (
        # 5 * 3 / 2 = 7.5 to even; 10 * 5 / 8 = 6.25
        *("alu", 1, {"op": "scale", "to": "i8"}),
        *({"a": "5 10 S0 D", "b": "3 5 S0 D", "c": "1 3 S0 D"}, {}, {"val": "8@7 6@8 S0@9 D@10"}),
    ),
    "reduce_scalar": (
        *("reduce_scalar", 2, {"op": "sum"}, {"val": "1 2 S0 S0 3 S1 D"}, {}),
        {"val": "3@5 0@6 3@8 S0@9 D@10"},
    ),
    "reduce_scalar: max of a negative and an EMPTY": (
        *("reduce_scalar", 1, {"op": "max"}, {"val": "4294967295 N S0 D"}, {}),
        {"val": "0@5 D@6"},
    ),
    "reduce_scalar: max of a negative": (
        *("reduce_scalar", 1, {"op": "max"}, {"val": "4294967295 S0 D"}, {}),
        {"val": "4294967295@4 D@5"},
    ),
    "reduce_scalar: no fiber": (
        *("reduce_scalar", 2, {"op": "sum"}, {"val": "S1:1 D"}, {}),
        {"val": "S0@3 D@4"},
    ),
    "running": (
        # a cycle to take each, two until it is there
        *("running", 1, {"op": "sum"}, {"val": "1 2 N S0 D"}, {}),
        {"val": "1@3 3@4 3@5 S0@6 D@7"},
    ),
    "running: exclusive": (
        *("running", 2, {"op": "max", "exclusive": True}, {"val": "4294967295 2 S0 S0 5 S1 D"}, {}),
        {"val": "0@4 4294967295@5 S0@6 S0@7 0@8 S1@9 D@10"},
    ),
    "running: a product": (
        # in the four cycles of each multiplication: spread in 1, 5 and 9, add in 13; of the end also chain in
        # 16, and add in 20
        *("running", 1, {"op": "prod"}, {"val": "2 3 S0 D"}, {}),
        {"val": "2@17 6@18 S0@19 D@24"},
    ),
    "running: a product of more than a block": (
        # the block is whole at spread2 in 16, at chain in 20; the ninth element has its carry in 24, and the
        # loop, too, is back then, so that chain sees the end in 25 and add in 29
        *("running", 1, {"op": "prod"}, {"val": "2 1 1 1 1 1 1 1 3 S0 D"}, {}),
        {"val": "2@17 2@18 2@19 2@20 2@21 2@22 2@23 2@24 6@28 S0@29 D@33"},
    ),
    "recur": (
        # spread in 1, 6, 11 and 16, add in 21; of the end also chain in 24, and add in 29
        *("recur", 1, {}, {"factor": "5 2 S0 D", "val": "3 1 S0 D"}, {}),
        {"val": "3@26 7@27 S0@28 D@34"},
    ),
    "recur: more than a block": (
        # the block is whole at spread3 in 31, at chain in 36; the seventeenth element has its carry in 41,
        # and the loop, too, is back then, so that chain sees the end in 42 and add in 47
        *("recur", 1, {}, dict.fromkeys(("factor", "val"), "1 " * 17 + "S0 D"), {}),
        {"val": " ".join(f"{k + 1}@{26 + k}" for k in range(16)) + " 17@46 S0@47 D@52"},
    ),
    "last": (
        *("last", 2, {}, {"val": "1 2 S0 S0 N S0 3 S1 D"}, {}),
        {"val": "2@4 0@5 0@7 3@9 S0@10 D@11"},
    ),
    "last: no fiber": (*("last", 2, {}, {"val": "S1:1 D"}, {}), {"val": "S0@2 D@3"}),
    "arg": (
        *("arg", 2, {"op": "max"}),
        {"crd": "3 5 8 S0 S0 4 S0 6 7 S1 D", "val": "1 2 2 S0 S0 N S0 N 1 S1 D"},
        {},
        {"val": "5@5 0@6 4@8 7@11 S0@12 D@13"},
    ),
    "arg: the least": (
        *("arg", 1, {"op": "min"}, {"crd": "1 2 3 4 S0 D", "val": "2 4294967295 4294967295 N S0 D"}, {}),
        {"val": "2@6 D@7"},
    ),
    "arg: the first NaN, and -0 as great as 0": (
        *("arg", 2, {"op": "max", "value": "bf16"}),
        {"crd": "1 2 3 4 S0 5 6 S1 D", "val": "16256 32704 32640 32705 S0 32768 N S1 D"},
        {},
        {"val": "2@6 5@9 S0@10 D@11"},
    ),
    "arg: no fiber": (
        *("arg", 2, {"op": "max"}, dict.fromkeys(("crd", "val"), "S1:1 D"), {}),
        {"val": "S0@2 D@3"},
    ),
    "top_k": (
        # A fiber of four, then an empty one, then one of two, whose stop ends the list as well.
        *("top_k", 2, {"op": "max", "gives": "places", "k": 2}),
        {
            "crd": "3 5 8 9 S0 S0 4 6 S1 D",
            "val": "1 2 2 3 S0 S0 N 4294967295 S1 D",
            "rank": "0 1 S0 0 S0 0 1 2 S1 D",
        },
        {},
        {"val": "9@6 5@7 S0@8 0@9 S0@10 4@13 6@14 0@15 S1@16 D@17"},
    ),
    "top_k: the first NaN first, and -0 as great as 0": (
        *("top_k", 1, {"op": "min", "gives": "values", "k": 3, "value": "bf16"}),
        {"crd": "1 2 3 4 S0 D", "val": "16256 32704 32768 0 S0 D", "rank": "0 1 2 S0 D"},
        {},
        {"val": "32704@6 32768@7 0@8 S0@9 D@10"},
    ),
    "top_k: no fiber": (
        *("top_k", 2, {"op": "max", "gives": "values", "k": 1}),
        dict.fromkeys(("crd", "val", "rank"), "S1:1 D"),
        {},
        {"val": "S1:1@2 D@3"},
    ),
    "recur_vector": (
        # five cycles after the first element of its address, the third one fires in 6; flushed in 7, fetch
        # in 13, emit in 16
        *("recur_vector", 2, {"bits": [3]}),
        {"crd0": "1 3 S0 1 S1 D", "factor": "2 7 S0 3 S1 D", "val": "10 20 S0 5 S1 D"},
        {},
        {"crd0": "1@17 3@18 S0@19 D@20", "val": "35@18 20@19 S0@20 D@21"},
    ),
    "reduce_vector: one kept level": (
        # flushed in 5; fetch in 7, iterate in 9 to 12, emit in 10 to 13
        *("reduce_vector", 2, {"op": "sum", "bits": [3]}),
        {"crd0": "1 3 S0 1 S1 D", "val": "10 20 S0 5 S1 D"},
        {},
        {"crd0": "1@11 3@12 S0@13 D@14", "val": "15@12 20@13 S0@14 D@15"},
    ),
    "reduce_vector: two kept levels": (
        *("reduce_vector", 3, {"op": "sum", "bits": [2, 2]}),
        {"crd0": "1 S0 0 1 S2 D", "crd1": "0 S0 2 2 S2 D", "val": "5 S0 6 7 S2 D"},
        {},
        {
            "crd0": "1@11 S0@12 0@13 1@14 S1@15 D@16",
            "crd1": "0@11 2@13 S0@15 D@16",
            "val": "5@12 S0@13 6@14 7@15 S1@16 D@17",
        },
    ),
    "reduce_vector: two banks": (
        # flushed in 2; fetch in 4, iterate in 6 and 7, emit in 7 and 8. The bank comes back in 9, so that the
        # second flush is in 9, the third likewise 7 cycles later
        *("reduce_vector", 3, {"op": "sum", "bits": [2]}),
        *({"crd0": "1 S1 2 S1 3 S2 D", "val": "4 S1 5 S1 6 S2 D"},),
        {},
        {
            "crd0": "1@8 S0@9 2@15 S0@16 3@22 S1@23 D@24",
            "val": "4@9 S0@10 5@16 S0@17 6@23 S1@24 D@25",
        },
    ),
    "reduce_vector: four banks": (
        # flushed in 2, 4 and 6, since three banks are free; fetch two cycles later, iterate in 6, 7, 8, ...
        *("reduce_vector", 3, {"op": "sum", "bits": [2], "banks": 4}),
        *({"crd0": "1 S1 2 S1 3 S2 D", "val": "4 S1 5 S1 6 S2 D"},),
        {},
        {
            "crd0": "1@8 S0@9 2@10 S0@11 3@12 S1@13 D@14",
            "val": "4@9 S0@10 5@11 S0@12 6@13 S1@14 D@15",
        },
    ),
    "reduce_vector: three banks": (
        # the third flush waits for the bank of the first one, which comes back in 9; the value before it goes
        # into a bank that is free since the start
        *("reduce_vector", 3, {"op": "sum", "bits": [2], "banks": 3}),
        *({"crd0": "1 S1 2 S1 3 S2 D", "val": "4 S1 5 S1 6 S2 D"},),
        {},
        {
            "crd0": "1@8 S0@9 2@10 S0@11 3@15 S1@16 D@17",
            "val": "4@9 S0@10 5@11 S0@12 6@16 S1@17 D@18",
        },
    ),
    "reduce_vector: an address again sooner than its sum is there": (
        # 1, S0 in 1, 2; the second 1 waits for 1 + 4, S1 in 6; flushed to fetch in 6 + 5, iterate in 13
        *("reduce_vector", 2, {"op": "sum", "bits": [3]}, {"crd0": "1 S0 1 S1 D", "val": "10 S0 5 S1 D"}),
        *({"arch": Arch(reduce={"integer": {"sum": 4}})},),
        {"crd0": "1@15 S0@16 D@17", "val": "15@16 S0@17 D@18"},
    ),
    "reduce_vector: an address again when its sum is there": (
        # 1, S0, 0, 5, 1 in 1 to 5, S1 in 6
        *("reduce_vector", 2, {"op": "sum", "bits": [3]}),
        {"crd0": "1 S0 0 1 S1 D", "val": "10 S0 7 5 S1 D"},
        {"arch": Arch(reduce={"integer": {"sum": 3}})},
        {"crd0": "0@13 1@14 S0@15 D@16", "val": "7@14 15@15 S0@16 D@17"},
    ),
    "reduce_vector: nothing to sum": (
        *("reduce_vector", 3, {"op": "sum", "bits": [2, 2]}),
        {"crd0": "S2:2 D", "crd1": "S2:2 D", "val": "S2:2 D"},
        {},
        {"crd0": "S1:1@7 D@8", "crd1": "S0@7 D@8", "val": "S1:1@8 D@9"},
    ),
    "drop_crd: in the middle": (
        *("drop_crd", 1, {}, {"outer": "1 2 3 S0 D", "inner": "5 S0 S0 6 S1 D"}, {}),
        {"outer": "1@2 3@5 S0@6 D@8", "inner": "5@2 S0@5 6@6 S1@7 D@8"},
    ),
    "drop_crd: last": (
        *("drop_crd", 1, {}, {"outer": "1 2 S0 D", "inner": "5 S0 S1 D"}, {}),
        {"outer": "1@2 S0@5 D@7", "inner": "5@2 S1@6 D@7"},
    ),
    "drop_crd: all": (
        *("drop_crd", 1, {}, {"outer": "1 2 S0 D", "inner": "S0 S1 D"}, {}),
        {"outer": "S0@4 D@5", "inner": "S1:1@4 D@5"},
    ),
    "drop_val": (
        *("drop_val", 1, {}, {"crd": "1 2 3 S0 D", "val": "0 7 N S0 D"}, {}),
        {"crd": "2@3 S0@5 D@6", "val": "7@3 S0@5 D@6"},
    ),
    "drop_val: a subnormal of a type that has them is not zero": (
        *("drop_val", 1, {"value": "f8e4m3"}, {"crd": "1 2 3 S0 D", "val": "128 1 135 S0 D"}, {}),
        {"crd": "2@3 3@4 S0@5 D@6", "val": "1@3 135@4 S0@5 D@6"},
    ),
    "drop_val: -0 and a subnormal are zero, NaN is not": (
        *("drop_val", 1, {"value": "bf16"}, {"crd": "1 2 3 4 S0 D", "val": "32768 127 128 32704 S0 D"}, {}),
        {"crd": "3@4 4@5 S0@6 D@7", "val": "128@4 32704@5 S0@6 D@7"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_streams_and_cycles(name: str) -> None:
    kind, depth, params, inputs, data, expected = CASES[name]
    outputs = bench(kind, depth, params, inputs, **data).outputs
    shown = {port: written(trace) for port, trace in outputs.items()}
    assert shown == expected


WRITERS = {
    "write_compressed": (
        *("write_compressed", 2, {"pos": "p", "crd": "c"}, {"crd": "1 S0 S0 2 S1 D"}),
        *({"memories": {"p": [0] * 4, "c": [0] * 2}}, 6, {"p": [0, 1, 1, 2], "c": [1, 2]}),
    ),
    "write_compressed: no fiber": (
        *("write_compressed", 2, {"pos": "p", "crd": "c"}, {"crd": "S1:1 D"}),
        *({"memories": {"p": [0], "c": []}}, 2, {"p": [0], "c": []}),
    ),
    "write_dense": (
        *("write_dense", 2, {"extent": "i"}, {"crd": "0 1 S0 0 1 S1 D"}, {"extents": {"i": 2}}, 7, {}),
    ),
    "write_val": (
        *("write_val", 1, {"vals": "v"}, {"val": "4 N S0 D"}, {"memories": {"v": [0] * 9}}, 4, {"v": [4, 0]}),
    ),
    "write_at": (
        *("write_at", 1, {"vals": "v"}, {"ref": "3 0 S0 D", "val": "4 N S0 D"}),
        *({"memories": {"v": [0] * 9}}, 4, {"v": [0, 0, 0, 4]}),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writers(name: str) -> None:
    kind, depth, params, inputs, data, committed, expected = WRITERS[name]
    result = bench(kind, depth, params, inputs, **data)
    assert result.committed == committed
    assert {key: words.tolist() for key, words in result.memories.items()} == expected
    cut = {port: text.removesuffix(" D") for port, text in inputs.items()}
    assert bench(kind, depth, params, cut, **data).committed is None


FAULTS = {
    "scan_compressed: a reference beyond pos": (
        *("scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "1 D"}, {"memories": {"p": [0, 1], "c": [0]}}),
        "range .* cycle 1: .*ref = 1",
    ),
    "scan_compressed: a position beyond crd": (
        *("scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "0 D"}, {"memories": {"p": [0, 2], "c": [0]}}),
        "range .* cycle 4",
    ),
    "scan_compressed: pos decreases": (
        *("scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "0 D"}, {"memories": {"p": [1, 0], "c": [0]}}),
        "protocol .* cycle 3",
    ),
    "scan_compressed: a coordinate beyond the extent": (
        *("scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "0 D"}, {"memories": {"p": [0, 2], "c": [8, 9]}}),
        "range .* cycle 4",
    ),
    "scan_compressed: a coordinate comes again": (
        *("scan_compressed", 1, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "0 1 S0 D"}, {"memories": {"p": [0, 2, 4], "c": [3, 4, 4, 4]}}),
        "protocol .* cycle 7",
    ),
    "scan_compressed: coordinates decrease": (
        *("scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}),
        *({"ref": "0 D"}, {"memories": {"p": [1, 3], "c": [0, 7, 6]}}),
        "protocol .* cycle 4",
    ),
    "scan_ell: more coordinates than there is room for": (
        *("scan_ell", 1, {"cnt": "n", "crd": "c", "width": 1, "extent": "x"}),
        *({"ref": "0 1 S0 D"}, {"memories": {"n": [1, 2], "c": [0, 1]}}, "range .* cycle 2"),
    ),
    "scan_ell: a reference beyond cnt": (
        *("scan_ell", 0, {"cnt": "n", "crd": "c", "width": 1, "extent": "x"}),
        *({"ref": "3 D"}, {"memories": {"n": [1], "c": [0]}}, "range .* cycle 1"),
    ),
    "scan_ragged: a fiber longer than the extent": (
        *("scan_ragged", 0, {"pos": "p", "extent": "x"}),
        *({"ref": "0 D"}, {"memories": {"p": [0, 10]}}, "range .* cycle 12"),
    ),
    "scan_dia: a diagonal twice": (
        *("scan_dia", 1, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}),
        *({"ref": "0 S0 D"}, {"memories": {"n": [2], "o": [1, 1]}}, "protocol .* cycle 7"),
    ),
    "scan_dia: more diagonals than are stored": (
        *("scan_dia", 1, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}),
        *({"ref": "0 S0 D"}, {"memories": {"n": [2], "o": [1]}}, "range .* cycle 4"),
    ),
    "scan_singleton: a coordinate beyond the extent": (
        *("scan_singleton", 1, {"crd": "c", "extent": "x"}),
        *({"ref": "0 1 S0 D"}, {"memories": {"c": [8, 9]}}, "range .* cycle 3"),
    ),
    "scan_singleton: a reference beyond crd": (
        *(
            "scan_singleton",
            0,
            {"crd": "c", "extent": "x"},
            {"ref": "3 D"},
            {"memories": {"c": [0]}},
            "range .* cycle 1",
        ),
    ),
    "repeat: more fibers than payloads": (
        *("repeat", 1, {"payload": "ref"}, {"ref": "7 S0 D", "crd": "1 S0 2 S1 D"}, {}),
        r"protocol .* cycle 3: .*ref = S0, crd = 2",
    ),
    "repeat: more payloads than fibers": (
        *("repeat", 1, {"payload": "ref"}, {"ref": "7 8 S0 D", "crd": "1 S1 D"}, {}, "protocol .* cycle 2"),
    ),
    "crd_hold: stops of different levels": (
        *("crd_hold", 2, {}, {"outer": "4 S1 D", "inner": "1 S1 1 S2 D"}, {}, "protocol .* cycle 2"),
    ),
    "locate": (
        *("locate", 0, {"extent": "i"}),
        *({"ref": "2 D", "crd": "10 S0 D"}, {"extents": {"i": 10}}, "range .* cycle 1"),
    ),
    "locate: an extent is checked below EMPTY too": (
        *("locate", 0, {"extent": "i"}, {"ref": "N D", "crd": "9 10 S0 D"}, {"extents": {"i": 10}}),
        "range .* cycle 2",
    ),
    "intersect: stops of different levels": (
        *("intersect", 2, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "S0", "ref0": "S0", "crd1": "S1", "ref1": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "intersect: DONE against VAL": (
        *("intersect", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "D", "ref0": "D", "crd1": "1", "ref1": "1"}, {}, "protocol .* cycle 1"),
    ),
    "intersect: crd and ref not in lockstep": (
        *("intersect", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "1", "ref0": "S0", "crd1": "2", "ref1": "2"}, {}, "protocol .* cycle 1"),
    ),
    "intersect: EMPTY is no coordinate": (
        *("intersect", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "N", "ref0": "1", "crd1": "N", "ref1": "2"}, {}, "protocol .* cycle 1"),
    ),
    "gather: stops of different levels": (
        *("gather", 2, {"lanes": 2, "levels": 0, "payload": "ref"}),
        *({"ref0": "S0", "ref1": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "gather: a row too many": (
        *("gather", 1, {"lanes": 2, "levels": 0, "payload": "ref"}),
        *({"ref0": "S0", "ref1": "1"}, {}, "protocol .* cycle 1"),
    ),
    "gather: a row of a lane that should be over": (
        *("gather", 2, {"lanes": 3, "levels": 1, "payload": "ref"}),
        *({"ref0": "S1", "ref1": "S1:1", "ref2": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "gather: a list of one lane alone": (
        *("gather", 2, {"lanes": 2, "levels": 0, "payload": "ref"}),
        *({"ref0": "1 S1", "ref1": "S1:1"}, {}, "protocol .* cycle 2"),
    ),
    "gather: DONE against STOP": (
        *("gather", 1, {"lanes": 2, "levels": 0, "payload": "ref"}),
        *({"ref0": "D", "ref1": "S0"}, {}, "protocol .* cycle 1"),
    ),
    "union: stops of different levels": (
        *("union", 2, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "S0", "ref0": "S0", "crd1": "S1", "ref1": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "union: DONE against VAL": (
        *("union", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "D", "ref0": "D", "crd1": "1", "ref1": "1"}, {}, "protocol .* cycle 1"),
    ),
    "union: EMPTY is no coordinate": (
        *("union", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "N", "ref0": "1", "crd1": "N", "ref1": "2"}, {}, "protocol .* cycle 1"),
    ),
    "union: crd and ref not in lockstep": (
        *("union", 1, {"inputs": 2, "payloads": ["ref", "ref"]}),
        *({"crd0": "S0", "ref0": "1", "crd1": "S0", "ref1": "S0"}, {}, "protocol .* cycle 1"),
    ),
    "array": ("array", 0, {"vals": "v"}, {"ref": "1 D"}, {"memories": {"v": [9]}}, "range .* cycle 1"),
    "alu: structure": ("alu", 1, {"op": "add"}, {"a": "1", "b": "S0"}, {}, "protocol .* cycle 1"),
    "alu: overflow": (
        *("alu", 0, {"op": "add", "immediates": {"b": 100}}),
        *({"a": "28 D"}, {"value": "i8"}, "overflow .* cycle 1: .* i8"),
    ),
    "alu: structure, the other way round": (
        *("alu", 1, {"op": "add"}, {"a": "S0", "b": "1"}, {}, "protocol .* cycle 1"),
    ),
    "alu: overflow of two": (
        *("alu", 1, {"op": "sub"}, {"a": "1 128 S0 D", "b": "2 1 S0 D"}, {"value": "i8"}),
        "overflow .* cycle 2: .* i8",
    ),
    "alu: structure of three": (
        *("alu", 1, {"op": "select"}, {"a": "1", "b": "1", "c": "S0"}, {}, "protocol .* cycle 1"),
    ),
    "alu: stops of three": (
        *("alu", 2, {"op": "select"}, {"a": "S0", "b": "S0", "c": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "alu: a NaN has no integer": (
        *("alu", 0, {"op": "convert", "value": "f32", "to": "i32"}),
        *({"a": "2143289344 D"}, {}, "overflow .* cycle 1"),
    ),
    "reduce_scalar: overflow": (
        *("reduce_scalar", 1, {"op": "sum"}),
        *({"val": "100 27 1 S0 D"}, {"value": "i8"}, "overflow .* cycle 3"),
    ),
    "reduce_vector: overflow": (
        *("reduce_vector", 2, {"op": "sum", "bits": [1]}, {"crd0": "1 S0 1", "val": "100 S0 28"}),
        *({"value": "i8"}, "overflow .* cycle 3"),
    ),
    "reduce_vector: range": (
        *("reduce_vector", 2, {"op": "sum", "bits": [2]}),
        *({"crd0": "3 4", "val": "1 1"}, {}, "range .* cycle 2"),
    ),
    "reduce_vector: lockstep": (
        *("reduce_vector", 2, {"op": "sum", "bits": [2]}),
        *({"crd0": "S0", "val": "1"}, {}, "protocol .* cycle 1"),
    ),
    "reduce_vector: lockstep of stops": (
        *("reduce_vector", 2, {"op": "sum", "bits": [2]}),
        *({"crd0": "S0", "val": "S1"}, {}, "protocol .* cycle 1"),
    ),
    "drop_crd: more fibers than coordinates": (
        *("drop_crd", 1, {}, {"outer": "1 S0 D", "inner": "1 S0 2 S1 D"}, {}, "protocol .* cycle 3"),
    ),
    "drop_crd: more coordinates than fibers": (
        *("drop_crd", 1, {}, {"outer": "1 2 S0 D", "inner": "1 S1 D"}, {}, "protocol .* cycle 2"),
    ),
    "pick: beyond the extent": (
        *("pick", 1, {"crd": "c", "extent": "i"}, {"at": "1 0 S0 D", "ref": "0 N S0 D"}),
        *({"memories": {"c": [3, 0]}, "extents": {"i": 3}}, "range .* cycle 2"),
    ),
    "pick: beyond the memory": (
        *("pick", 1, {"crd": "c", "extent": "i"}, {"at": "2 S0 D", "ref": "0 S0 D"}),
        *({"memories": {"c": [1, 0]}, "extents": {"i": 3}}, "range .* cycle 1"),
    ),
    "pick: lockstep": (
        *("pick", 1, {"crd": "c", "extent": "i"}, {"at": "1 S0", "ref": "0 0"}),
        *({"memories": {"c": [1, 0]}, "extents": {"i": 3}}, "protocol .* cycle 2"),
    ),
    "shift": ("shift", 1, {"extent": "i"}, {"crd": "N"}, {"extents": {"i": 3}}, "protocol .* cycle 1"),
    "arg": ("arg", 1, {"op": "max"}, {"crd": "1 S0", "val": "1 1"}, {}, "protocol .* cycle 2"),
    "arg: stops": ("arg", 2, {"op": "max"}, {"crd": "1 S0", "val": "1 S1"}, {}, "protocol .* cycle 2"),
    "arg: an absent coordinate": (
        "arg",
        1,
        {"op": "max"},
        {"crd": "N", "val": "1"},
        {},
        "protocol .* cycle 1",
    ),
    "top_k": (
        *("top_k", 1, {"op": "max", "gives": "values", "k": 2}),
        *({"crd": "1 S0", "val": "1 1", "rank": "0"}, {}, "protocol .* cycle 2"),
    ),
    "top_k: ranks of another list": (
        *("top_k", 2, {"op": "max", "gives": "values", "k": 2}),
        *({"crd": "1 S0", "val": "1 S0", "rank": "S1"}, {}, "protocol .* cycle 2"),
    ),
    "drop_val": ("drop_val", 1, {}, {"crd": "1 S0", "val": "1 1"}, {}, "protocol .* cycle 2"),
    "drop_val: EMPTY for a coordinate": (
        *("drop_val", 1, {}, {"crd": "N", "val": "1"}, {}, "protocol .* cycle 1"),
    ),
    "drop_val: stops": ("drop_val", 2, {}, {"crd": "1 S0", "val": "1 S1"}, {}, "protocol .* cycle 2"),
    "write_compressed: crd": (
        *("write_compressed", 1, {"pos": "p", "crd": "c"}, {"crd": "1 2 S0 D"}),
        *({"memories": {"p": [0] * 9, "c": [0]}}, "capacity .* cycle 2"),
    ),
    "write_compressed: pos": (
        *("write_compressed", 2, {"pos": "p", "crd": "c"}, {"crd": "S0 S1 D"}),
        *({"memories": {"p": [0] * 2, "c": []}}, "capacity .* cycle 2"),
    ),
    "write_compressed: EMPTY": (
        *("write_compressed", 1, {"pos": "p", "crd": "c"}),
        *({"crd": "N"}, {"memories": {"p": [0] * 2, "c": [0]}}),
        "protocol .* cycle 1",
    ),
    "write_dense: a coordinate is missing": (
        *("write_dense", 1, {"extent": "i"}, {"crd": "0 2 S0 D"}, {"extents": {"i": 3}}, "range .* cycle 2"),
    ),
    "write_dense: the last coordinate is missing": (
        *("write_dense", 1, {"extent": "i"}, {"crd": "0 1 S0 D"}, {"extents": {"i": 3}}, "range .* cycle 3"),
    ),
    "write_dense: one too many": (
        *("write_dense", 1, {"extent": "i"}, {"crd": "0 1 S0 D"}, {"extents": {"i": 1}}, "range .* cycle 2"),
    ),
    "write_dense: EMPTY": (
        *("write_dense", 1, {"extent": "i"}, {"crd": "N S0 D"}, {"extents": {"i": 1}}, "protocol .* cycle 1"),
    ),
    "write_val": (
        *("write_val", 1, {"vals": "v"}),
        *({"val": "1 2 S0 D"}, {"memories": {"v": [0]}}, "capacity .* cycle 2"),
    ),
    "write_at: a place beyond the memory": (
        *("write_at", 1, {"vals": "v"}, {"ref": "0 1 S0 D", "val": "1 2 S0 D"}),
        *({"memories": {"v": [0]}}, "range .* cycle 2"),
    ),
    "write_at: no place": (
        *("write_at", 1, {"vals": "v"}, {"ref": "N S0 D", "val": "1 S0 D"}),
        *({"memories": {"v": [0]}}, "protocol .* cycle 1"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_errors(name: str) -> None:
    kind, depth, params, inputs, data, message = FAULTS[name]
    with pytest.raises(RunError, match=message):
        bench(kind, depth, params, inputs, **data)


@pytest.mark.parametrize(
    ("kind", "depth", "params", "message"),
    [
        ("scan", 0, {}, "no primitive 'scan'; the kinds are alu, arg, array"),
        ("scan_dense", 0, {}, r"'n' \(scan_dense\) lacks the parameter 'extent'; give a name"),
        ("scan_dense", 0, {"extent": 3}, "has extent = 3; give a name"),
        ("crd_hold", 1, {"extent": "i"}, "has no parameter 'extent'; its parameters are: none"),
        ("repeat", 0, {"payload": "crd"}, "give one of ref, val"),
        ("scatter", 1, {"lanes": 17, "payload": "ref"}, "lanes = 17; give a number from 2 to 16"),
        ("scatter", 0, {"lanes": 2, "payload": "ref"}, "depth 0; give at least 1"),
        ("gather", 2, {"lanes": 2, "levels": 2, "payload": "ref"}, "depth 2; give at least 3"),
        ("gather", 2, {"lanes": 2, "levels": -1, "payload": "ref"}, "levels = -1; give a whole number"),
        ("union", 1, {"inputs": 1, "payloads": ["ref"]}, "inputs = 1; give a number from 2 to 10"),
        ("union", 1, {"inputs": 2, "payloads": ["ref"]}, "2 inputs and 1 payloads; give one for each"),
        ("union", 1, {"inputs": 2, "payloads": ["ref", "x"]}, "give a list of 'crd', 'ref' and 'val'"),
        ("alu", 1, {"op": "atan"}, "give one of add, sub, mul, max, min, neg"),
        (
            "alu",
            1,
            {"op": "neg", "immediates": {"b": 1}},
            "has an immediate 'b', but the operands of 'neg' are a",
        ),
        ("alu", 1, {"op": "neg", "immediates": {"a": 1}}, "has immediates for all of its operands"),
        ("alu", 1, {"op": "add", "immediates": {"b": "1"}}, "give a map from operands .* to numbers"),
        ("alu", 1, {"op": "add", "immediates": 1}, "give a map from operands .* to numbers"),
        ("alu", 1, {"op": "scale", "immediates": {"b": 1, "c": 63}}, "give it b, .*, and c, 0 to 62"),
        ("alu", 1, {"op": "scale", "immediates": {"b": 2**31}}, "give it b"),
        ("alu", 1, {"op": "scale", "immediates": {"b": 1, "c": -1}}, "give it b"),
        ("alu", 1, {"op": "add", "value": "i64"}, "has value = 'i64'; give a value type, such as"),
        ("reduce_scalar", 0, {"op": "sum"}, "depth 0; give at least 1"),
        ("reduce_vector", 2, {"op": "sum", "bits": [3, 3]}, "depth 2; give at least 3"),
        ("reduce_vector", 2, {"op": "sum", "bits": []}, "give a list of 1 to 18 widths"),
        ("reduce_vector", 2, {"op": "sum", "bits": [-1]}, "give a list of 1 to 18 widths"),
        ("drop_crd", 0, {}, "depth 0; give at least 1"),
        ("write_compressed", 0, {"pos": "p", "crd": "c"}, "depth 0; give at least 1"),
        ("scan_dense", 15, {"extent": "i"}, "more than 15 levels"),
    ],
)
def test_nodes_that_cannot_be(kind: str, depth: int, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(kind, "n", depth, **params)


@pytest.mark.parametrize(
    ("depth", "crd", "pushed"),
    [
        # A channel of one slot: the heads are taken in 1, 3, 5 and so on where nothing else holds them back.
        (2, "1 S0 1 S0 2 S1 D", [0, 2, 4, 10, 12, 14, 16]),  # the same address: 9, not 5
        (2, "1 S0 2 S0 1 2 S1 D", [0, 2, 4, 6, 8, 10, 14, 16]),  # 1 in 9 need not wait; 2 in 13, not 11
        (3, "1 S1 1 S0 2 S2 D", [0, 2, 4, 6, 8, 10, 18]),  # the other bank; its flush waits for the first
    ],
)
def test_spacing(depth: int, crd: str, pushed: list[int]) -> None:
    """Two updates of one address are eight cycles apart, whatever comes between them."""
    node = make("reduce_vector", "n", depth, op="sum", bits=[3])
    stream = [(0, token) for token in tokens(crd)]
    arch = Arch(reduce={"integer": {"sum": 8}})
    result = bench_primitive(node, arch, {"crd0": stream, "val": stream}, input_depths={"crd0": 1, "val": 1})
    assert result.pushed == {"crd0": pushed, "val": pushed}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"op": "add", "immediates": {"b": 0.5}}, "the immediate b = 0.5, which i32 cannot hold"),
        ({"op": "exp", "value": "i8"}, "is impossible: i8 has no operation 'exp'"),
        ({"op": "mul", "value": "i8", "to": "i16"}, "is impossible: 'mul' of i8 cannot give i16; only add"),
        ({"op": "neg", "value": "i8", "to": "i32"}, "is impossible: 'neg' of i8 cannot give i32; only add"),
        ({"op": "scale", "value": "i16", "immediates": {"b": 1, "c": 1}}, "'scale' goes from i32"),
    ],
)
def test_alu_that_its_types_do_not_allow(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=r"Node 'n' \(alu\) .*" + re.escape(message)):
        bench("alu", 0, params, {"a": "1 D", "b": "1 D"}, arch=generous())


def test_integers_are_summed_in_one_cycle() -> None:
    with pytest.raises(InputError, match="needs a latency of 1 for 'sum' of i32, not 2;"):
        bench("reduce_scalar", 1, {"op": "sum"}, {"val": "1 S0 D"}, arch=Arch(reduce={"integer": {"sum": 2}}))


def generous() -> Arch:
    """An Arch with a latency for every operation of every type."""
    return Arch(alu={family: dict.fromkeys(ALL_OPERATIONS, 2) for family in Arch().alu})


def test_latency() -> None:
    arch, i32 = Arch(), value_type("i32")
    node = make("scan_compressed", "n", 0, pos="p", crd="c", extent="x")
    assert (latency(node, "crd", arch, i32), latency(node, "ref", arch, i32)) == (arch.memory, arch.step)
    with pytest.raises(InputError, match=r"'n' \(scan_compressed\) has no output 'val'"):
        latency(node, "val", arch, i32)
    with pytest.raises(InputError, match=r"Arch\.alu has no latency for 'mul' on i32"):
        latency(make("alu", "n", 0, op="mul"), "val", Arch(alu={"integer": {"add": 1}}), i32)


def test_every_kind_is_worked_by_hand() -> None:
    assert {case[0] for case in (*CASES.values(), *WRITERS.values())} == set(kinds())
