import pytest
from hypothesis import given

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Call,
    Concat,
    Div,
    Literal,
    Region,
    Reshape,
    Span,
    Statement,
    dumps,
    load,
    parse,
    walk,
)
from samhw.tensors import Format
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

A = Access.of("A", ("i", "k"))
X = Access.of("X", ("k", "j"))
B = Access.of("B", ("i", "j"))

EXAMPLE = """\
# comments run to the end of the line
tensor A[i=34, k=34] : csr
tensor X[k, j=16] : csf @ (1, 0)   # and may follow a declaration
tensor B[i, j] : (dense, compressed) @ (1,0)
tensor alpha
tensor T[i,j] : dcsr

T[i,j] = alpha * A[i,k] * X[k,j] - 2 * B[i,j]      order i,k,j  # or a statement
x = B[i, j]
fuse {
  U[i,j] = T[i,j] + x

  # even here
  V[i,j] = U[i,j] * 0.5  order j,i
}
"""


def test_example():
    program = parse(EXAMPLE, "dir/example.ein")
    assert program.name == "example"
    shapes = {name: (decl.indices, decl.shape) for name, decl in program.tensors.items()}
    assert shapes["A"] == (("i", "k"), (34, 34))
    assert shapes["X"] == (("k", "j"), (None, 16))
    assert shapes["alpha"] == shapes["x"] == ((), ())
    formats = {name: str(decl.format) for name, decl in program.tensors.items()}
    assert formats == {
        "A": "csr",
        "X": str(Format.parse("csf @ (1, 0)", 2)),
        "B": "csc",
        "alpha": "scalar",
        "T": "dcsr",
        "x": "scalar",
        "U": "dense",
        "V": "dense @ (1, 0)",
    }
    first, second, fused = program.regions
    assert first == Region(
        (Statement(Access.of("T", ("i", "j")), Access("alpha") * A * X - 2 * B, ("i", "k", "j")),)
    )
    assert second == Region((Statement(Access("x"), B),))
    assert [str(statement) for statement in fused.statements] == [
        "U[i, j] = T[i, j] + x",
        "V[i, j] = U[i, j] * 0.5    order j, i",
    ]


def test_nodes_know_their_place():
    statement = parse("tensor B[i,j] : csr\n\nx[i] =  -B[i,j] *\n  2.5   order i,j").statements[0]
    rhs = statement.rhs
    assert statement.lhs.span == Span(3, 1)
    assert rhs.span == Span(3, 17)
    left, right = rhs.children
    assert left.span == Span(3, 9)
    assert [operand.span for operand in left.children] == [Span(3, 10)]
    assert right.span == Span(4, 3)
    assert statement.order_span == Span(4, 9)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("x[i,j] = B[i,j] +\n  B[i,j]", "x[i,j] = B[i,j] + B[i,j]"),
        ("x[i,\nj] = (B[i,j]\n + 1  # one\n) * B[i,\n\nj]", "x[i,j] = (B[i,j] + 1) * B[i,j]"),
        ("x[i,j] =\n\n -B[i,j]  order i,\n j", "x[i,j] = -B[i,j] order i, j"),
        ("fuse { x[i,j] = B[i,j] }", "x[i,j] = B[i,j]"),
        ("fuse {\r\n x[i,j]\t= B[i,j]\r\n}\r\n", "x[i,j] = B[i,j]"),
        (
            "tensor x[i,\n j=3] :\n (dense, # rows\n\n compressed)\nx[i,j] = B[i,j]",
            "tensor x[i,j=3] : csr\nx[i,j] = B[i,j]",
        ),
        ("x[i,j] = .5 * B[i,j] + 5.e-1 + 2E3", "x[i,j] = 0.5 * B[i,j] + 0.5 + 2000.0"),
        ("x[i,j] = B[i,j]\ntensor x[i,j] : csr", "tensor x[i,j] : csr\nx[i,j] = B[i,j]"),
        ("tensor x[i,j] : dcsr @\n (1, 0)\nx[i,j] = B[i,j]", "tensor x[i,j] : dcsc\nx[i,j] = B[i,j]"),
        ("x[i,j] = B[i,j] - - 2", "x[i,j] = B[i,j] - -2"),
        ("x[i,j] = B[i,j] / 2 * B[i,j] /\n 3", "x[i,j] = ((B[i,j] / 2) * B[i,j]) / 3"),
        ("x[i] max =\n B[i,j] where B[i,\nj]", "x[i] max= B[i,j] where B[i,j]"),
    ],
)
def test_layout_does_not_matter(text, same_as):
    declared = "tensor B[i, j] : csr\n"
    assert parse(declared + text) == parse(declared + same_as)


def test_reductions_masks_and_moves():
    program = parse(
        "tensor S[i=4, j=6] : csr\ntensor max[i]\n"
        "m[i] max= S[i, j] where S[i, j]  order i, j\n"
        "n min= m[i] / max(max[i], 0.5)\n"
        "V[i] = S[i, j]\n"
        "R[a] = reshape(V[i])\n"
        "C[a] = concat(a, R[a], R[a])"
    )
    first, second, _, fourth, fifth = program.statements
    S = Access.of("S", ("i", "j"))
    m, top = Access.of("m", ("i",)), Access.of("max", ("i",))
    assert first == Statement(m, S, ("i", "j"), reduction="max", mask=S)
    assert second == Statement(Access("n"), Div(m, Call("max", (top, Literal(0.5)))), reduction="min")
    assert fourth.rhs == Reshape(Access.of("V", ("i",)))
    assert fifth.rhs == Concat("a", (Access.of("R", ("a",)), Access.of("R", ("a",))))
    assert parse(dumps(program)) == program
    assert first.mask is not None
    assert first.mask.span == Span(3, 25)


def test_whole_numbers_stay_whole():
    rhs = parse("tensor b[i]\nx[i] = 2 * b[i] + 2.0").statements[0].rhs
    assert [type(node.value) for node in walk(rhs) if isinstance(node, Literal)] == [int, float]


def test_a_minus_before_a_number_is_part_of_it():
    rhs = parse("tensor b[i]\nx[i] = -2 * b[i]").statements[0].rhs
    assert rhs.children[0] == Literal(-2)


@pytest.mark.parametrize(
    ("order", "storage"),
    [("i,j,k", "dense"), ("k,i,j", "dense"), ("j,k,i", "dense @ (1, 0)"), ("k,j,i", "dense @ (1, 0)")],
)
@pytest.mark.parametrize("declaration", ["", "tensor T[a, b]\n"])
def test_a_result_without_a_format_follows_the_order(order, storage, declaration):
    text = "tensor A[i,k]\ntensor X[k,j]\n" + declaration + f"T[i,j] = A[i,k] * X[k,j] order {order}"
    assert str(parse(text).tensors["T"].format) == storage


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("x = ", "1:5", "expected a tensor, a number or '(', found the end of the text"),
        ("x = b )", "1:7", "expected an operator or the end of the line, found ')'"),
        ("x = 2 b", "1:7", "expected an operator or the end of the line, found 'b'"),
        ("x = (b", "1:7", "expected ')', found the end of the text"),
        ("x b", "1:3", "expected '=', found 'b'"),
        ("x = b[i", "1:8", "expected ',' or ']', found the end of the text"),
        ("x = b[]", "1:7", "expected an index, found ']'"),
        ("x = b[2.5]", "1:7", "expected a whole number in an index, found '2.5'"),
        ("x = b[i]\n + 1", "2:2", "a line cannot begin with '+'; join it to the line before"),
        ("tensor b[i] : csf\n@ (0)", "2:1", "a line cannot begin with '@'; join it to the line before"),
        ("x = b[i]\norder i", "2:1", "a line cannot begin with 'order'; join it to the line before"),
        ("x = order", "1:5", "expected a tensor, a number or '(', found 'order'; a keyword cannot be a name"),
        ("2 = b", "1:1", "expected a statement such as T[i] = A[i] * 2, found '2'"),
        ("x = b % c", "1:7", "unexpected character '%'; an expression is made of + - * / ( )"),
        ("x = b; y = c", "1:6", "unexpected character ';'; begin a new line"),
        ("x = b[i]\n/ 2", "2:1", "a line cannot begin with '/'; join it to the line before"),
        ("x = b[i]\nwhere c[i]", "2:1", "a line cannot begin with 'where'; join it to the line before"),
        ("x = b[i] where 2", "1:16", "expected a tensor, found '2'"),
        ("x = b[i] order i where c[i]", "1:18", "expected an operator or the end of the line, found 'where'"),
        ("x = reshape(b[i] * 2)", "1:18", "expected ')', found '*'"),
        ("x = reshape(2)", "1:13", "expected a tensor, found '2'"),
        ("x = concat(2, b[i])", "1:12", "expected an index, found '2'"),
        ("x mean= b[i]", "1:3", "expected '=', found 'mean'"),
        ("x = b order", "1:12", "expected an index, found the end of the text"),
        ("tensor", "1:7", "expected a tensor's name, found the end of the text"),
        ("tensor b[i=k]", "1:12", "expected a whole number as the extent of 'i', found 'k'"),
        ("tensor b[i=1.5]", "1:12", "expected a whole number as the extent of 'i', found '1.5'"),
        ("tensor b[i] csr", "1:13", "expected ': format' or the end of the line, found 'csr'"),
        (
            "tensor b[i] :",
            "1:14",
            "expected a format after ':', found the end of the text; name one such as dense or csr",
        ),
        ("fuse {\n x = b\n", "1:1", "this fuse block is not closed; end it with '}'"),
        ("fuse {\n}", "1:1", "this fuse block is empty; put statements in it or remove it"),
        ("fuse {\n x = b\n} y", "3:3", "expected a comment or the end of the line, found 'y'"),
        ("fuse {\n fuse {", "2:2", "'fuse' cannot stand in a fuse block; move it out of the block"),
        ("fuse {\n tensor b", "2:2", "'tensor' cannot stand in a fuse block; move it out of the block"),
        ("x = " + "1" * 101, "1:5", "this number is longer than 100 characters; round it"),
        ("x = " + "(" * 5000, "1:105", "expressions nest at most 100 deep; use several statements"),
        ("x = " + "-" * 5000 + "b", "1:105", "expressions nest at most 100 deep; use several statements"),
    ],
)
def test_syntax_error(text, place, message):
    with pytest.raises(InputError) as caught:
        parse(text, "p.ein")
    assert str(caught.value).splitlines()[0] == f"p.ein:{place}: {message}"


def test_a_bad_format_is_located():
    with pytest.raises(InputError, match=r"^p.ein:1:15: tensor 'A': .*'foo'"):
        parse("tensor A[i] : foo\nx = A[i]", "p.ein")


def test_an_error_shows_its_line_with_a_caret():
    with pytest.raises(InputError) as caught:
        parse("tensor b[i]\r\nx =\tb[i] *\tc[i]\r\n")
    assert str(caught.value).split("\n")[1:] == ["  x =\tb[i] *\tc[i]", "     \t      \t^"]


def test_an_error_in_a_long_line_shows_only_the_part_around_it():
    with pytest.raises(InputError) as caught:
        parse("tensor b[i]\nx = " + "b[i] + " * 50 + "c[i]" + " + b[i]" * 45)
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 130
    assert shown[caret.index("^") :].startswith("c[i] + b[i]")


def test_an_empty_text():
    with pytest.raises(InputError, match="program 'p' has no statement; write one such as"):
        parse("# nothing\n\n", "p.ein")


def test_load(tmp_path):
    path = tmp_path / "sum.ein"
    path.write_text(EXAMPLE, encoding="utf-8-sig")
    assert load(path) == load(str(path)) == parse(EXAMPLE)
    assert load(path).name == "sum"
    path.write_text("x = y")
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:1:5: unknown tensor 'y'")


def test_load_refuses_what_it_cannot_read(tmp_path):
    with pytest.raises(InputError, match=r"cannot read program '.*none\.ein': .*; check the path"):
        load(tmp_path / "none.ein")
    path = tmp_path / "binary.ein"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"is not a text file; save it in UTF-8"):
        load(path)


def test_dumps():
    assert dumps(parse(EXAMPLE)) == (
        "tensor A[i=34, k=34] : csr\n"
        "tensor X[k, j=16] : dcsc\n"
        "tensor B[i, j] : csc\n"
        "tensor alpha\n"
        "tensor T[i, j] : dcsr\n"
        "tensor x\n"
        "tensor U[i, j] : dense\n"
        "tensor V[i, j] : dense @ (1, 0)\n"
        "T[i, j] = alpha * A[i, k] * X[k, j] - 2 * B[i, j]    order i, k, j\n"
        "x = B[i, j]\n"
        "fuse {\n"
        "  U[i, j] = T[i, j] + x\n"
        "  V[i, j] = U[i, j] * 0.5    order j, i\n"
        "}\n"
    )
    assert parse(dumps(parse(EXAMPLE))) == parse(EXAMPLE)


@given(programs() | chained_programs(integers=False))
def test_dumps_reads_back(program):
    assert parse(dumps(program)) == program
