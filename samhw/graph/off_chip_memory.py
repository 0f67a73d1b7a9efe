"""What memories off chip may be (docs/memory.md, "The memory as an oracle"), and the logs of runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

from samhw.errors import InputError
from samhw.files import check_readable
from samhw.graph.design import Design
from samhw.graph.dram import DRAM_PRESETS, Dram
from samhw.graph.off_chip import OffChipLayout
from samhw.graph.off_chip_numbers import Ports, SdramChip
from samhw.graph.spec import Arch
from samhw.words import did_you_mean

__all__ = [
    "ConstantMemory",
    "LogEntry",
    "OffChip",
    "OffChipMemory",
    "RandomMemory",
    "RecordedMemory",
    "SdramMemory",
    "at_clock",
    "layout_of",
    "load_memory",
    "log_head",
    "port_latency",
    "read_latency",
    "read_log",
    "with_ports",
    "write_log",
]

GREATEST = 1 << 31
"""Seeds and latencies are less."""

LOG_HEAD = "samhw memory log 1"
LOG_LATENCY = "latency "
"""Before the `read_latency` of the memory that a log is of."""

LONGEST_GAP, LONGEST_WAIT = 7, 32
"""Cycles of a random memory: from an offer to the acceptance, and from there to the first beat."""


@dataclass(frozen=True)
class ConstantMemory:
    """A memory that answers after a number of cycles."""

    cycles: int
    ports: Ports = field(default_factory=Ports)

    def __post_init__(self) -> None:
        _check("cycles", self.cycles, 1)

    @property
    def name(self) -> str:
        """As `load_memory` takes it."""
        return f"constant:{self.cycles}"


@dataclass(frozen=True)
class RandomMemory:
    """A memory that accepts and answers with gaps, which follow from the seed."""

    seed: int
    ports: Ports = field(default_factory=Ports)

    def __post_init__(self) -> None:
        _check("seed", self.seed, 0)

    @property
    def name(self) -> str:
        """As `load_memory` takes it."""
        return f"random:{self.seed}"


SDRAM_LATENCY = 14
"""Cycles from the offer of a read to its first word out of a row that LiteDRAM has to open."""


@dataclass(frozen=True)
class SdramMemory:
    """An SDRAM with its controller, of which only hardware knows when it answers."""

    chip: SdramChip = field(default_factory=SdramChip)
    ports: Ports = field(default_factory=lambda: Ports(beat=4, ahead=0))
    """Nothing is read ahead: the chip is busy all the time, and what nobody uses takes a tenth of that."""

    @property
    def name(self) -> str:
        """As `load_memory` takes it."""
        return SDRAM


@dataclass(frozen=True)
class RecordedMemory:
    """The memory of an earlier run, from its log. `of` is what that was, if somebody knows."""

    path: str
    ports: Ports = field(default_factory=Ports)
    of: SdramMemory | None = None

    @property
    def name(self) -> str:
        """That of what it was, or as `load_memory` takes it."""
        return self.of.name if self.of else f"log:{self.path}"

    @property
    def width(self) -> int:
        """Bytes that it moves in a cycle, if somebody knows; else those of its bus."""
        return self.of.chip.word_bytes if self.of else self.ports.masters * self.ports.beat


SDRAM = "sdram"

OffChipMemory: TypeAlias = Dram | ConstantMemory | RandomMemory | RecordedMemory | SdramMemory


@dataclass(frozen=True)
class OffChip:
    """What lies off chip: the arrays of these names, each with its master, or all.

    `log` is the file that takes the log of a run, if somebody wants it.
    """

    memory: OffChipMemory
    arrays: Mapping[str, int] | None = None
    log: Path | None = None


class LogEntry(NamedTuple):
    """A request: its master, whether it writes, its address, and the cycles in which it was offered,
    accepted and answered."""

    master: int
    write: bool
    address: int
    offered: int
    accepted: int
    answers: tuple[int, ...]


def load_memory(spec: str) -> OffChipMemory:
    """The memory that a word names: `constant:T`, `random:SEED`, `log:FILE`, `sdram`, a preset, or the file
    of a DRAM.

    Raises:
        InputError: if it names none.
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind in ("constant", "random"):
        if not (rest.isascii() and rest.isdigit()):
            raise InputError(f"The memory {spec!r} has no number; give a whole one, such as {kind}:20.")
        return ConstantMemory(int(rest)) if kind == "constant" else RandomMemory(int(rest))
    if colon and kind == "log":
        return RecordedMemory(rest)
    if spec in DRAM_PRESETS:
        return DRAM_PRESETS[spec]
    if spec == SDRAM:
        return SdramMemory()
    if not spec.endswith(".json"):
        raise InputError(
            f"There is no memory {spec!r}{did_you_mean(spec, [*DRAM_PRESETS, SDRAM])}; choose one of "
            f"{', '.join(DRAM_PRESETS)}, {SDRAM}, constant:T, "
            "random:SEED and log:FILE, or name a .json file."
        )
    try:
        data = json.loads(check_readable(Path(spec)).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{spec} cannot be read ({error.strerror}); name another file.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{spec} is no JSON ({error}); fix it.") from error
    if not isinstance(data, dict):
        raise InputError(f"{spec} holds no JSON object; give the fields of a memory by name.")
    return Dram.from_json(data)


def at_clock(memory: OffChipMemory, period: float) -> OffChipMemory:
    """The memory beside a design whose clock has that period, in ns, if it counts times; else as it is.

    Raises `InputError` for a period that the rule of docs/memory.md gives no meaning.
    """
    cycle_ps = round(period * 1000)
    match memory:
        case SdramMemory():
            return replace(memory, chip=replace(memory.chip, cycle_ps=cycle_ps))
        case Dram():
            return replace(memory, cycle_ps=cycle_ps)
    return memory


def layout_of(
    design: Design, arch: Arch, memory: OffChipMemory, arrays: Mapping[str, int] | None = None
) -> OffChipLayout:
    """Where the arrays of a design lie in a memory; arguments and errors as of `OffChipLayout`."""
    chip = memory.chip if isinstance(memory, SdramMemory) else None
    return OffChipLayout(design, arch, memory.ports, arrays, chip)


def read_latency(memory: OffChipMemory) -> int:
    """The cycles from the offer of a read to the last beat of its line, with nothing else under way, and the
    longest that there are; for a log, those of the memory that it is of. Raises `InputError` for what is no
    log."""
    match memory:
        case ConstantMemory():
            return memory.cycles + memory.ports.beats - 1
        case RandomMemory():
            return LONGEST_GAP + LONGEST_WAIT + memory.ports.beats - 1
        case RecordedMemory():
            return _recorded_latency(memory.path)
        case SdramMemory():
            return SDRAM_LATENCY + memory.ports.line // memory.chip.word_bytes - 1
        case Dram():
            return memory.latency(2)


def port_latency(memory: OffChipMemory) -> int:
    """The cycles that a read port adds to a token for which it asks for a line, until the line is there."""
    ports = memory.ports
    return 1 + ports.offer + read_latency(memory) + ports.answer


def log_head(memory: OffChipMemory) -> str:
    """What the log of a run begins with."""
    return f"{LOG_HEAD}\n{LOG_LATENCY}{read_latency(memory)}"


def write_log(path: Path, memory: OffChipMemory, entries: Sequence[LogEntry]) -> None:
    """Writes the log of a run, whose requests come in order at each master."""
    lines = [log_head(memory)]
    for entry in entries:
        kind = "write" if entry.write else "read"
        cycles = (entry.offered, entry.accepted, *entry.answers)
        lines.append(" ".join(map(str, (entry.master, kind, entry.address, *cycles))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_log(path: str, ports: Ports) -> list[LogEntry]:
    """The requests of a log.

    Raises:
        InputError: if the file holds no log, or one of other ports.
    """
    lines = _lines(path)
    first = 1 + _has_latency(lines)
    return [_entry(path, number, line, ports) for number, line in enumerate(lines[first:], first + 1)]


def _lines(path: str) -> list[str]:
    try:
        lines = check_readable(Path(path)).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name another file.") from error
    except ValueError as error:
        raise InputError(f"{path} is no text; name the log of a run.") from error
    if not lines or lines[0] != LOG_HEAD:
        raise InputError(f"{path} does not begin with '{LOG_HEAD}'; name the log of a run (--memory-log).")
    return lines


def _has_latency(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and lines[1].startswith(LOG_LATENCY)


def _recorded_latency(path: str) -> int:
    lines = _lines(path)
    if not _has_latency(lines):
        return 0
    word = lines[1].removeprefix(LOG_LATENCY)
    if not word.isdecimal() or int(word) >= GREATEST:
        raise InputError(f"Line 2 of {path} has no latency; see docs/memory.md for what logs hold.")
    return int(word)


def _entry(path: str, number: int, line: str, ports: Ports) -> LogEntry:
    words = line.split()
    numbers = [word for place, word in enumerate(words) if place != 1]
    if len(words) < 6 or words[1] not in ("read", "write") or not all(word.isdecimal() for word in numbers):
        raise InputError(f"Line {number} of {path} is no request; see docs/memory.md for what logs hold.")
    master, address, offered, accepted, *answers = map(int, numbers)
    write = words[1] == "write"
    if len(answers) != (1 if write else ports.beats) or master >= ports.masters:
        raise InputError(
            f"Line {number} of {path} does not fit {ports.masters} masters with {ports.beats} beats a line; "
            "give the ports of the run that it is from (--ports)."
        )
    late = [*(answers[:1] if write else answers), max(answers) + 1]
    if not offered <= accepted < late[0] or any(b <= a for a, b in pairwise(late)):
        raise InputError(f"The cycles in line {number} of {path} do not ascend; record the log again.")
    return LogEntry(master, write, address, offered, accepted, tuple(answers))


def with_ports(memory: OffChipMemory, ports: Ports) -> OffChipMemory:
    """The same memory with other ports."""
    return replace(memory, ports=ports)


def _check(name: str, value: object, least: int) -> None:
    if type(value) is not int or not least <= value < GREATEST:
        raise InputError(f"{name} is {value!r}; give a whole number from {least} to {GREATEST - 1}.")
