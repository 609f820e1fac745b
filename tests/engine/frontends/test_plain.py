"""Texts read without a syntax tree are read as by the tree; all others are left to the tree."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from gradwire_engine.errors import ProgramSyntaxError
from gradwire_engine.frontends.plain import read_plain
from gradwire_engine.frontends.text import parse_text, parse_tree
from gradwire_engine.program import Position, Program
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

PIECES = (
    "x y u1 f sin np.sin np.pi x.T np. lambda True None if is not _ ( ) [ ] { } , ; : = == += "
    "+ - * ** / // % @ < ~ . 0 2 007 1_0 0x1f 2.5 .5 1. 1e-3 2E+5 1j 3x 'a' # \\ é"
).split()
BINARY = ("+", "-", "*", "/", "//", "%", "@", "**")


def same(one: Program, other: Program) -> bool:
    """True if two programs are read alike, literals with their types and signs, and placed so."""
    return (
        repr(one.body) == repr(other.body)
        and one.output == other.output
        and one.output_position == other.output_position
        and [*one.positions] == [*other.positions]
    )


@pytest.mark.thorough
@examples(1000)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "\t"])), max_size=9),
        min_size=1,
        max_size=4,
    )
)
def test_plain_is_only_what_the_tree_reads_alike(lines):
    text = "\n".join("".join(piece + space for piece, space in line) for line in lines)
    found = read_plain(text, lambda: parse_tree(text).positions)
    if found is not None:
        assert same(found, parse_tree(text))


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    calls = st.builds(
        lambda name, args: f"{name}({', '.join(args)})",
        st.sampled_from(["f", "np.sin", "x1"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    return st.one_of(
        st.builds(" ".join, st.tuples(inner, st.sampled_from(BINARY), inner)),
        inner.map("-{}".format),
        inner.map("({})".format),
        st.builds("x[{}]".format, inner),
        st.builds("({})[{}, {}]".format, inner, inner, inner),
        st.builds("x[{}:{}, :{}]".format, inner, inner, inner),
        st.builds("x[{}::{}, None, ::, {}:]".format, inner, inner, inner),
        st.builds("f({}, axis={}, keep=True)".format, inner, inner),
        calls,
    )


EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "y_2", "np.pi", "3", "0", "2.50", "1e-3", ".5"]), _combined, max_leaves=12
)
TARGETS = st.sampled_from(["x", "y_2", "z", "u, v", "u ,v,w"])
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, TARGETS, EXPRESSIONS),
    st.builds("{}={}, {}  # both".format, TARGETS, EXPRESSIONS, EXPRESSIONS),
    EXPRESSIONS,
    TARGETS,
    st.sampled_from(["", "  ", "# a comment"]),
)


@examples(300)
@given(st.lists(STATEMENTS, min_size=1, max_size=6))
def test_assignments_of_arithmetic_and_calls_are_plain(statements):
    text = "\n".join([*statements, *statements, "z = x"])
    found = read_plain(text, lambda: parse_tree(text).positions)
    assert found is not None
    assert same(found, parse_tree(text))


@pytest.mark.parametrize(
    "text",
    [
        "f = x\nf(x)",
        "y = f(x)\nf = x",
        "np = x\nnp.pi",
        "x = 2\n y = 3",
        "x = y = 2",
        "y = x\n(y)",
        "(x), y",
        "pass",
        "# y",
    ],
)
def test_what_means_something_else_is_left_to_the_tree(text):
    assert read_plain(text, list) is None


def test_what_is_nested_too_deep_is_left_to_the_tree():
    text = "y = " + 120 * "-(" + "x" + 120 * ")"
    assert read_plain(text, list) is None
    with pytest.raises(ProgramSyntaxError, match="levels deep"):
        parse_text(text)


def test_long_texts_are_polled():
    polls = []
    assert read_plain("y = x + 1\n" * 10_000, list, lambda: polls.append(1))
    assert 10 <= len(polls) <= 100


def test_positions_are_found_when_they_are_asked_for():
    text = "y = x + 1\ny * foo(y)"
    asked = []

    def find() -> Sequence[Position]:
        asked.append(text)
        return parse_tree(text).positions

    found = read_plain(text, find)
    assert found is not None
    assert len(found.positions) == len(found.body.nodes)
    assert not asked
    call = next(node for node in found.body.nodes if node.value == ("foo", ()))
    assert (found.place(call.at).line, found.place(call.at).column) == (2, 5)
    assert asked == [text]
