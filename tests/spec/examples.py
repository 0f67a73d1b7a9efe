"""A node of each kind, with streams that tell when it gives something."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["EXAMPLES", "Example"]


class Example(NamedTuple):
    """A node of a kind, with the tokens of its inputs as text; token k is there in cycle k + 1."""

    depth: int
    params: dict[str, Any]
    inputs: dict[str, str]
    gives: int
    """The cycle in which the token comes that makes it give its first one."""
    memories: Mapping[str, list[int]] = MappingProxyType({})
    extent: int = 9


_LEVEL = {"p": [0, 2], "c": [4, 7]}

EXAMPLES = {
    "root": Example(0, {}, {}, 1),
    "step_ref": Example(0, {"repeat": "x", "offset": 1, "extent": "x", "down": "x"}, {}, 1),
    "scan_dense": Example(0, {"extent": "x"}, {"ref": "0 D"}, 1),
    "scan_compressed": Example(0, {"pos": "p", "crd": "c", "extent": "x"}, {"ref": "0 D"}, 1, _LEVEL),
    "scan_singleton": Example(0, {"crd": "c", "extent": "x"}, {"ref": "0 D"}, 1, {"c": [4]}),
    "scan_ell": Example(
        *(0, {"cnt": "n", "crd": "c", "width": 2, "extent": "x"}, {"ref": "0 D"}, 1),
        {"n": [1, 2, 1], "c": [4, 0, 5, 7, 8, 0]},
    ),
    "scan_ragged": Example(0, {"pos": "p", "extent": "x"}, {"ref": "0 D"}, 1, {"p": [0, 2]}),
    "scan_dia": Example(
        *(0, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}, {"ref": "0 D"}, 1),
        {"n": [1], "o": [0]},
    ),
    "repeat": Example(0, {"payload": "ref"}, {"ref": "3 D", "crd": "5 S0 D"}, 1),
    "crd_hold": Example(0, {}, {"outer": "3 D", "inner": "5 S0 D"}, 1),
    "locate": Example(0, {"extent": "x"}, {"ref": "3 D", "crd": "5 S0 D"}, 1),
    "pick": Example(0, {"crd": "c", "extent": "x"}, {"at": "0 D", "ref": "3 D"}, 1, {"c": [4]}),
    "shift": Example(1, {"extent": "x"}, {"crd": "3 S0 D"}, 1),
    "scatter": Example(2, {"lanes": 2, "payload": "ref"}, {"ref": "S0 3 S1 D"}, 1),
    "gather": Example(
        1, {"lanes": 2, "levels": 0, "payload": "ref"}, {"ref0": "3 S0 D", "ref1": "4 S0 D"}, 1
    ),
    "intersect": Example(
        *(1, {"inputs": 2, "payloads": ["ref", "val"]}),
        *({"crd0": "3 S0 D", "ref0": "1 S0 D", "crd1": "3 S0 D", "ref1": "2 S0 D"}, 1),
    ),
    "union": Example(
        *(1, {"inputs": 2, "payloads": ["ref", "val"]}),
        *({"crd0": "3 S0 D", "ref0": "1 S0 D", "crd1": "4 S0 D", "ref1": "2 S0 D"}, 1),
    ),
    "array": Example(0, {"vals": "v"}, {"ref": "0 D"}, 1, {"v": [9]}),
    "alu": Example(1, {"op": "mul", "immediates": {"a": 3}}, {"b": "2 S0 D"}, 1),
    "matmul": Example(
        *(1, {"shape": [], "over": [], "a": [], "b": []}, {"a": "2 S0 D", "b": "3 S0 D"}, 1),
    ),
    "fold": Example(1, {"op": "sum", "shape": [], "over": []}, {"block": "2 S0 D"}, 1),
    "reduce_scalar": Example(1, {"op": "sum"}, {"val": "2 S0 D"}, 2),
    "running": Example(1, {"op": "max"}, {"val": "2 1 S0 D"}, 1),
    "recur": Example(1, {}, {"factor": "5 2 S0 D", "val": "3 1 S0 D"}, 1),
    "last": Example(1, {}, {"val": "2 1 S0 D"}, 3),
    "arg": Example(1, {"op": "max"}, {"crd": "4 7 S0 D", "val": "2 1 S0 D"}, 3),
    "top_k": Example(
        *(1, {"op": "max", "gives": "places", "k": 2}),
        *({"crd": "4 7 S0 D", "val": "1 2 S0 D", "rank": "0 1 S0 D"}, 3),
    ),
    "reduce_vector": Example(2, {"op": "max", "bits": [3]}, {"crd0": "1 S0 2 S1 D", "val": "5 S0 6 S1 D"}, 4),
    "recur_vector": Example(
        *(2, {"bits": [3]}),
        *({"crd0": "1 S0 2 S1 D", "factor": "1 S0 1 S1 D", "val": "5 S0 6 S1 D"}, 4),
    ),
    "drop_crd": Example(1, {}, {"outer": "1 S0 D", "inner": "2 S1 D"}, 1),
    "drop_val": Example(1, {}, {"crd": "1 S0 D", "val": "5 S0 D"}, 1),
    "write_compressed": Example(1, {"pos": "p", "crd": "c"}, {"crd": "1 S0 D"}, 1, {"p": [0, 0], "c": [0]}),
    "write_dense": Example(1, {"extent": "x"}, {"crd": "0 1 S0 D"}, 1, extent=2),
    "write_val": Example(1, {"vals": "v"}, {"val": "5 S0 D"}, 1, {"v": [0]}),
    "write_at": Example(1, {"vals": "v"}, {"ref": "0 S0 D", "val": "5 S0 D"}, 1, {"v": [0]}),
}
"""By kind."""
