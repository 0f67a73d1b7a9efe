"""The numbers for which cycles in tests are worked out by hand, whatever the defaults are."""

from samhw.graph import Arch

__all__ = ["WORKED"]


def _worked() -> Arch:
    arch = Arch().to_json()
    arch["alu"]["integer"] |= {"add": 2, "mul": 4, "scale": 6}
    arch["alu"]["bf16"] |= {"add": 6, "mul": 4}
    arch["alu"]["f32"] |= {"add": 8, "mul": 6}
    arch["reduce"]["bf16"]["sum"] = 6
    arch["reduce"]["f32"]["sum"] = 8
    return Arch.from_json(arch)


WORKED = _worked()
