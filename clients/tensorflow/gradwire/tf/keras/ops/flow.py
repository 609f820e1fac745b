"""Keras's operations on functions: branches, loops, gradients of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradwire.tf as tf


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """The result of one of two functions."""
    return tf.cond(tf.cast(pred, tf.bool), true_fn, false_fn)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """The result of one of several functions, of the first or the last beyond them."""
    place = tf.clip_by_value(tf.cast(index, tf.int32), 0, len(branches) - 1)
    return tf.switch_case(place, [lambda f=f: f(*operands) for f in branches])


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """Values that a function changes while a condition holds."""
    several = isinstance(loop_vars, (tuple, list))

    def changed(*values: Any) -> tuple[Any, ...]:
        found = body(*values)
        return tuple(found) if several else (found,)

    given = tuple(loop_vars) if several else (loop_vars,)
    found = tf.while_loop(cond, changed, given, maximum_iterations=maximum_iterations)
    return tuple(found) if several else found[0]


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    """A value that a function of an index changes for each in a range."""
    first = tf.convert_to_tensor(lower)
    last = tf.cast(upper, first.dtype)
    loop = tf.while_loop(
        lambda index, value: index < last,
        lambda index, value: (index + 1, body_fun(index, value)),
        (first, init_val),
    )
    return loop[1]


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> Any:
    """A carry through the rows of ``xs``, and what each row gave; ``unroll`` is about speed."""
    if not callable(f):
        raise TypeError(f"`f` must be a function; got {f}")
    leaves = [] if xs is None else tf.nest.flatten(xs)
    count = length if length is not None else int(leaves[0].shape[0])
    carry, rows = init, []
    for i in reversed(range(count)) if reverse else range(count):
        row = None if xs is None else tf.nest.map_structure(lambda each, i=i: each[i], xs)
        carry, given = f(carry, row)
        rows.append(given)
    rows = rows[::-1] if reverse else rows
    if not rows or rows[0] is None:
        return carry, None
    return carry, tf.nest.map_structure(lambda *each: tf.stack(each), *rows)


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """A function of each row."""
    return scan(lambda carry, row: (carry, f(row)), (), xs)[1]


def vectorized_map(function: Callable[[Any], Any], elements: Any) -> Any:
    """A function of each row, computed at once."""
    return tf.vectorized_map(function, elements)


def custom_gradient(f: Callable[..., Any]) -> Any:
    """A function that gives its value, and a function of ``upstream`` for its gradient."""
    return tf.custom_gradient(f)
