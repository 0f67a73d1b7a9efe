"""One reader and one writer for every file form, chosen by the path."""

from pathlib import Path

from samhw.errors import InputError
from samhw.files import check_readable, reason
from samhw.tensors.formats import Format
from samhw.tensors.io import entry_lines, matrix_market, npz, pytorch_file, sam_directory
from samhw.tensors.io.text import TextFile, text_suffix
from samhw.tensors.tensor import Tensor

__all__ = ["check_form", "read_tensor", "write_tensor"]

_TEXTS = {".mtx": matrix_market.read, ".tns": entry_lines.read, ".txt": entry_lines.read_edges}
_ARRAYS = {".npz": npz.read, ".npy": npz.read_array, ".pt": pytorch_file.read, ".pth": pytorch_file.read}
_WRITERS = {
    ".mtx": matrix_market.write,
    ".tns": entry_lines.write,
    ".npz": npz.write,
    ".npy": npz.write_array,
}
_SUFFIXES = "a .mtx, .tns, .npz or .npy file, or a directory"
_READABLE = "a .mtx, .tns, .txt, .npz, .npy or .pt file, or a directory"


def read_tensor(path: Path | str, format: Format | str | None = None, *, name: str | None = None) -> Tensor:
    """Read one tensor.

    Parameters
    ----------
    path
        - ``.mtx``: Matrix Market. Stored as CSR, or dense if the file is of the array form.
        - ``.tns``: FROSTT, one line of 1-based coordinates and a value per entry. Stored as CSF. The shape is
          that of a comment ``# shape: 3 4 5``, or the largest coordinates without one.
        - ``.txt``: an edge list of SNAP, two node numbers a line. Stored as CSR.
        - each of these with ``.gz`` after it, and SuiteSparse's ``.tar.gz`` with a matrix.
        - ``.npy``: one dense array.
        - ``.pt``: one tensor of PyTorch, dense or sparse; nothing is executed.
        - ``.npz``: a file of :func:`write_tensor`, of :func:`scipy.sparse.save_npz`, or with one dense array.
        - a directory with the SAM project's ``tensor_B_mode_0_seg`` files.
    format
        The format to convert to. By default the tensor stays in that of the file.
    name
        Which of the tensors of a directory to read. It may be left out if there is only one.

    Raises
    ------
    InputError
        When the path does not exist, is of an unknown kind or does not parse, or the format is of another
        rank.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist: name {_READABLE}")
        if check_readable(path).is_dir():
            tensor = sam_directory.read(path, name)
        elif text_reader := _TEXTS.get(text_suffix(path)):
            tensor = text_reader(TextFile(path))
        elif reader := _ARRAYS.get(path.suffix):
            tensor = reader(path)
        else:
            raise InputError(f"{path} has an unknown suffix {path.suffix!r}: name {_READABLE}")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from error
    return tensor if format is None else tensor.convert(format)


def write_tensor(path: Path | str, tensor: Tensor, *, name: str = "B") -> None:
    """Write one tensor, in the form that the suffix of ``path`` names; no suffix means a directory.

    ``.npz`` and directories keep the format and every stored value, ``.npy`` is one dense array. ``.mtx`` and
    ``.tns`` are lists of coordinates: they keep the explicit zeros of compressed levels, but only the
    nonzeros of dense ones. Text forms keep integers exact and write floating-point numbers such that float64
    is read back exactly.

    A file appears whole or not at all. In a directory, other tensors stay.

    Parameters
    ----------
    name
        The tensor's name in the file names of a directory.

    Raises
    ------
    InputError
        When the suffix is unknown, the form cannot hold the tensor, or the path cannot be written.
    """
    path = Path(path)
    try:
        if path.is_dir() or not path.suffix:
            sam_directory.write(path, tensor, name)
        else:
            check_form(path, tensor.rank)
            _WRITERS[path.suffix](path, tensor)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason(error)}") from error


def check_form(path: Path, rank: int) -> None:
    """Raises `InputError` for a path of a suffix that no form has, or whose form cannot hold a tensor of that
    rank."""
    if path.suffix and not path.is_dir() and path.suffix not in _WRITERS:
        raise InputError(f"{path} has an unknown suffix {path.suffix!r}: name {_SUFFIXES}")
    if path.suffix == ".mtx" and not path.is_dir():
        matrix_market.check_rank(path, rank)
