"""Files that cannot be read."""

from pathlib import Path

import pytest

from samhw.errors import InputError
from samhw.tensors import read_tensor


def assert_refused(path: Path, text: str, complaint: str) -> None:
    """A file with this text is refused in a sentence that begins with its name."""
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_tensor(path)
    assert str(caught.value).startswith(str(path))
    assert complaint in str(caught.value)
