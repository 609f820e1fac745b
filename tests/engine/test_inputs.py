"""Values of every class and layout that NumPy has: what is computed with is what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.base import Backend
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.errors import InputError
from gradwire_engine.native import is_available, native_backend
from numpy.lib.stride_tricks import as_strided
from numpy.testing import assert_allclose

from tests.engine.conftest import leaf

Array = np.ndarray[Any, Any]
VALUES = np.random.default_rng(5).normal(size=(3, 4))


class Subclass(np.ndarray[Any, Any]):
    """Has places for more than an array has."""

    more = "more"


def _read_only(x: Array) -> Array:
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x: Array) -> Array:
    room = np.zeros(x.nbytes + 1, np.uint8)
    there: Array = room[1:].view(x.dtype).reshape(x.shape)
    there[:] = x
    return there


def _memory_map(x: Array, folder: Path) -> Array:
    mapped = np.memmap(folder / "x", x.dtype, "w+", shape=x.shape)
    mapped[:] = x
    return mapped


def _field(x: Array) -> Array:
    records = np.zeros(x.shape, [("a", np.int8), ("x", x.dtype)])
    records["x"] = x
    return records["x"]


#: Other arrays with the same elements.
FORMS: dict[str, Callable[..., Any]] = {
    "subclass": lambda x: x.view(Subclass),
    "matrix": lambda x: x.view(np.matrix if x.ndim == 2 else Subclass),
    "recarray": lambda x: x.view(np.recarray),
    "nothing masked": lambda x: np.ma.array(x, mask=False),
    "memory map": _memory_map,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "read only": _read_only,
    "unaligned": _unaligned,
    "columns first": np.asfortranarray,
    "backward": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "field of records": _field,
}
#: Others whose elements have one place in memory: with the array that they are equal to.
SHARED: dict[str, Callable[[], Array]] = {
    "zero strides": lambda: as_strided(VALUES[:1, :1].copy(), (3, 4), (0, 0)),
    "overlapping": lambda: np.lib.stride_tricks.sliding_window_view(VALUES.ravel()[:6], 4),
    "broadcast": lambda: np.broadcast_to(VALUES[:1], (3, 4)),
}
BACKENDS: dict[str, Callable[[], Backend]] = {
    "numpy": lambda: NUMPY_BACKEND,
    "reference": lambda: REFERENCE,
}
if is_available():
    BACKENDS["native"] = native_backend
PROGRAM = "y = exp(x * 0.5) + x[0, 0]\nfor i in range(3):\n    y = y * sin(y + x)\nsum(y * y)"


@pytest.fixture(scope="module", params=BACKENDS)
def engine(request: pytest.FixtureRequest) -> Engine:
    backend: Backend = BACKENDS[request.param]()
    return Engine(backend=backend)


def asked(engine: Engine, x: Any, query: Query, vectors: Any = None) -> Array:
    """The value and the derivative, one after the other."""
    program = engine.parse(PROGRAM)
    answer = engine.call(program, {"x": Leaf(x)}, query, vectors).replay(lambda: None)
    derivative = answer.gradients if query.kind == "gradient" else answer.derivatives["jvp"]
    return np.concatenate([np.ravel(answer.value), np.ravel(derivative)])


def the_same(found: Array, expected: Array) -> None:
    """Sums along other axes first may differ in their last bits, foreign memory in all."""
    assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


GRADIENT = Query("gradient", sources="x")


@pytest.mark.parametrize("form", FORMS)
def test_the_elements_count_however_they_are_held(engine: Engine, tmp_path: Path, form: str):
    def formed(x: Array) -> Any:
        return FORMS[form](x, tmp_path) if form == "memory map" else FORMS[form](x)

    the_same(asked(engine, formed(VALUES), GRADIENT), asked(engine, VALUES, GRADIENT))
    forward = Query("jvp", sources="x")
    expected = asked(engine, VALUES, forward, VALUES)
    the_same(asked(engine, VALUES, forward, formed(VALUES)), expected)
    batch, points = Query("gradient", sources="x", batch={"x": 0}), np.stack([VALUES, VALUES + 1])
    the_same(asked(engine, formed(points), batch), asked(engine, points, batch))


@pytest.mark.parametrize("form", SHARED)
def test_elements_may_share_their_place(engine: Engine, form: str):
    given = SHARED[form]()
    the_same(asked(engine, given, GRADIENT), asked(engine, given.copy(), GRADIENT))
    assert given.tobytes() == SHARED[form]().tobytes(), "the caller's array was written to"


NUMBERS = [2.5, np.float64(2.5), np.array(2.5), np.float32(2.5), np.float16(2.5), np.int32(2)]
NUMBERS += [np.longlong(2), np.True_, np.complex64(2.5 - 1j), np.array(2.5, ">f8")]


@pytest.mark.parametrize("number", NUMBERS, ids=[f"{type(x).__name__} {x!r}" for x in NUMBERS])
def test_numbers_are_arrays_without_axes(engine: Engine, number: Any):
    program = engine.parse("exp(x * 0.5) * x + x")
    query = Query("evaluate")
    both = [
        engine.call(program, {"x": Leaf(x)}, query).replay(lambda: None).value
        for x in (number, np.asarray(number).astype(np.asarray(number).dtype.newbyteorder("=")))
    ]
    assert np.asarray(both[0]).tobytes() == np.asarray(both[1]).tobytes()


UNKNOWN = {
    "masked": np.ma.array([1.0, 2.0], mask=[False, True]),
    "records": np.zeros(2, [("a", float), ("b", np.int8)]),
    "objects": np.array([1.0, 2.0], object),
    "text": np.array(["1", "2"]),
    "dates": np.array(["2026-01-01"], "datetime64[D]"),
    "spans": np.array([1, 2], "timedelta64[s]"),
    "longer floats": np.ones(2, np.longdouble),
    "longer complex": np.ones(2, np.clongdouble),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_no_program_computes_with_is_refused_by_name(engine: Engine, what: str):
    program = engine.parse("sum(x.a * 2)")
    with pytest.raises(InputError) as caught:
        engine.call(program, {"x": {"a": Leaf(UNKNOWN[what])}}, Query("evaluate"))
    assert caught.value.at is not None
    assert caught.value.at.id == "x.a"


def test_what_is_refused_as_a_value_is_refused_as_a_vector(engine: Engine):
    program = engine.parse("x * 2")
    for vector in UNKNOWN.values():
        with pytest.raises(InputError):
            engine.call(program, {"x": leaf([1.0, 2.0])}, Query("jvp", sources="x"), vector)
