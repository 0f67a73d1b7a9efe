"""Memories for tests: one of round figures, and any."""

from hypothesis import strategies as st

from samhw.graph import ConstantMemory, Dram, OffChipMemory, Ports, RandomMemory

# Round figures: a clock is a cycle, and a burst holds four words of 32 bits.
SMALL = Dram(
    name="small",
    clock_ps=1000,
    cycle_ps=1000,
    channels=1,
    groups=2,
    banks=2,
    row_bytes=64,
    burst_bytes=16,
    burst=2,
    cl=5,
    cwl=3,
    rcd=4,
    rp=6,
    ras=20,
    rtp=3,
    wr=7,
    ccd_s=2,
    ccd_l=3,
    rrd_s=2,
    rrd_l=5,
    faw=15,
    wtr_s=2,
    wtr_l=4,
    rfc=50,
    refi=1000,
    frontend=0,
    backend=0,
    ports=Ports(line=16, beat=4, lines=4, ahead=0, queue=16),
)


@st.composite
def all_ports(draw: st.DrawFn) -> Ports:
    """Any numbers of ports, and mostly small ones."""
    beat = draw(st.sampled_from([4, 4, 8, 16, 64]))
    ahead = draw(st.sampled_from([0, 0, 1, 2, 5]))
    least = 1 << (ahead + 1).bit_length()
    return Ports(
        beat=beat,
        line=beat * draw(st.sampled_from([1, 2, 4, 8])),
        lines=least * draw(st.sampled_from([1, 1, 2, 8])),
        ahead=ahead,
        queue=draw(st.sampled_from([1, 2, 4, 64])),
        masters=draw(st.sampled_from([1, 1, 2, 4])),
        offer=draw(st.integers(1, 5)),
        answer=draw(st.integers(1, 3)),
    )


def memories() -> st.SearchStrategy[OffChipMemory]:
    """Any memory with any ports."""
    constant = st.builds(ConstantMemory, st.sampled_from([1, 2, 5, 20, 200]), all_ports())
    return constant | st.builds(RandomMemory, st.integers(0, 2**31 - 1), all_ports()) | drams()


@st.composite
def drams(draw: st.DrawFn) -> Dram:
    """Any organisation, and timing on the edge between many and few waits."""
    few = st.integers(1, 6)
    burst = draw(st.integers(1, 4))
    ccd, rrd, wtr, faw = draw(few), draw(few), draw(few), draw(st.integers(1, 40))
    rcd, rp, rfc = draw(few), draw(few), max(faw, rrd + 3) + draw(st.integers(0, 10))
    burst_bytes = draw(st.sampled_from([4, 4, 8, 16, 64]))
    ports = draw(all_ports())
    return Dram(
        name="random",
        clock_ps=draw(st.integers(1, 7)),
        cycle_ps=draw(st.sampled_from([1, 2, 3, 7])),
        channels=ports.masters * draw(st.integers(1, 3)),
        groups=draw(st.integers(1, 4)),
        banks=draw(st.integers(1, 4)),
        row_bytes=burst_bytes * draw(st.integers(1, 4)),
        burst_bytes=burst_bytes,
        burst=burst,
        cl=draw(st.integers(1, 25)),
        cwl=draw(st.integers(0, 5)),
        rcd=rcd,
        rp=rp,
        ras=draw(st.integers(1, 15)),
        rtp=draw(few),
        wr=draw(few),
        ccd_s=burst + ccd - 1,
        ccd_l=burst + ccd - 1 + draw(st.integers(0, 3)),
        rrd_s=rrd,
        rrd_l=rrd + draw(st.integers(0, 3)),
        faw=faw,
        wtr_s=wtr,
        wtr_l=wtr + draw(st.integers(0, 3)),
        rfc=rfc,
        refi=2 * (rp + rfc + rcd) + draw(st.integers(1, 60)),
        frontend=draw(st.integers(0, 4)),
        backend=draw(st.integers(0, 4)),
        ports=ports,
    )
