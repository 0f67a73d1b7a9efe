"""Architectures with random latencies."""

from hypothesis import strategies as st

from samhw.graph import Arch
from samhw.graph.numerics import ALL_OPERATIONS, REDUCTIONS
from samhw.graph.spec.arch import Latencies

__all__ = ["arches", "spaced_arches"]


def alu_latencies(cycles: int) -> Latencies:
    """A latency for every operation, even where the type has none of that name."""
    return {family: {op: cycles + len(op) % 3 for op in ALL_OPERATIONS} for family in Arch().alu}


def reduce_latencies(sums: int, others: int) -> Latencies:
    """Sums of floating point and products, and all other reductions, which reduce_scalar wants to be 1."""
    exact = dict.fromkeys(REDUCTIONS, others) | {"prod": sums, "recur": sums}
    return {
        family: exact | ({"sum": sums} if family in ("f8", "bf16", "f32") else {}) for family in Arch().reduce
    }


def arches_with(reduce: st.SearchStrategy[Latencies]) -> st.SearchStrategy[Arch]:
    """Random latencies."""
    return st.builds(
        Arch,
        step=st.integers(1, 3),
        memory=st.integers(2, 4),
        locate=st.integers(2, 5),
        alu=st.integers(1, 6).map(alu_latencies),
        reduce=reduce,
    )


arches = arches_with(st.builds(reduce_latencies, st.integers(1, 8), st.just(1)))
spaced_arches = arches_with(st.builds(reduce_latencies, st.integers(1, 8), st.integers(1, 8)))
