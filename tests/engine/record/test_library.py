"""Functions that are programs: they can be read, and nothing of a client's program reaches them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine import prelude
from gradwire_engine.errors import DomainError
from gradwire_engine.program import Block, Node
from gradwire_engine.record import calls
from gradwire_engine.record.library import SUBROUTINES, WORDS
from numpy.testing import assert_allclose

A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
B = np.array([1.0, -2.0, 0.5])


def nodes(block: Block) -> Iterator[Node]:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from nodes(inner)


@pytest.mark.parametrize("function", SUBROUTINES.values())
def test_every_function_can_be_read_and_calls_what_there_is(function):
    definition = ast.parse(function.text).body[0]
    assert ast.get_docstring(definition, clean=False) == function.__doc__
    for node in nodes(function.body):
        if node.kind == "call" and calls.of_language(node.value[0]) is None:
            calls.resolve(node.value[0])  # refuses what there is not


def test_private_names_and_words_are_used_and_one_functions_each():
    folder = Path(prelude.__file__).parent / "programs"
    texts = [path.read_text("utf-8") for path in folder.glob("*.gw")]
    private = [name for text in texts for name in re.findall(r"(?m)^def (_\w+)", text)]
    assert len(private) == len(set(private))
    for name in {*private, *WORDS}:
        uses = re.findall(rf"(?<![\w.\"]){name}\b(?![\"=])", "\n".join(texts))
        assert len(uses) > (name in private), name


@pytest.mark.parametrize("name", ["vdot", "sqrt", "sum", "x", "implicit", "residual", "where"])
def test_variables_mean_nothing_to_them(ask, name):
    at = {"A": A, "b": B, name: 7.0}
    text = f"y = cg(A, b, tol=1e-12) * {name}\ny @ y"
    answer = ask.answer(text, at)
    y = 7 * np.linalg.solve(A, B)
    assert answer.value == pytest.approx(y @ y)
    assert_allclose(answer.gradients["b"], 14 * np.linalg.solve(A, y), rtol=1e-8)


def test_clients_programs_have_no_words_of_theirs(ask):
    for name in ("_conjugate", "implicit", "captured"):
        with pytest.raises(Exception, match=f"no operation '{name}'"):
            ask.value(f"{name}(b)", {"b": B})


def test_what_fails_in_them_is_at_the_call(ask):
    text = "y = 2 * b\nx = 1 + cg(A, y,\n    maxiter=1, tol=1e-12)\nx"
    with pytest.raises(DomainError, match="still too large") as caught:
        ask.value(text, {"A": A, "b": B})
    at = caught.value.at
    assert at is not None
    assert (at.line, at.column, at.op) == (2, 9, "cg")
