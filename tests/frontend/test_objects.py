import sys

import pytest

from samhw.errors import InputError
from samhw.lang import load_object, parse

PROGRAM = """
from __future__ import annotations
from dataclasses import dataclass
from samhw.lang import ProgramBuilder
from sizes import rows

@dataclass
class Sizes:
    rows: int = rows

p = ProgramBuilder("scale")
i = p.index("i", Sizes().rows)
b, x = p.tensor("b", i), p.tensor("x", i)
x[i] = 2 * b[i]
program = p.program()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "sizes.py").write_text("rows = 5\n")
    path = tmp_path / "scale.py"
    path.write_text(PROGRAM)
    yield path
    sys.modules.pop("sizes", None)


@pytest.mark.parametrize("name", ["p", "program"])
def test_programs_and_builders(file, name):
    import_path = list(sys.path)
    program = load_object(f"{file}:{name}")
    assert program == parse("tensor b[i=5]\ntensor x[i=5]\nx[i] = 2 * b[i]")
    assert program.name == "scale"
    assert sys.path == import_path


@pytest.mark.parametrize("spec", ["scale.py", "scale.py:", ":p"])
def test_a_spec_that_names_no_object(spec):
    with pytest.raises(
        InputError, match=r"does not name an object in a Python file; write it as file\.py:object$"
    ):
        load_object(spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'{0}' has no object 'p'; name a Program or ProgramBuilder that it defines"),
        ("p = 3", "'{0}:p' is of type int; name a Program or ProgramBuilder"),
        ("x = 1\ny = x / 0", "{0}:2: ZeroDivisionError: division by zero; fix the file"),
        ("x = 1\n\ny = (", "{0}:3: SyntaxError: '(' was never closed ("),
        ("def f():\n  raise SystemExit(3)\nf()", "{0}:2: SystemExit: 3; fix the file"),
        ("import numpy\nnumpy.zeros('x')", "{0}:2: TypeError: "),
        (
            "from samhw.lang import ProgramBuilder\np = ProgramBuilder('q')",
            "program 'q' has no statement; write one such as T[i] = A[i] * 2",
        ),
        (
            "from samhw.lang import ProgramBuilder as PB\np = PB('q')\np.tensor('b', p.index('i'))[0]",
            "tensor 'b' is indexed by 0; use indices",
        ),
        (
            "from samhw.lang import Program\np = Program('q', {{}}, ())",
            "program 'q' has no statement; write one such as T[i] = A[i] * 2",
        ),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text.format())
    with pytest.raises(InputError) as caught:
        load_object(f"{path}:p")
    assert str(caught.value).startswith(message.format(path))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"there is no file '.*none\.py'; check the path"):
        load_object(f"{tmp_path}/none.py:p")
