"""Scalar code beside NumPy's: the same numbers, for all arguments, in forms that may leave."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf, Query
from gradwire_engine.backends.numpy.emit import ON_NUMBERS, function
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: Units in the last place by which functions may differ, as docs/explanation/accuracy.md says.
MOST_ULPS = 4
MAGNITUDES = [0.0, 5e-324, 1e-300, 1e-9, 0.3, 1.0, 2.0, 7.25, 710.0, 1e5, 1.7e308, math.inf]
ARGUMENTS: dict[str, list[Any]] = {
    "d": [np.float64(sign * x) for x in MAGNITUDES for sign in (1, -1)] + [np.float64(math.nan)],
    "?": [np.False_, np.True_],
}


def _with_scalar_code():
    for op in SINGLETONS.values():
        for count in (1, 2, 3):
            for chars in itertools.product(op.scalar_dtypes, repeat=count):
                types = [ArrayType(np.dtype(char), ()) for char in chars]
                code = ON_NUMBERS[type(op)](op, types)
                if code and f"{{{count - 1}}}" in code and f"{{{count}}}" not in code:
                    try:
                        yield pytest.param(op, types, op.infer(*types), id=f"{op.name}-{chars}")
                    except (EngineError, ValueError):
                        continue


def _ulps(found, expected):
    if found == expected or (np.isnan(found) and np.isnan(expected)):
        return 0 if np.signbit(found) == np.signbit(expected) or np.isnan(found) else math.inf
    return abs(found - expected) / np.spacing(abs(expected))


@pytest.mark.parametrize(("op", "types", "result"), list(_with_scalar_code()))
def test_scalar_code_gives_what_the_kernel_gives(op, types, result):
    inputs = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate(types)]
    slots = tuple(range(len(types)))
    tape = Tape((*inputs, Instruction(op, slots, result, 0)), slots, (len(slots),))
    run, kernel = NumpyExecutable(tape), function(op)
    given = [*itertools.product(*[ARGUMENTS[kind.dtype.char] for kind in types])]
    run.replay([np.asarray(x) for x in given[0]], lambda: None)  # walked, from then on generated
    for values in given:
        with np.errstate(all="ignore"):
            expected = kernel(*values)
        (found,) = run.replay([np.asarray(x) for x in values], lambda: None).outputs
        assert found.dtype == result.dtype
        assert isinstance(found, np.generic)
        if found.dtype == bool:
            assert found == expected, values
        else:
            assert _ulps(found, expected) <= MOST_ULPS, (values, found, expected)


def _replays(ask, text, variables, times=3):
    leaves = {name: Leaf(np.asarray(x)) for name, x in variables.items()}
    call = ask.engine.call(ask.engine.parse(text), leaves, Query("gradient"))
    return [call.replay(ask.poll) for _ in range(times)]


@pytest.mark.parametrize(
    ("text", "value", "slope"),
    [
        ("1/(x - x) + x", math.inf, math.nan),
        ("exp(x*3000)", math.inf, math.inf),
        ("log(x - 1)*0 + x", math.nan, 1.0),
        ("sum(x*v)/(x - x)", math.inf, math.nan),
        ("where(x > 0, x, log(x*0))", 0.5, 1.0),
        ("y = x\nfor i in range(40):\n  y = y + 1/(i - 20.0)\ny", math.inf, 1.0),
        ("y = x\nfor i in range(40):\n  y = y*y*1e3\ny", math.inf, math.inf),
        ("y = x\nwhile y < 40:\n  y = y*2 + sqrt(-y)*0\ny", math.nan, math.nan),
    ],
)
def test_where_python_raises_the_answer_is_that_of_ieee_arithmetic(ask, text, value, slope):
    for answer in _replays(ask, text, {"x": 0.5, "v": np.arange(3.0)}):
        assert isinstance(answer.value, np.generic | np.ndarray)
        np.testing.assert_equal(float(answer.value), value)
        np.testing.assert_equal(float(answer.gradients["x"]), slope)


def test_what_leaves_a_loop_is_of_numpy(ask):
    text = """
y, seen, rows = x, x > 1, v*0
for i in range(60):
    seen = logical_or(seen, y > 1)
    y = y + 0.1*sin(y)*v[i % 3]
    rows = rows + y*v
sum(where(seen, rows, v))*y
"""
    first, *later = _replays(ask, text, {"x": 0.5, "v": np.arange(3.0)})
    for answer in later:
        assert np.asarray(answer.value).dtype == np.float64
        np.testing.assert_allclose(answer.value, first.value, rtol=1e-14)
        for name, slope in first.gradients.items():
            assert answer.gradients[name].dtype == np.float64
            np.testing.assert_allclose(answer.gradients[name], slope, rtol=1e-13)
