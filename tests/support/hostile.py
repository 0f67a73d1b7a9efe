"""Names that could meet those of a language, of a tool or of samhw, and programs that have them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from samhw.lang import Program, Region, Statement
from samhw.lang.source import KEYWORDS
from samhw.tensors import Tensor

_WORDS = """
A a i I t0 t1 t2 val vals crd ref once once_2 sorted root root_2 full nonzero part mask add mul select mul_2
value f32 random karate samhw samhw_top r0_A r1_root scan_compressed node_root top index_t index_word bf16 f8
fixed stream token status error main std int char bool auto class struct template namespace using this union
register signed export operator void errno EOF NULL M_PI assert unix linux i386 stdin INT_MAX offsetof
setjmp y0 exp log abs time read index gamma module wire reg logic input output always begin end endmodule
initial assign case casex posedge genvar supply0 strong1 tri lambda def None True del import print pass
global self clk rst aclk aresetn s_axi_awaddr running done cycle control host_port probe0_valid stall data
results extents streams numbers memory save _ __ _1 __A__ _A a__b __DOT__ ___05F __init__ __file__ __LINE__
reshape concat max min relu pos0 pos1 crd0 crd1 A_crd1 A_vals A_pos0 A_2 A_3 A_10 A_01 A_val A_i i_2 i_3 i_MAX
A_vals_words A_vals_chip A_count
"""
WORDS = [*sorted(set(_WORDS.split()) - KEYWORDS), "x" * 200, "x" * 199 + "_"]

_TAIL_TEXT = """
_2 _3 _2_2 _10 _01 _10_2 _210 _i _val _vals _crd _crd0 _ref _pos0 _extent _words _chip _count _error _MAX
_to_A _vals_words _vals_chip _ __
"""
_TAILS = _TAIL_TEXT.split()


def names(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct names, of which many differ only in what samhw itself puts after names, or in case."""
    found: dict[str, None] = {}
    base = str(rng.choice(WORDS[:-2]))
    while len(found) < count:
        match rng.integers(4):
            case 0:
                base = name = str(rng.choice(WORDS))
            case 1:
                name = base + str(rng.choice(_TAILS))
            case 2:
                name = str(rng.choice([*found, base])) + str(rng.choice(_TAILS))
            case _:
                name = base.swapcase()
        if len(name) <= 200 and name not in KEYWORDS:
            found[name] = None
    return list(found)


def renamed(program: Program, rng: np.random.Generator) -> tuple[Program, dict[str, str]]:
    """The program with other names, and those of its tensors. Half of the time each statement has index
    names of its own."""
    tensors = dict(zip(program.tensors, names(rng, len(program.tensors)), strict=True))
    everything = [i for s in program.statements for i in _all_indices(s)]
    everything += [i for decl in program.tensors.values() for i in decl.indices]
    common = _mapping(everything, rng, tensors)
    apart = rng.random() < 0.5

    def statement(s: Statement) -> Statement:
        indices = _mapping(_all_indices(s), rng, tensors) if apart else common
        return s.renamed(indices).with_accesses(lambda a: replace(a, tensor=tensors[a.tensor]))

    declared = {
        tensors[name]: replace(decl, name=tensors[name], indices=tuple(common[i] for i in decl.indices))
        for name, decl in program.tensors.items()
    }
    regions = tuple(Region(tuple(map(statement, region.statements))) for region in program.regions)
    return replace(program, tensors=declared, regions=regions), tensors


def renamed_data(tensors: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """Data for a renamed program."""
    return {names[name]: tensor for name, tensor in tensors.items()}


def _all_indices(statement: Statement) -> list[str]:
    return [i for access in statement.accesses for i in access.names]


def _mapping(indices: Sequence[str], rng: np.random.Generator, tensors: dict[str, str]) -> dict[str, str]:
    """Other names for indices; some are those of tensors."""
    distinct = list(dict.fromkeys(indices))
    pool = [*rng.permutation(list(tensors.values()))[: rng.integers(3)].tolist(), *names(rng, len(distinct))]
    return dict(zip(distinct, dict.fromkeys(pool), strict=False))
