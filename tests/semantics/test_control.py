"""Decisions and loops: S57 and S58."""

import pytest

BRANCHES = {
    "if": "if x > 1:\n  y = a * x\nelse:\n  y = b * x * x\ny",
    "choice": "a * x if x > 1 else b * x * x",
    "early return": "def f(x):\n  if x > 1: return a * x\n  return b * x * x\nf(x)",
    "while": "y = b * x * x\nwhile x > 1:\n  y = a * x\n  break\ny",
    "tf.cond": "tf.cond(x > 1, lambda: a * x, lambda: b * x * x)",
    "tf.case": "tf.case([(x > 1, lambda: a * x)], default=lambda: b * x * x)",
    "lax.cond": "lax.cond(x > 1, lambda t: a * t, lambda t: b * t * t, x)",
}


@pytest.mark.rule("S57")
@pytest.mark.parametrize("name", list(BRANCHES)[:4])
async def test_what_was_executed_is_recorded(wire, name):
    await branches_are_apart(wire, BRANCHES[name])


@pytest.mark.rule("S58")
@pytest.mark.parametrize("name", list(BRANCHES)[4:])
async def test_a_branch_of_a_function_is_recorded_as_executed_too(wire, name):
    """TensorFlow's graphs give 0 for the branch not taken; eager execution, and we, None."""
    await branches_are_apart(wire, BRANCHES[name])


async def branches_are_apart(wire, text):
    taken = await wire.answer(text, {"x": 2.0, "a": 3.0, "b": 5.0})
    assert (taken["value"], taken["gradients"]) == (6.0, {"x": 3.0, "a": 2.0, "b": None})
    other = await wire.answer(text, {"x": 0.5, "a": 3.0, "b": 5.0})
    assert (other["value"], other["gradients"]) == (1.25, {"x": 5.0, "a": None, "b": 0.25})


LOOPS = {
    "for": "r = 1.0\nfor _ in range(n): r = r * x\nr",
    "while": "r = 1.0\ni = 0\nwhile i < n:\n  r = r * x\n  i += 1\nr",
    "value": "r = x\nwhile r < x ** (n - 0.5): r = r * x\nr",
    "tf.while_loop": "tf.while_loop(lambda i, r: i < n, lambda i, r: (i + 1, r * x), [0, 1.0])[1]",
    "tf.foldl": "tf.foldl(lambda r, i: r * x, arange(n), 1.0)",
    "tf.scan": "tf.scan(lambda r, i: r * x, arange(n), 1.0)[-1]",
    "tf.map_fn": "prod(tf.map_fn(lambda i: x, cast(arange(n), 'float64')))",
    "lax.fori_loop": "lax.fori_loop(0, n, lambda i, r: r * x, 1.0)",
    "lax.scan": "lax.scan(lambda r, i: (r * x, r), 1.0, arange(n))[0]",
}


@pytest.mark.rule("S57", "S58")
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", [1, 4, 7])
async def test_loops_of_every_kind_have_the_gradient_of_a_power(wire, name, n):
    answer = await wire.answer(LOOPS[name], {"x": 2.0, "n": {"value": n, "dtype": "int32"}})
    assert answer["value"] == 2.0**n
    assert answer["gradients"] == {"x": n * 2.0 ** (n - 1), "n": None}


@pytest.mark.rule("S57")
async def test_a_maximum_over_a_list_is_of_what_won(wire):
    assert await wire.gradients("max([x, y])", {"x": 1.0, "y": 2.0}) == {"x": 0.0, "y": 1.0}
