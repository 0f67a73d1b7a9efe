"""Files appear whole or not at all, and devices stay what they are."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from samhw.errors import InputError
from samhw.files import replacing, replacing_path, write_text


def test_a_failure_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def pieces() -> Iterator[str]:
        yield "new" * 100_000
        raise KeyError

    with pytest.raises(KeyError):
        write_text(path, pieces())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_text(path, "new")
    assert path.read_text() == "new"


def test_a_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "whole", "")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link", tmp_path / "folder" / "target"
    link.symlink_to(target)
    write_text(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"


def test_a_long_name(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "text")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_device_is_written_and_not_replaced() -> None:
    with pytest.raises(InputError, match=r"Cannot write /dev/full \(No space left on device\)"):
        write_text(Path("/dev/full"), "text")
    assert not Path("/dev/full").is_file()
    with replacing_path(Path("/dev/null")) as path:
        assert path == Path("/dev/null")


def test_a_pipe_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as file:
        file.write(b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)


@pytest.mark.parametrize("name", ["missing/file", "x" * 256, "a\0b", "."])
def test_what_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="choose another place"):
        write_text(tmp_path / name, "text")
    assert list(tmp_path.iterdir()) == []
