"""Random NumPy programs with views and in-place changes give the same results as in NumPy."""

import operator
from typing import Any

import gradwire
import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

RNG = np.random.default_rng(10)
ARRAYS: list[Any] = [
    RNG.uniform(-1, 1, (2, 3)),
    RNG.uniform(-1, 1, (3, 2)).T,
    RNG.uniform(-1, 1, 3).astype(np.float32),
    RNG.integers(-3, 4, (2, 3)),
    np.array([[True, False, True]]),
    0.7,
]
UNARY = [np.sin, np.tanh, np.cos, np.negative, np.abs, np.arctan, np.sign]
BINARY = [operator.add, operator.sub, operator.mul, np.maximum, np.arctan2, np.hypot, operator.lt]
IN_PLACE = [operator.iadd, operator.isub, operator.imul]
REDUCTIONS = [np.sum, np.max, np.mean, np.prod, np.cumsum, np.sort]
SHAPED: dict[str, Any] = {
    "T": lambda a: a.T,
    "ravel": lambda a: a.ravel(),
    "flat": lambda a: a.reshape(-1),
    "column": lambda a: a.reshape(-1, 1),
    "flip": np.flip,
    "new axis": lambda a: a[None],
    "squeeze": np.squeeze,
    "swapped": lambda a: np.swapaxes(a, 0, -1),
    "copy": lambda a: a.copy(),
    "fortran": lambda a: a.copy(order="F"),
    "taken": lambda a: a[:, [0, -1]],
    "kept": lambda a: a.astype(np.float64, copy=False),
    "converted": lambda a: a.astype(np.float32),
    "split": lambda a: np.array_split(a, 2)[0],
    "twice": lambda a: np.broadcast_to(a, (2, *np.shape(a))),
}
KEYS = [0, -1, slice(1, None), slice(None, None, -1), (..., 0), (slice(None), 1), ...]
SCALARS = [2, 0.5, True, np.float32(0.25), np.int64(3)]
NUMBER = st.integers(0, 30)
STEP = st.one_of(
    st.tuples(st.just("unary"), NUMBER, st.sampled_from(UNARY)),
    st.tuples(st.just("binary"), NUMBER, NUMBER, st.sampled_from(BINARY)),
    st.tuples(st.just("scalar"), NUMBER, st.sampled_from(SCALARS), st.sampled_from(BINARY)),
    st.tuples(
        st.just("reduce"), NUMBER, st.sampled_from([None, 0, -1]), st.sampled_from(REDUCTIONS)
    ),
    st.tuples(st.just("shape"), NUMBER, st.sampled_from(sorted(SHAPED))),
    st.tuples(st.just("index"), NUMBER, st.sampled_from(KEYS)),
    st.tuples(st.just("set"), NUMBER, st.sampled_from(KEYS), NUMBER),
    st.tuples(st.just("put"), NUMBER, st.sampled_from(KEYS), st.sampled_from(SCALARS)),
    st.tuples(st.just("change"), NUMBER, NUMBER, st.sampled_from(IN_PLACE)),
    st.tuples(st.just("change by"), NUMBER, st.sampled_from(SCALARS), st.sampled_from(IN_PLACE)),
)


def take(pool: list[Any], step: Any) -> None:
    what, number, *rest = step
    i = number % len(pool)
    match what, *rest:
        case "unary", function:
            pool.append(function(pool[i]))
        case "binary", other, function:
            pool.append(function(pool[i], pool[other % len(pool)]))
        case "scalar", other, function:
            pool.append(function(pool[i], other))
        case "reduce", axis, function:
            pool.append(function(pool[i], axis=axis if np.ndim(pool[i]) else None))
        case "shape", how:
            pool.append(SHAPED[how](pool[i]))
        case "index", key:
            pool.append(pool[i][key])
        case "set", key, other:
            pool[i][key] = pool[other % len(pool)]
        case "put", key, scalar:
            pool[i][key] = scalar
        case "change", other, function:
            pool[i] = function(pool[i], pool[other % len(pool)])
        case "change by", other, function:
            pool[i] = function(pool[i], other)
    if np.size(pool[-1]) > 100:
        pool.pop()


def run(steps: list[Any], *arrays: Any) -> list[Any]:
    pool = [array + 0 for array in arrays]
    for step in steps:
        take(pool, step)
    return pool


def possible(steps: list[Any]) -> list[Any]:
    """The steps at which NumPy raises no error."""
    pool = [array + 0 for array in ARRAYS]
    found = []
    for step in steps:
        try:
            take(pool, step)
        except (TypeError, ValueError, IndexError, AttributeError):
            continue
        found.append(step)
    return found


@given(st.lists(STEP, max_size=20))
def test_a_program_agrees_with_numpy(client, steps):
    with np.errstate(all="ignore"):
        steps = possible(steps)
        expected = run(steps, *ARRAYS)
    try:
        found = gradwire.function(lambda *arrays: run(steps, *arrays), client)(*ARRAYS)
    except gradwire.NotTraceable as refused:
        event(str(refused).partition("\n")[0][:60])
        return
    event("compared")
    for one, other in zip(found, expected, strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
