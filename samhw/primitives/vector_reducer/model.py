"""The actors of the vector reducers."""

from samhw.graph import VAL, Arch, Node, Token
from samhw.primitives.bitmap_walker.model import fetch, iterate
from samhw.primitives.vector_steps.model import ACCUMULATE_STATE, EMIT_STATE, KEY, Update, accumulate, emit
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Spacing, Store

__all__ = ["vector_network"]


def vector_network(node: Node, arch: Arch, latency: int, update: Update) -> ActorNetwork:
    """The actors of a node with the parameters `bits` and `banks`."""
    words = update.words
    bits = node.params["bits"]
    n, total = len(bits), sum(bits)
    banks = range(node.params.get("banks", 2))
    points = [(_bank("values", b, total, words), _bank("present", b, total)) for b in banks]
    levels = range(max(1, -(-total // 5)))
    bitmaps = [tuple(_bank(f"bitmap{k}.", b, max(0, total - 5 * (k + 1))) for b in banks) for k in levels]

    into = tuple(store for b in banks for store in (*points[b], *(bitmap[b] for bitmap in bitmaps)))
    heads = tuple(port.name for port in node.inputs)
    tails = tuple(port.name for port in node.outputs)
    step = accumulate(bits, len(levels), len(banks), update)
    widths = {"val": words} if words > 1 else {}
    spacing = Spacing(latency, len(banks) << total, KEY)
    actors = [
        Actor(
            "accumulate",
            step,
            (*heads, "bank"),
            ("flush",),
            ACCUMULATE_STATE,
            into,
            spacing=spacing,
            widths=widths,
            operations=words,
        )
    ]
    links = {
        "flush": _link(arch, latency + 1),
        "bank": Link(arch.step, len(banks), (Token(VAL, 0),) * (len(banks) - 1)),
    }
    feed = "flush"
    for k in reversed(levels):
        addr, word, out = f"addr{k}", f"word{k}", f"out{k}"
        step = fetch(n, k == levels[-1], len(banks))
        actors.append(Actor(f"fetch{k}", step, (feed,), (addr, word), (0,), bitmaps[k]))
        actors.append(Actor(f"iterate{k}", iterate(), (addr, word), (out,), (0,)))
        links[addr] = links[word] = _link(arch, arch.memory)
        links[out] = _link(arch, arch.step)
        feed = out
    out_of = tuple(store for of_bank in points for store in of_bank)
    step = emit(bits, len(banks), words)
    actors.append(Actor("emit", step, (feed,), (*tails, "bank"), EMIT_STATE, out_of, widths=widths))
    return ActorNetwork(tuple(actors), links)


def _bank(name: str, bank: int, bits: int, words: int = 1) -> Store:
    return Store(Place.PRIVATE, f"{name}{bank}", words << bits)


def _link(arch: Arch, latency: int) -> Link:
    return Link(latency, arch.internal_depth(latency))
