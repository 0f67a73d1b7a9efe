"""How much memory there is, asked before much of it is taken. This module imports only errors, so that every
folder may use it."""

import os
import resource
from functools import cache
from pathlib import Path

from samhw.errors import InputError

__all__ = ["WORD", "check_memory", "memory_limit", "say_size"]

WORD = 8
"""Bytes of a number in an array."""

_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much a container may have."""


def check_memory(needed: int, what: str, hint: str) -> None:
    """Refuses what this machine cannot hold.

    Args:
        needed: bytes at least.
        what: that needs them.
        hint: what to do instead, for the end of the message.

    Raises:
        InputError: if that is more than `memory_limit`.
    """
    if needed > (limit := memory_limit()):
        raise InputError(
            f"{what} needs at least {say_size(needed)} of memory, but there are {say_size(limit)}; {hint}."
        )


@cache
def memory_limit() -> int:
    """Bytes that this process may have: of the machine, its container and the shell's `ulimit -v`."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    address_space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    for name in _CGROUPS:
        try:
            limits.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # Another system, or "max".
            continue
    return min(limits)


def say_size(size: float) -> str:
    """Bytes in words."""
    if size >= 1 << 60:
        return "a billion GB"
    return f"{size / 2**30:,.1f} GB" if size >= 1 << 30 else f"{size / 2**20:,.1f} MB"
