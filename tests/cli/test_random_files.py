"""Damaged files of every kind, through their readers and through the command line: read, or refused in a
sentence.

    SAMHW_RANDOM_FILES=5000 python -m pytest tests/cli/test_random_files.py
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.cli.numbers import load_arch
from samhw.app.sweep import read_description
from samhw.app.sweep.journal import Journal
from samhw.app.workload import SavedDesign
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph import DDR4, Arch, load_memory
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, load
from samhw.tensors import Tensor, read_dataset, read_tensor, write_tensor

CASES = int(os.environ.get("SAMHW_RANDOM_FILES", "300"))
BATCH = 30

MATRIX = np.random.default_rng(0).integers(-3, 4, (5, 4))
SQUARE = MATRIX[:4] + MATRIX[:4].T

PROGRAM = """\
# Two statements in one region.
tensor B[i=5, j] : csr
tensor c[j] : dense
fuse {
  t[i] = B[i, j] * c[j] + 2.5e0    order i, j
  x[i] = max(relu(t[i]), 3) where m[i]
}
tensor m[i] : csf
tensor t[i] : dense
tensor x[i] : csf
"""

SWEEP = """\
program = ["spmv", "spmm"]
data = "random:size=4,seed=1"
value = ["f32", "fixed<16,8>"]
depth = ["auto", 2]
permute = [true, false]
[arch]
slack = [0, 2]
alu.f32.mul = 4
[[sweep]]
fuse = ["none", "full"]
[[exclude]]
value = "f32"
arch.slack = 0
"""

JOURNAL = (
    b'{"key": "a", "configuration": {"program": "spmv"}, "outcome": {"status": "refused", "error": "no"}}\n'
    b'{"key": "b", "configuration": {}, "outcome": {"status": "right", "cycles": 12, "seconds": 0.5}}\n'
)


def whole_tensor(path: Path) -> None:
    """Reads a tensor, whose storage must be good if it is read at all."""
    read_tensor(path).check()


def open_journal(path: Path) -> None:
    with Journal(path) as journal:
        assert all(outcome["status"] for outcome in journal.outcomes.values())


READERS: dict[str, Callable[[Path], Any]] = {
    "general.mtx": whole_tensor,
    "symmetric.mtx": whole_tensor,
    "array.mtx": whole_tensor,
    "tensor.tns": whole_tensor,
    "own.npz": whole_tensor,
    "scipy.npz": whole_tensor,
    "array.npz": whole_tensor,
    "data.npz": read_dataset,
    "sam": whole_tensor,
    "program.ein": load,
    "arch.json": lambda path: load_arch(str(path)),
    "memory.json": lambda path: load_memory(str(path)),
    "spmv.design.json": SavedDesign.read,
    "sweep.toml": read_description,
    "table.csv.journal": open_journal,
}

COMMANDS: dict[str, list[str]] = {
    ".mtx": ["run", "spmv", "--data"],
    ".tns": ["run", "spmv", "--data"],
    ".npz": ["run", "spmv", "--value", "f32", "--data"],
    "": ["run", "spmv", "--data"],
    ".ein": ["compile", "--data", "random:size=4", "--"],
    "arch.json": ["run", "spmv", "--data", "random:size=4", "--arch"],
    "memory.json": ["run", "spmv", "--data", "random:size=4", "--memory"],
    "spmv.design.json": ["run", "spmv", "--data", "random:size=4", "--design"],
}
"""By the end of a file's name the command that takes it as its last argument."""


def fill(folder: Path) -> None:
    """A good file of each kind."""
    write_tensor(folder / "general.mtx", Tensor.from_dense(MATRIX, "csr"))
    lower = [(r, c) for r in range(4) for c in range(r + 1) if SQUARE[r, c]]
    entries = "".join(f"{r + 1} {c + 1} {SQUARE[r, c]}.5\n" for r, c in lower)
    header = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n"
    (folder / "symmetric.mtx").write_text(f"{header}4 4 {len(lower)}\n{entries}")
    write_tensor(folder / "array.mtx", Tensor.from_dense(MATRIX, "dense"))
    write_tensor(folder / "tensor.tns", Tensor.from_dense(MATRIX, "csf"))
    write_tensor(folder / "own.npz", Tensor.from_dense(MATRIX, "dcsr"))
    scipy.sparse.save_npz(folder / "scipy.npz", scipy.sparse.csr_array(MATRIX), compressed=False)
    np.savez(folder / "array.npz", MATRIX)
    parts = scipy.sparse.csr_array(SQUARE)
    shape = np.array(parts.shape)
    graph = {"adj_indptr": parts.indptr, "adj_indices": parts.indices, "adj_shape": shape}
    features = {"feat_indptr": parts.indptr, "feat_indices": parts.indices, "feat_shape": shape}
    np.savez(folder / "data.npz", **graph, **features, feat_data=parts.data)
    write_tensor(folder / "sam", Tensor.from_dense(MATRIX, "csf"))
    (folder / "program.ein").write_text(PROGRAM)
    (folder / "arch.json").write_text(Arch().dumps())
    room = Capacity({"i": 8, "j": 8}, {"B": 64})
    f32 = value_type("f32")
    design = SavedDesign("spmv", ("c",), Schedule(fuse="full"), f32, Arch(), {"B": 9}, room, f32, "0" * 64)
    design.write(folder / "spmv.design.json")
    (folder / "memory.json").write_text(json.dumps(DDR4.to_json()))
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "table.csv.journal").write_bytes(JOURNAL)


NUMBERS = (
    b"0",
    b"-1",
    b"99999999999999999999",
    b"1e999",
    b"nan",
    b"2147483648",
    b"0.5",
    b"null",
    b"true",
    b'"x"',
)
JUNK = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b" ",
    b"[" * 2000,
    b"{",
    b'"',
    b"PK",
    b"%",
    b"#",
    b"=",
    "\u0663".encode(),
)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """A truncation, some bits that have flipped, or some bytes that are others."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place, size = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 8, 40])
        match rng.randrange(8):
            case 0:
                data = data[:place]
            case 1 | 2 if place < len(data):
                data = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
            case 3:
                data = data[:place] + data[place + size :]
            case 4:
                data = data[:place] + data[place : place + size] * 2 + data[place + size :]
            case 5:
                data = data[:place] + rng.choice(JUNK) + data[place:]
            case 6:  # One number for another.
                digits = [n for n, byte in enumerate(data) if chr(byte).isdigit() and byte < 128]
                if digits:
                    start = stop = rng.choice(digits)
                    while stop < len(data) and chr(data[stop]) in "0123456789.eE":
                        stop += 1
                    data = data[:start] + rng.choice(NUMBERS) + data[stop:]
            case 7:
                lines = data.splitlines(keepends=True)
                rng.shuffle(lines)
                data = b"".join(lines)
    return data


def damage(rng: random.Random, path: Path) -> None:
    """Damages a file, or one of a folder."""
    if path.is_dir():
        path = rng.choice(sorted(path.iterdir()))
        if rng.random() < 0.1:
            path.unlink()
            return
    path.write_bytes(damaged(rng, path.read_bytes()))


def case(rng: random.Random, folder: Path, number: int) -> Path:
    """A damaged file in a folder of its own."""
    folder = folder / str(number)
    folder.mkdir()
    fill(folder)
    path = folder / rng.choice(sorted(READERS))
    damage(rng, path)
    return path


@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_readers_refuse_damage_in_a_sentence(batch: int, tmp_path: Path) -> None:
    rng = random.Random(batch)
    for number in range(BATCH):
        path = case(rng, tmp_path, number)
        try:
            READERS[path.name](path)
        except InputError:
            continue
        except BaseException as error:
            error.add_note(f"batch {batch}, {path}")
            raise


@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_commands_refuse_damage_in_a_sentence(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"commands {batch}")
    for number in range(BATCH):
        path = case(rng, tmp_path, number)
        command = COMMANDS.get(path.name, COMMANDS.get(path.suffix))
        if command is None:
            continue
        try:
            result = CliRunner().invoke(main, [*command, str(path)], catch_exceptions=False)
        except BaseException as error:
            error.add_note(f"batch {batch}, {path}")
            raise
        assert result.exit_code in (0, 1, 2), path
        # A number that grew may leave the range of its type, which a run says.
        told = {0: (False,), 1: (False, True), 2: (True,)}[result.exit_code]
        assert bool(result.stderr) in told, (path, result.output)


def test_good_files_are_read(tmp_path: Path) -> None:
    """What is damaged was good before."""
    fill(tmp_path)
    for name, read in READERS.items():
        read(tmp_path / name)
