"""What Python takes for equal is not the same: the sign of a zero, types, NaN."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.base import Backend
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.errors import EngineError
from gradwire_engine.identity import exact
from gradwire_engine.kernels.form import Carry, Literal
from gradwire_engine.native import is_available, native_backend
from gradwire_engine.ops.base import PRIMITIVES

from tests.engine.conftest import called

#: No two of them are the same, though Python says of some that they are equal.
DIFFERENT = (
    *(0.0, -0.0, 0, False, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), np.float32(0), None),
    *(1.0, 1, True, 1 + 0j, complex(1, -0.0), np.float64(1), (1,), (True,), (1.0,), ((1.0,), 2)),
    *(float("nan"), float("inf"), "nan", (0.0, "x"), (-0.0, "x")),
)


def test_keys_are_equal_only_for_the_same():
    for one, other in combinations(DIFFERENT, 2):
        assert exact(one) != exact(other), (one, other)
    for value in DIFFERENT:
        same = pickle.loads(pickle.dumps(value))
        assert exact(value) == exact(same)
        assert hash(exact(value)) == hash(exact(same))


def made(name: str, field: str, value: Any) -> Any:
    """An operation whose parameters are all 1 but one."""
    op = object.__new__(PRIMITIVES[name])
    for other in op.parameters:
        object.__setattr__(op, other, value if other == field else 1)
    return op


@pytest.mark.parametrize("name", [name for name in PRIMITIVES if PRIMITIVES[name].parameters])
def test_operations_are_equal_only_if_their_parameters_are_the_same(name: str):
    fields = [f for f in PRIMITIVES[name].parameters if (name, f) != ("constant", "value")]
    for field in fields:
        for one, other in ((0.0, -0.0), (1, True), (1.0, 1), (0j, complex(0.0, -0.0))):
            assert made(name, field, one) != made(name, field, other), field
            assert made(name, field, one) == made(name, field, one)
            assert hash(made(name, field, one)) == hash(made(name, field, one))


@pytest.mark.parametrize(
    "number", [lambda x: Literal(x, "d"), lambda x: Carry(0, x, "d")], ids=["literal", "carry"]
)
def test_numbers_of_kernels_are_told_apart(number: Callable[[float], Any]):
    assert len({number(0.0), number(-0.0), number(0.0)}) == 2
    assert (number(0.0), 1) != (number(-0.0), 1)


BACKENDS: dict[str, Callable[[], Backend]] = {"numpy": lambda: NUMPY_BACKEND}
if is_available():
    BACKENDS["native"] = native_backend
#: Functions of an array and a number, of which two stand in one program.
FORMS = (
    *("nan_to_num(x, nan={})", "maximum(x, {})", "where(x > 1, x, {})", "full((3,), {}) * abs(x)"),
    *("x * {}", "copysign(x, {})", "arctan2({}, x)", "clip(x, {}, 2.0)", "stack([x, x * 0 + {}])"),
    *("sum(x) * {}", "pad(x, 1, constant_values={})", "heaviside(x, {})", "x ** {}"),
)
NUMBERS = ("0.0", "-0.0", "0", "np.nan", "-np.inf", "1", "1.0", "True")
POINT = np.array([np.nan, -0.0, 2.0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("exactly", [False, True], ids=["optimised", "exact"])
@pytest.mark.parametrize("form", FORMS)
def test_beside_each_other_they_are_what_they_are_alone(form: str, exactly: bool, backend: str):
    engine = Engine(backend=BACKENDS[backend]())
    query = Query("evaluate", exact=exactly)

    def bits(text: str, count: int) -> list[bytes]:
        """Of each value: copysign shows the sign of a zero, which NaN may lose."""
        program = engine.parse(text)
        answer = engine.call(program, {"x": Leaf(POINT)}, query).replay(lambda: None)
        values = answer.value if count > 1 else [answer.value]
        return [np.where(np.isnan(v), 7.0, v).astype(float).tobytes() for v in values]

    numbers = NUMBERS[:-1] if form.startswith("nan_to_num") else NUMBERS  # which takes no True
    texts = [form.format(number) for number in numbers]
    together = bits(f"({', '.join(texts)})", len(texts))
    for text, found in zip(texts, together, strict=True):
        assert [found] == bits(text, 1), text


#: Programs that tell values of a variable apart: by computing, by deciding, by what they record.
OF_A_VALUE = (
    *("copysign(1.0, x)", "1.0 / (x + 0)", "x * 2", "x / 2", "-x", "nan_to_num(x * 1.0, nan=5.0)"),
    *("1 if x > 0 else -x", "copysign(2.0, x) if x == 0 else x", "zeros(3) + x", "[x, x == x]"),
    *(
        "y = x\nfor i in range(3): y = y * 1.0\ncopysign(1.0, y)",
        "arctan2(x, -1.0)",
        "x.dtype == float64",
    ),
)
VALUES: tuple[Any, ...] = (
    *(0.0, -0.0, 0, False, 0j, complex(-0.0, 0.0), 1.0, 1, True, np.nan, -np.nan, np.inf),
    *(np.float32(0), np.float32(-0.0), np.int32(1), np.float16(1), np.array([0.0]), [0.0, -0.0]),
)


def test_requests_that_differ_in_this_alone_get_answers_of_their_own():
    """In any order of one engine, which keeps what it has recorded and compiled."""

    def answer(engine: Engine, text: str, value: Any) -> list[str]:
        leaves = {"x": Leaf(np.asarray(value))}
        try:
            found = called(engine, text, leaves, "evaluate").replay(lambda: None)
        except EngineError as error:
            return [str(error)]
        values = found.value if isinstance(found.value, list) else [found.value]
        return [repr(np.asarray(v)) for v in values]

    asked = [(text, value) for text in OF_A_VALUE for value in VALUES]
    alone = [answer(Engine(), *each) for each in asked]
    warm = Engine()
    for i in np.random.default_rng(0).permutation(np.repeat(np.arange(len(asked)), 3)):
        assert answer(warm, *asked[i]) == alone[i], asked[i]
