"""scatter: distributes the payloads of each fiber to lanes in turn."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import is_payload, make_token, token_layout

__all__ = ["Scatter"]


class Scatter(Primitive):
    """In `ref`; out `ref<lane>`, of `lanes` lanes and the same payloads."""

    def __init__(self, *, arch: Arch, lanes: int, payload_width: int):
        self.arch = arch
        self.lanes = lanes
        self.payload_width = payload_width
        layout = token_layout(payload_width)
        super().__init__({"ref": layout}, {f"ref{lane}": layout for lane in range(lanes)})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, lanes=site.params["lanes"], payload_width=site.width("ref"))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.i.ref.payload
        outputs = []
        for lane in range(self.lanes):
            m.submodules[f"ref{lane}"] = output = Output(
                self.payload_width, latency=self.arch.step, zeros=False
            )
            wiring.connect(m, output.o, wiring.flipped(getattr(self.o, f"ref{lane}")))
            m.d.comb += output.result.eq(head.payload)
            outputs.append(output)

        turn = Signal(range(self.lanes))
        distributed = is_payload(head)
        token = make_token(head.kind, head.payload[:8])
        table = FiringTable(m, [self.i.ref])
        with table.row(
            takes=[self.i.ref],
            pushes={output.i: token for output in outputs},
            pushes_if={output.i: ~distributed | (turn == lane) for lane, output in enumerate(outputs)},
        ):
            m.d.sync += turn.eq(Mux(distributed & (turn != self.lanes - 1), turn + 1, 0))
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol))]
        return m
