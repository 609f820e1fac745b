"""Long texts by pieces: each statement is what it is in the whole text, at the same place."""

from __future__ import annotations

import ast

import pytest
from gradwire_engine import Engine
from gradwire_engine.errors import DeadlineExceeded, OverBudget, ProgramSyntaxError
from gradwire_engine.frontends.statements import pieces, statements
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.polling import no_deadline
from hypothesis import example, given
from hypothesis import strategies as st

from tests.effort import examples

LINES = [
    "y = x",
    "y = (x,",
    "  z)",
    "z)",
    "if x:",
    "    y = 1",
    "else:",
    "elif y: pass",
    "elsewhere = 1",
    "def f(a):",
    "    return a",
    "@f",
    "'''",
    '"""',
    "s = 'it\\'s # ('",
    's = r"\\"',
    "s = ''''''",
    's = """"a""b\\""""',
    "s = 'not closed",
    "# it's (",
    "y = x \\",
    "y = x  # why \\",
    "",
    "\t",
    "\f",
    "[a, b] = x",
    "+ 1",
    "é = 'ü'",
    "x; y; z",
    "y = {'a': [1, 2}",
    "y = ]",
    "y = x $ z",
    "for i in x: y = i",
]


def _tree(text):
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


@given(st.lists(st.sampled_from(LINES), max_size=14).map("\n".join), st.integers(1, 40))
@examples(600)
@example("@f\ndef g(a):\n    return a\nz = 1", 2)
@example("y = '''\nz = 1\n'''\nz", 2)
def test_pieces_are_parsed_as_the_whole_is(text, size):
    parts = list(pieces(text, no_deadline, size))
    assert "".join(parts) == text
    trees = [_tree(part) for part in parts]
    whole = _tree(text)
    if whole is None:
        assert None in trees
        return
    above, dumped = 0, []
    for part, tree in zip(parts, trees, strict=True):
        assert tree is not None
        ast.increment_lineno(tree, above)
        dumped += [ast.dump(statement, include_attributes=True) for statement in tree.body]
        above += part.count("\n")
    assert dumped == [ast.dump(s, include_attributes=True) for s in whole.body]


def long(*lines):
    """A text of pieces, in which ``lines`` are spread."""
    filling = [f"v{n} = x if {n} else {n}" for n in range(1500)]
    for number, line in enumerate(lines):
        filling.insert(1 + number * 700, line)
    return "\n".join(filling)


@pytest.mark.parametrize(
    "lines",
    [
        ("y = x",),
        ("def f(a, sin=3):\n    return sin(a)", "y = f(x)"),
        ("def g(a):\n    return h(a)", "def h(a):\n    return a", "y = g(x)"),
        ("np = {'sin': 3}", "y = np.sin"),
        ("y = np.sin(x)", "np = {'sin': 3}"),
        ("é = 'ü'\nü = x", "y = 'é' + ü"),
        ("'''a\nb'''", "if x:\n    y = 1\nelse:\n    y = 2"),
        ("y = (1,\n2)", "[y, x]"),
        ("y = 1", "return y"),
    ],
)
def test_long_programs_are_those_of_one_tree(lines):
    text = long(*lines)
    program, pieced = _of_one_tree(text), parse_text(text)
    assert len(list(pieces(text, no_deadline))) > 1
    assert pieced.id == program.id
    assert list(pieced.positions) == list(program.positions)
    assert pieced.output == program.output
    assert pieced.output_position == program.output_position
    assert parse_text(text.replace("\n", "\r\n")).positions == pieced.positions


def _of_one_tree(text):
    """The program by the tree of the whole text."""
    from gradwire_engine.frontends import text as front
    from gradwire_engine.frontends.statements import Statements

    return front._Reader(text, no_deadline).program([Statements(0, ast.parse(text).body)])


@pytest.mark.parametrize(
    ("line", "at"), [("y = 1 +", (1402, 8)), ("é = ü $ 1", (1402, 7)), ("import x", (1402, 1))]
)
def test_errors_far_below_have_their_places(line, at):
    with pytest.raises(ProgramSyntaxError) as refused:
        parse_text(long("a = 1", "b = 2", line))
    assert refused.value.at is not None
    assert (refused.value.at.line, refused.value.at.column) == at


def test_one_statement_may_be_long_but_not_beyond_all():
    numbers = ", ".join(f"{n}.5" for n in range(30_000))
    assert parse_text(f"y = x if x else 1\nz = sum(array([{numbers}]))").output == "z"
    with pytest.raises(OverBudget, match="a statement of more than 65536 words") as refused:
        parse_text(f"y = x if x else 1\nz = sum(array([{numbers}, {numbers}]))")
    assert refused.value.at is not None
    assert refused.value.at.line == 2
    assert parse_text(f"y = x if x else '{'a' * 300_000}'").output == "y"


@pytest.mark.thorough
def test_reading_a_long_text_can_be_stopped():
    left, looks = 1 << 20, 0

    def poll():
        nonlocal left, looks
        looks += 1
        left -= 1
        if left < 0:
            raise DeadlineExceeded("stopped")

    text = long("y = x")
    program = Engine().parse(text, poll)
    assert looks > len(list(statements(text, no_deadline)))
    for allowed in (*range(0, looks, max(looks // 12, 1)), looks - 1):
        engine, left = Engine(), allowed
        with pytest.raises(DeadlineExceeded):
            engine.parse(text, poll)
        assert engine.parse(text, no_deadline).id == program.id
