"""The prelude: its files are whole, and a text means there what it means in a program."""

import ast
import os
import re
from typing import Any

import numpy as np
import pytest
from gradwire_engine import prelude
from gradwire_engine.answer import Limits
from gradwire_engine.check.recordings import interpret
from gradwire_engine.dialects import DIALECTS
from gradwire_engine.errors import ArgumentError, BadArgument, InternalError, ShapeMismatch
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.prelude import vocabulary
from gradwire_engine.prelude.compiler import OPERATORS, TRUE, Recorders, translated
from gradwire_engine.prelude.own import OWN_WORDS
from gradwire_engine.prelude.source import Source
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases


def known(name: str) -> Any:
    """The recorder of a call of ``name``, any for one of a library."""
    return vocabulary.meaning(name) or str


OWN = [*prelude.sources(prelude.OWN, prelude.own)]
SOURCES = [s for d in DIALECTS for s in prelude.sources(d.name, d.recorder_of)]
DEFINITIONS = {d for s in [*SOURCES, *OWN] for d in (*s.public, *s.private.values())}
PUBLIC = {f"{s.namespace}.{d.name}": d for s in [*SOURCES, *OWN] for d in s.public}
PRIVATE = {name: d for s in [*SOURCES, *OWN] for name, d in s.private.items()}
X = np.array([[0.5, -1.25, 2.0], [3.0, 0.75, -0.5]])
Y = np.array([1.5, 0.25, -2.0])


def written(text: str) -> ast.FunctionDef:
    """A function's definition."""
    (definition,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return definition


def recorder(text):
    """The recorder of ``f`` as the prelude reads it."""
    code = translated(text, vocabulary.CONSTANTS.keys())
    return Recorders(code, vocabulary.meaning, vocabulary.CONSTANTS)["f"]


def recorded(text, values, **named):
    """The tape of a function's text as the prelude reads it, and its value."""
    b = Builder(Limits())
    inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in values]
    z = recorder(text)(b, *inputs, **named)
    return interpret(b.tape([z]), values)[z.slot]


def test_every_dialect_has_all_of_its_functions():
    known = {name for dialect in DIALECTS for name in dialect.functions}
    known |= {f"np.{name}" for name in FUNCTIONS} | FUNCTIONS.keys()
    sources = [*SOURCES, *OWN]
    aliases = {a for source in sources for names in source.aliases.values() for a in names}
    assert {*PUBLIC} | aliases <= known
    assert len(PUBLIC) > 500


@pytest.mark.parametrize(("first", "second"), [("def _f", ""), ("", "def f"), ("", "f = _g(2)")])
def test_no_two_functions_of_a_library_have_one_name(tmp_path, first, second):
    rest = '(n: Static, x):\n    """``x``."""\n    return x\n\n\n'
    texts = [text + rest if text.startswith("def") else text for text in (first, second)]
    private: dict[str, Any] = {}
    (tmp_path / "np-first.gw").write_text(f"{texts[0]}def _g{rest}")
    Source("np", "first", tmp_path / "np-first.gw", private, prelude.own)
    name = "f" if second else "_f"
    (tmp_path / "np-second.gw").write_text(f"def {name}{rest}{texts[1]}")
    with pytest.raises(InternalError, match=rf"np-second.gw defines {name} once more"):
        Source("np", "second", tmp_path / "np-second.gw", private, prelude.own)


@pytest.mark.thorough
def test_every_definition_can_be_read():
    for name, definition in {**PRIVATE, **PUBLIC}.items():
        if definition.text.startswith("def "):
            doc = ast.get_docstring(written(definition.text), clean=False)
            assert definition.doc == doc, name
        assert "builder" in definition.__signature__.parameters, name
    for name in PUBLIC:
        registries = [dialect.functions for dialect in DIALECTS if name in dialect.functions]
        if registries:
            record: Any = registries[0][name].record
            assert callable(record.own), name
        else:
            record = FUNCTIONS[name.removeprefix("np.")].record
            assert callable(record.record), name


@pytest.mark.thorough
def test_every_private_function_and_every_word_is_used():
    text = "\n".join(d.text for d in DEFINITIONS)
    words = OWN_WORDS.keys() | {n for n, v in vocabulary.CONSTANTS.items() if callable(v)}
    for name in (PRIVATE.keys() | words) - OPERATORS.keys() - {TRUE}:
        assert len(re.findall(rf"(?<![\w.]){name}[(,)]", text)) > (name in PRIVATE), name


@pytest.mark.parametrize(
    "body",
    [
        "return x * y + 2 ** y - x / 3 % 2",
        "return where(x > y, x, y) if x.ndim == 2 else y",
        "n = x.shape[0]\n    if n // 2 and n > 5 or not n:\n        return x\n    return -y * n",
        "z = 0\n    for i, part in enumerate([x, y]):\n        z += part * i\n    return z",
        "a, (b, c) = x, (y, [n for n in x.shape[:1] if n == 2])\n    return a * b * c[0]",
        "return sum(x, axis=-1, keepdims=True) * np.max(y)",
        "sum = x + y\n    return np.sum(sum, 0)",
        "k = 1 if x.shape == (2, 3) and not 0 < x.ndim < 2 else 5\n    return x * k * (7 / 2)",
        "if x.dtype == y.dtype:\n        x = exp(x)\n    else:\n        x = y\n    return x",
        "return (x if 3 in x.shape else y) * (1.0 if y is not None else 2.0)",
    ],
)
def test_a_text_means_what_it_means_in_a_program(ask, body):
    text = f"def f(x, y):\n    {body}\n"
    found = recorded(text, [X, Y])
    assert_array_equal(found, ask.value(f"{text}f(x, y)", {"x": X, "y": Y}, exact=True))


@cases("text, expected")
def test_value(ask, text, expected):
    assert_allclose(ask.value(text, {"x": X, "y": Y}), expected, atol=1e-15)


def test_functions_may_be_arguments(ask):
    body = "z = [g(v, axis=0) for g, v in ((sum, x), (std, y))]\n    return z[0] * z[1]"
    text = f"def f(x, y):\n    {body}\n"
    expected = ask.value(f"{text}f(x, y)", {"x": X, "y": Y}, exact=True)
    assert_array_equal(recorded(text, [X, Y]), expected)


def test_operators_record_what_they_make_of_literals_that_were_given():
    text = "def f(x, by, *, n: Static = 2):\n    return x * (by + by) * (n + n)"
    b = Builder(Limits())
    x = b.input(ArrayType(X.dtype, X.shape))
    recorder(text)(b, x, 3)
    names = [instruction.op.name for instruction in b.instructions]
    assert names == "input constant constant add astype multiply constant multiply".split()


def test_inner_functions_see_the_names_around_them():
    inner = "    def times(z):\n        return z * n\n"
    text = f"def f(x, y):\n    n = x.ndim\n{inner}    return [g(y) for g in (times, lambda z: -z)]"
    b = Builder(Limits())
    inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in (X, Y)]
    found = recorder(text)(b, *inputs)
    values = interpret(b.tape(found), [X, Y])
    assert_array_equal([values[z.slot] for z in found], [Y * 2, -Y])


def test_a_file_is_translated_again_when_it_changes(tmp_path):
    path = tmp_path / "np-own.gw"
    for seconds, factor in enumerate((2, 3, 3)):
        path.write_text(f'def f(x):\n    """``{factor} x``."""\n    return x * {factor}\n')
        os.utime(path, (seconds, seconds))
        b = Builder(Limits())
        (f,) = Source("np", "own", path, {}, prelude.own).public
        z = f(b, b.input(ArrayType(Y.dtype, Y.shape)))
        assert_array_equal(interpret(b.tape([z]), [Y])[z.slot], Y * factor)


def test_what_goes_by_keyword_only_has_its_default():
    text = "def f(x, *, scale: Static = 3):\n    return x * scale"
    assert_array_equal(recorded(text, [X]), X * 3)
    assert_array_equal(recorded(text, [X], scale=2), X * 2)


def test_any_number_of_arguments_is_a_tuple():
    text = "def f(*parts, by: Static = 1):\n    return sum([part * by for part in parts], 0)"
    assert_array_equal(recorded(text, [Y, Y]), Y + Y)
    assert_array_equal(recorded(text, [Y, Y, Y], by=2), Y * 6)


def test_sequences_are_spread_where_their_stars_stand():
    body = "parts = [x, y]\n    return where(x > 0, *parts) - np.sum(*[x, 0], keepdims=True)"
    text = f"def f(x, y):\n    {body}"
    expected = np.where(X > 0, X, Y) - X.sum(0, keepdims=True)
    assert_allclose(recorded(text, [X, Y]), expected, rtol=1e-15)


def test_text_and_tables_known_while_recording_are_pythons():
    body = (
        'kinds = {"sum": (sum, 1), "max": (np.max, 2)}\n    reduce, by = kinds[name.lower()]\n'
        '    return reduce(x, "xy".index("y")) * by if "s" + "um" in kinds else x'
    )
    text = f"def f(x, *, name: Static):\n    {body}"
    assert_array_equal(recorded(text, [X], name="Max"), X.max(1) * 2)
    assert_array_equal(recorded(text, [X], name="SUM"), X.sum(1))


def test_members_of_a_family_take_what_is_left(tmp_path):
    text = (
        'def _scaled(reduce, by: Static, x, *others, axis: Static = 0):\n    """By ``by``."""\n'
        "    return [reduce(z, axis) * by for z in flat([x], others)]\n\n\n"
        "total = _scaled(sum, 2)\n\nmost = _scaled(np.max, -1)\n\nhighest = most\n"
    )
    path = tmp_path / "torch.gw"
    path.write_text(text)
    source = Source("torch", "", path, {}, known)
    total, most = source.public
    assert (total.name, total.doc, str(most.__signature__)) == (
        "total",
        "By ``by``.",
        "(builder, /, x, *others, axis: 'Static' = 0)",
    )
    assert source.aliases == {"total": [], "most": ["torch.highest"]}
    b = Builder(Limits())
    x = b.input(ArrayType(X.dtype, X.shape))
    found = [*total(b, x), *most(b, x, x, axis=1)]
    values = interpret(b.tape(found), [X])
    expected = [X.sum(0) * 2, -X.max(1), -X.max(1)]
    for z, value in zip(found, expected, strict=True):
        assert_array_equal(values[z.slot], value)


@pytest.mark.parametrize("body", ["if x > 0:\n        return x", "return x or 1.0"])
def test_nothing_is_decided_by_values(body):
    with pytest.raises(BadArgument, match="must be a number, got"):
        recorded(f"def f(x):\n    {body}", [Y])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def g(x, n=1):\n        return x\n    return g(x)", "no defaults of inner functions"),
        ("while True:\n        pass", "no while"),
        ("for i in range(3):\n        break", "no break"),
        ("for i in range(3):\n        pass\n    else:\n        x = 1", "no else of a loop"),
    ],
)
def test_what_the_prelude_lacks_is_refused(body, message):
    with pytest.raises(InternalError, match=message):
        recorded(f"def f(x):\n    {body}", [Y])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("F.cross_entropy(x, y, reduction='no')", BadArgument),
        ("torch.narrow(x, 1, 1, 4)", BadArgument),
        ("F.cosine_embedding_loss(x, y, 1.0, 0.0, 'mean')", BadArgument),
        ("tf.image.flip_up_down(y)", ShapeMismatch),
        ("F.mse_loss(x, y[:2])", ShapeMismatch),
    ],
)
def test_errors_are_at_the_call(ask, call, error):
    with pytest.raises(ArgumentError) as caught:
        ask.value(f"a = x * 2\nb = {call}\na + b", {"x": X, "y": Y})
    assert isinstance(caught.value, error)
    assert (caught.value.at.line, caught.value.at.column) == (2, 5)
    assert caught.value.at.op == call.partition("(")[0]
