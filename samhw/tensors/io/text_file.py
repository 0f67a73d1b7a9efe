"""Text files as they lie on a disk: plain, compressed, or in an archive of SuiteSparse."""

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from samhw.errors import InputError

__all__ = ["TextFile", "text_suffix"]

_ARCHIVES = (".tar.gz", ".tgz", ".tar")


@dataclass(frozen=True)
class TextFile:
    """A text file; what it is called in errors is its path."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes of the text, from the beginning.

        Raises
        ------
        InputError
            When what compresses it is damaged, or an archive has not the one file that it is for.
        """
        try:
            if self.path.name.endswith(_ARCHIVES):
                with tarfile.open(self.path) as archive:
                    yield self._member(archive)
            elif self.path.suffix == ".gz":
                with self.path.open("rb") as packed, gzip.GzipFile(fileobj=packed) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                with self.path.open("rb") as file:
                    yield file
        except (gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError) as error:
            raise InputError(f"{self.path} is damaged ({error}): get it again") from error

    def _member(self, archive: tarfile.TarFile) -> IO[bytes]:
        """The one file that the archive is for: of several the one that is named like the archive."""
        files = [member for member in archive.getmembers() if member.isfile()]
        matrices = [member for member in files if member.name.endswith((".mtx", ".tns"))]
        stem = self.path.name.partition(".")[0]
        named = [member for member in matrices if Path(member.name).stem == stem]
        if len(named or matrices) != 1:
            found = ", ".join(member.name for member in matrices) or "none"
            raise InputError(
                f"{self.path} must hold one matrix, or one called {stem}.mtx, but it holds {found}: unpack it"
            )
        file = archive.extractfile((named or matrices)[0])
        assert file is not None
        return file


def text_suffix(path: Path) -> str:
    """The suffix that says what is in a file, without what compresses it; that of an archive is ``.mtx``."""
    if path.name.endswith(_ARCHIVES):
        return ".mtx"
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
