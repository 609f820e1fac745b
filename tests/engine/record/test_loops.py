"""Loops as one instruction: the same as pass by pass, whatever is asked of them."""

import math
import re
import textwrap
import tracemalloc
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from gradwire_engine.answer import Leaf, Limits, Query
from gradwire_engine.engine import Engine
from gradwire_engine.errors import BadArgument, DeadlineExceeded, DomainError, OverBudget
from gradwire_engine.loops.loop import Loop
from gradwire_engine.nesting import leaves
from gradwire_engine.record import loops
from gradwire_engine.record.loop_trace import LoopTrace
from gradwire_engine.tape import Tape
from numpy.testing import assert_allclose

from tests.engine.conftest import called
from tests.tables import table

V = np.random.default_rng(0).normal(size=(5, 3)) * 0.6
#: Programs of x, w and V that loop.
PROGRAMS = table(__file__, "PROGRAMS")
#: What is asked of them, and the vectors for it.
QUERIES: dict[str, tuple[Query, Any]] = {
    "gradient": (Query("gradient"), None),
    "hessian": (Query("hessian", sources=["x", "w"]), None),
    "forward": (Query("jacobian", mode="forward", sources=["x", "V"]), None),
    "jvp": (Query("jvp", sources=["x", "w", "V"]), [np.float64(0.3), np.float64(-0.7), V * 0.5]),
    "hvp": (Query("hvp", sources=["x", "w"]), [np.float64(0.3), np.float64(-0.7)]),
}


def nothing():
    pass


@pytest.fixture
def singly(monkeypatch):
    """Record every pass by itself."""

    def unroll():
        monkeypatch.setattr(loops, "_MOST_PEELED", 0)

    return unroll


def call(text, query, vectors=None, engine=None, **values):
    engine = engine or Engine()
    given = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    return engine.call(engine.parse(text), given, query, vectors)


def numbers(answer):
    return [np.asarray(x) for x in leaves([answer.value, answer.derivatives]) if x is not None]


def same(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in PROGRAMS for kind in ("gradient", "hessian")]
    # Along directions, each program in one of the ways there are.
    + list(zip(PROGRAMS, cycle(("forward", "jvp", "hvp")), strict=False)),
)
def test_a_loop_gives_what_its_passes_give(singly, name, kind):
    query, vectors = QUERIES[kind]
    made = call(PROGRAMS[name], query, vectors, x=1.3, w=0.8, V=V)
    tapes: dict[str, Tape] = {}
    made.on_tape = tapes.__setitem__
    got = numbers(made.replay(nothing))
    assert any(isinstance(i.op, Loop) for i in tapes["recorded"].instructions)
    singly()
    same(got, numbers(call(PROGRAMS[name], query, vectors, x=1.3, w=0.8, V=V).replay(nothing)))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["gradient", "hessian"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_examples_each_go_their_way(name, kind):
    points = {"x": np.array([1.3, 0.7, 1.0, 0.2]), "w": np.array([0.8, 1.1, 0.9, 0.95])}
    query = Query(kind, sources=["x", "w"], batch={"x": 0, "w": 0})
    got = numbers(call(PROGRAMS[name], query, V=V, **points).replay(nothing))
    alone, engine = Query(kind, sources=["x", "w"]), Engine()
    each = [
        numbers(call(PROGRAMS[name], alone, engine=engine, x=x, w=w, V=V).replay(nothing))
        for x, w in zip(*points.values(), strict=True)
    ]
    same(got, [np.stack(column) for column in zip(*each, strict=True)])


@pytest.mark.thorough
def test_examples_of_examples_end_in_passes_of_their_own(singly):
    text = """
def f(u, v):
    while u < 3:
        u = u * 1.5 + v * w
    return u * v
g = vmap(lambda u: vmap(lambda v: f(u, v))(V[:, 0]**2))(V[:, 1]**2 + x)
sum(g**2)
"""
    points = np.array([0.3, 1.1]), np.array([0.7, 1.4])
    query = Query("hessian", sources=["x", "w"])
    many = query._replace(batch={"x": 0, "w": 0})
    got = numbers(call(text, many, x=points[0], w=points[1], V=V).replay(nothing))
    alone = re.sub(r"g = .*", "g = array([[f(u, v) for v in a] for u in b])", text)
    alone = alone.replace("g = ", "a, b = V[:, 0]**2, V[:, 1]**2 + x\ng = ")
    singly()
    each = [
        numbers(call(alone, query, x=x, w=w, V=V).replay(nothing))
        for x, w in zip(*points, strict=True)
    ]
    same(got, [np.stack(column) for column in zip(*each, strict=True)])


@pytest.mark.thorough
def test_a_loop_in_a_loop_for_examples_of_examples():
    text = """
A = V.T @ V + eye(3) * (1 + x**2)
b = V[0] * w
for i in range(4):
    b = cg(A, b, tol=1e-12) + V[1]
sum(b)
"""
    query, x, w = Query("hessian", sources=["x", "w"]), np.array([0.9, 1.2]), np.array([0.7, 0.4])
    got = numbers(call(text, query._replace(batch={"x": 0, "w": 0}), x=x, w=w, V=V).replay(nothing))
    direct = text.replace("cg(A, b, tol=1e-12)", "solve(A, b)")
    each = [
        numbers(call(direct, query, x=a, w=b, V=V).replay(nothing))
        for a, b in zip(x, w, strict=True)
    ]
    same(got, [np.stack(column) for column in zip(*each, strict=True)])


COUNTED = {
    "range(n)": range,
    "range(3, n, 2)": lambda n: range(3, n, 2),
    "range(n, 0, -3)": lambda n: range(n, 0, -3),
    "range(n, 20)": lambda n: range(n, 20),
}


@pytest.mark.parametrize("counts", COUNTED)
def test_how_many_passes_there_are_needs_no_new_recording(counts):
    engine = Engine()
    program = engine.parse(f"y = x\nfor i in {counts}:\n  y = y + 0.1 * sin(y * i)\ny")
    for n in (5, 100, 0, 3, 6, 1, 7, 1000):
        given = {"x": Leaf(np.array(0.7)), "n": Leaf(np.array(n))}
        made = engine.call(program, given, Query("evaluate"))
        y = 0.7
        for i in COUNTED[counts](n):
            y = y + 0.1 * np.sin(y * i)
        assert_allclose(made.replay(nothing).value, y, rtol=1e-9)
        assert len(made.entry.paths) <= 2  # with passes, and without


def test_a_loop_in_a_loop_that_is_never_entered():
    program = """
t = 0.1
while t < 3:
  u = 0.1
  while u < 0:
    y = equal(y, z)
    u = u + 0.6 + x*x
  t = t + 0.6 + x*x
sum(y) * t
"""
    y, t = np.array([0.5, 0.7]), 0.1
    made = call(program, Query("evaluate"), x=0.2, y=y, z=y)
    while t < 3:
        t = t + 0.6 + 0.2 * 0.2
    assert_allclose(made.replay(nothing).value, y.sum() * t, rtol=1e-12)


@pytest.mark.parametrize(
    "body",
    ["x = concatenate([x, x])", "if x[0] > i - 1:\n    x = x[0] * w\n  else:\n    w = sum(w)"],
)
def test_passes_that_cannot_be_one_instruction_are_as_many_as_asked_for(body):
    program = f"for i in range(n):\n  {body}\nsum(x) * sum(w)"
    for n in range(5):
        values = {"x": [0.5, 0.7], "w": [1.0, 2.0], "n": n}
        leaves = {name: Leaf(np.array(value)) for name, value in values.items()}
        engine = Engine()
        made = called(engine, program, leaves, "evaluate")
        singly = program.replace("range(n)", f"{[*range(n)]}")
        unrolled = called(engine, singly, leaves, "evaluate")
        assert made.replay(nothing).value == unrolled.replay(nothing).value


@pytest.mark.parametrize(
    "text",
    [
        "y = x\nwhile y < end:\n  y = y * 1.1\ny",
        "y = x\nfor i in range(1000):\n  if y > end:\n    break\n  y = y * 1.1\ny",
        "while_loop(lambda y: y < end, lambda y: y * 1.1, x)",
        "lax.while_loop(lambda y: y < end, lambda y: y * 1.1, x)",
        "y, k = x, 0\nwhile y < end:\n  k = k + 1\n  y = y * 1.1\ny + 0*k",
    ],
)
def test_when_values_end_a_loop_is_no_matter_of_the_recording(text):
    engine = Engine()
    program = engine.parse(text)
    for end in (3.0, 1e4, 2.0, 1e9):
        given = {"x": Leaf(np.array(0.7)), "end": Leaf(np.array(end))}
        made = engine.call(program, given, Query("gradient"))
        answer = made.replay(nothing)
        passes = np.ceil(np.log(end / 0.7) / np.log(1.1))
        assert_allclose(answer.value, 0.7 * 1.1**passes, rtol=1e-9)
        assert_allclose(answer.gradients["x"], 1.1**passes, rtol=1e-9)
    assert len(made.entry.paths) == 1


def test_a_loop_of_many_passes_compiles_as_one_of_few():
    sizes = []
    for n in (1000, 100_000):
        made = call(
            f"y = x\nfor i in range({n}):\n  y = y + sin(y) / {n}\ny", Query("gradient"), x=1.0
        )
        made.compile(nothing)
        sizes.append(len(made.entry.paths[0].executable.tape.instructions))
    assert sizes[0] == sizes[1] < 20


def test_what_no_carry_reaches_is_computed_before_the_loop():
    text = "s = 0.0\nfor i, v in enumerate(x):\n  s = s * 0.5 + sin(v * i) * x[999 - i]\ns"
    made = call(text, Query("gradient"), x=np.linspace(0, 1, 1000))
    made.compile(nothing)
    bodies = [
        i.op.body for i in made.entry.paths[0].executable.tape.instructions if type(i.op) is Loop
    ]
    inside = {i.op.name for body in bodies for i in body.tape.instructions}
    assert len(bodies) == 2
    assert inside <= {"input", "constant", "add", "multiply"}


def test_what_cannot_be_recorded_at_once_is_recorded_pass_by_pass():
    """Of what values lead to: only these know the shape, or an item of a list."""
    engine = Engine()
    text = """
y = x
for i in range(40):
    if y > 4:
        y = y * [1.01, 1.02][i % 2]
    y = y*1.02 + w
y
"""
    program = engine.parse(text)
    for x in (1.0, 2.0, 3.0):
        given = {"x": Leaf(np.array(x)), "w": Leaf(np.array(0.005))}
        y = x
        for i in range(40):
            y = (y * [1.01, 1.02][i % 2] if y > 4 else y) * 1.02 + 0.005
        answer = engine.call(program, given, Query("gradient")).replay(nothing)
        assert_allclose(answer.value, y, rtol=1e-12)
        recorded = engine.recording(program, given)
        recorded.run(nothing)
        again = recorded.call(Query("gradient")).replay(nothing)
        same(numbers(again), numbers(answer))
    many = {"x": Leaf(np.array([1.0, 2.0, 3.0])), "w": Leaf(np.array(0.005))}
    batched = engine.call(program, many, Query("gradient", batch={"x": 0})).replay(nothing)
    assert_allclose(batched.value[-1], y, rtol=1e-12)


def test_a_mistake_in_the_only_pass_is_told_as_in_any_other():
    with pytest.raises(BadArgument, match="out of range") as caught:
        call("y = x\nwhile y < 2:\n  y = y + V[7, 0]\ny", Query("evaluate"), x=1.0, V=V).compile(
            nothing
        )
    assert caught.value.at is not None
    assert caught.value.at.line == 3


def test_a_pass_that_fails_says_where():
    text = "y = x\nfor i in range(1000):\n  y = solve(eye(3) * (6 - i), y)\ny"
    with pytest.raises(DomainError, match="not invertible") as caught:
        call(text, Query("gradient"), x=np.ones(3)).replay(nothing)
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (3, 7)


def test_a_rule_that_decides_by_values_is_asked_in_each_pass(singly):
    text = """
def backward(z_bar, z, t):
    return [z_bar * t if t > 1.2 else z_bar * 3 * t]
g = custom_gradient(lambda t: t * t, backward)
y = x
for i in range(300):
    y = sin(g(y) * w + 0.1 * i) + 1
y
"""
    got = numbers(call(text, Query("gradient"), x=1.3, w=0.8).replay(nothing))
    singly()
    same(got, numbers(call(text, Query("gradient"), x=1.3, w=0.8).replay(nothing)))


@pytest.mark.thorough
def test_bodies_that_cannot_be_recorded_at_once_are_tried_once(monkeypatch):
    """However often the loop around them passes."""
    tried = []

    class Counted(LoopTrace):
        def settle(self):
            tried.append(self)
            super().settle()

    monkeypatch.setattr(loops, "LoopTrace", Counted)
    inner = "".join(f"    if sin(y * {k}) > 0:\n      y = y * 1.01\n" for k in range(9))
    text = f"y = x\nfor i in range(40):\n  n = int(y)\n  for j in range(9):\n{inner}y"
    answer = call(text, Query("gradient"), x=1.3).replay(nothing)
    assert np.isfinite(answer.value)
    assert len(tried) <= 3  # outside of another's body, and in it


def test_of_a_loop_within_a_loop_there_is_one():
    text = (
        "for i in range(12):\n  for j in range(500):\n    y = y + sin(y) * 1e-4\n  y = y * 1.01\ny"
    )
    made = call(text, Query("gradient"), y=0.5)
    answer = made.replay(nothing)
    ops = [i.op for i in made.entry.paths[0].executable.tape.instructions]
    assert sum(type(op) is Loop for op in ops) == 2  # there, and back
    e = 1e-6
    ends = [call(text, Query("evaluate"), y=0.5 + d).replay(nothing).value for d in (e, -e)]
    assert answer.gradients["y"] == pytest.approx((ends[0] - ends[1]) / (2 * e), rel=1e-6)


def test_a_loop_that_was_short_may_be_long_later():
    text = """
def f(y, n):
    for i in range(n):
        y = y + sin(y) / n
    return y
f(x, 5) + f(x, 100000)
"""
    made = call(text, Query("gradient"), x=1.0)
    made.compile(nothing)
    assert len(made.entry.paths[0].executable.tape.instructions) < 100


def test_an_endless_loop_is_stopped_while_it_is_replayed():
    polls = 0

    def poll():
        nonlocal polls
        polls += 1
        if polls > 500:
            raise DeadlineExceeded("the time is up")

    with pytest.raises(DeadlineExceeded):
        call("y = x\nwhile y < 5:\n  y = y * w\ny", Query("evaluate"), x=1.0, w=1.0).replay(poll)


def test_passes_that_take_long_are_polled_each():
    polls = 0

    def poll():
        nonlocal polls
        polls += 1

    text = "y = x\nwhile y[0, 0] < 1e6:\n  y = y @ x\nsum(y)"
    made = call(text, Query("evaluate"), x=np.eye(200) * 1.5)
    made.replay(nothing)
    made.replay(poll)
    assert polls >= np.log(1e6) / np.log(1.5)


def test_what_passes_keep_is_within_the_budget():
    engine = Engine(Limits(total_bytes=1_000_000))
    program = engine.parse("y = x\nwhile sum(y) < 1e9:\n  y = y * 1.0001 + sin(y)\nsum(y)")
    given = {"x": Leaf(np.ones(1000))}
    with pytest.raises(OverBudget, match="bytes") as caught:
        engine.call(program, given, Query("gradient")).replay(nothing)
    assert caught.value.at is not None
    assert caught.value.at.line == 2
    assert "checkpoint" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "y = x\ns = 0.0\nfor i in range(40):\n  y = y * w\n  s = s + grad(y, w)\ns",
        "a = x\nb = x*x\nfor i in range(40):\n  b = b + a\n  a = a*w + 0*grad(b, a)\nb",
    ],
)
def test_derivatives_go_back_through_earlier_passes(text, monkeypatch):
    got = numbers(call(text, Query("gradient"), x=0.9, w=1.01).replay(nothing))
    monkeypatch.setattr(loops, "_MOST_PEELED", 0)
    same(got, numbers(call(text, Query("gradient"), x=0.9, w=1.01).replay(nothing)))


#: Functions with long loops: checkpointed, they are loops of loops.
LONG = {
    "for": """
def f(y):
  for i in range(300):
    y = y + sin(y * w + i) * 0.01
  return y
""",
    "1500": """
def f(y):
  for i in range(1500):
    y = y + sin(y * w + i) * 0.01
  return y
""",
    "while": """
def f(y):
  while y < 60:
    y = y * (1 + 0.01 * w)
  return y
""",
    "whilelong": """
def f(y):
  k = 0
  while y < 600:
    y = y * (1 + 0.004 * w)
    k = k + 1
  return y * k
""",
    "break": """
def f(y):
  for i in range(3000):
    y = y * (1 + 0.01 * w)
    if y > 4:
      break
  return y * i
""",
    "breaknot": """
def f(y):
  for i in range(100):
    y = y * (1 + 0.001 * w)
    if y > 4000:
      break
  return y * i
""",
    "ret": """
def f(y):
  for i in range(3000):
    y = y * (1 + 0.01 * w)
    if y > 4:
      return y * y
  return y
""",
    "rows": """
def f(y):
  for v in V:
    y = tanh(y * w + v[0])
  return y
""",
    "rowsbreak": """
def f(y):
  for v in V:
    y = tanh(y * w + v[0])
    if y < -3: break
  return y
""",
    "scan": """
def f(y):
  c, ys = lax.scan(lambda c, v: (tanh(c * w + v[1]), c * v[0]), y, V)
  return c + sum(ys**2)
""",
    "branch": """
def f(y):
  for i in range(200):
    if sin(y) > 0:
      y = y + 0.1 * w
    else:
      y = y - 0.07 * w * y
  return y
""",
}


#: One of each form of loop.
TWICE = ("1500", "while", "break", "rowsbreak", "scan", "branch")


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in LONG for kind in ("gradient", "batch")]
    + [(name, "hessian") for name in TWICE],
)
def test_loops_in_segments_give_the_same(name, kind):
    rows = np.random.default_rng(0).normal(size=(100, 3)) * 0.3
    given = {"x": np.array(0.7), "w": np.array(1.1), "V": rows}
    query = Query(kind, sources=["x", "w"])
    if kind == "batch":
        query, given["x"] = Query("gradient", batch={"x": 0}), np.array([0.7, 1.0, 0.4])
    plain, spared = (
        numbers(call(LONG[name] + f"{f}(x)", query, **given).replay(nothing))
        for f in ("f", "checkpoint(f)")
    )
    same(spared, plain)


@pytest.mark.thorough
def test_checkpoints_keep_little_of_long_loops():
    text = "def f(y):\n  for i in range({}):\n    y = y + sin(y) / 1000\n  return y\nsum({}(x))"
    peaks = {}
    for n in (1_000, 10_000):
        for f in ("f", "checkpoint(f)"):
            made = call(text.format(n, f), Query("gradient"), x=np.linspace(0, 1, 1000))
            made.replay(nothing)
            Engine.backend.release()  # else what it keeps is not asked for again
            tracemalloc.start()
            made.replay(nothing)
            _, peaks[f, n] = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    assert 9 < peaks["f", 10_000] / peaks["f", 1_000] < 11
    assert peaks["checkpoint(f)", 10_000] < 2 * peaks["checkpoint(f)", 1_000]
    assert peaks["checkpoint(f)", 10_000] < 0.03 * peaks["f", 10_000]


def test_decisions_ask_for_what_loops_end_with_and_for_what_passes_wrote(ask):
    text = """
last, all = jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, x)
y = 1.0 if last > 0 else 2.0
y = y + (10.0 if all[2] > 0 else 20.0) + (100.0 if last > 1 else 200.0)
"""
    for end in (1.0, -1.0):
        x = np.linspace(-0.9, end, 3000)
        third = x[:2].sum() * x[2]
        want = (1 if x.sum() > 0 else 2) + (10 if third > 0 else 20) + (100 if x.sum() > 1 else 200)
        assert ask.value(text + "y", {"x": x}) == want


#: Ends of loops, of which one is asked for its derivative in another: the last pass leads there.
TIED = table(__file__, "TIED")


START = "y, s = x * 1.0, x * 2.0\nu = y * y\nfor i in range({}):\n  {}\nd = {}\n"


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("name", TIED)
def test_a_path_leads_through_the_last_passes(singly, name, checkpointed):
    body, target, source = TIED[name]
    text = START.format(70, body, target) + f"return d + grad(d, {source})"
    text = "def f(x):\n" + textwrap.indent(text, "  ") + "\n"
    text += "checkpoint(f)(x)" if checkpointed else "f(x)"
    got = numbers(call(text, Query("gradient"), x=0.9, w=1.3).replay(nothing))
    singly()
    same(got, numbers(call(text, Query("gradient"), x=0.9, w=1.3).replay(nothing)))


@pytest.mark.parametrize("name", TIED)
def test_requests_and_tapes_find_that_path(singly, name):
    *loop, source = TIED[name]
    text, points = START.format(9, *loop), {"x": 0.9, "w": 1.3}
    engine, query = Engine(), Query("gradient", None, "d", [source], unconnected="zero")
    recorded = engine.recording(
        engine.parse(text), {key: Leaf(np.asarray(value)) for key, value in points.items()}
    )
    recorded.run(nothing)
    got = [recorded.call(query).replay(nothing).gradients for _ in range(2)]
    along = call(text, query._replace(kind="jvp"), [np.float64(2)], **points).replay(nothing)
    singly()
    want = call(text, query, **points).replay(nothing).gradients
    assert_allclose([*got, [along.derivatives["jvp"] / 2]], [want] * 3, rtol=1e-12)


#: Derivatives of what passes left, in what they left, or in what they went through.
LEFT = {
    "of one pass": "for i in range(3):\n  u = x * i\n  l = u**2 * w\ngrad(l, u)",
    "added up": "s = 0.0\nfor i in range(3):\n  u = x * i\n  s = s + u**2 * w\ngrad(s, u)",
    "through sums": "u, s = x, 0.0\nfor i in range(3):\n  s = s + u * w\ngrad(s, u)",
    "the same in each": "for i in range(3):\n  u = x * 2\n  l = u**2 * w * i\ngrad(l, u)",
    "a variable itself": "q = sin(x)\nfor i in range(3):\n  y = x\n  l = q * i\ngrad(l, y)",
    "of a loop within": "for j in range(3):\n  u = x * j\n  for i in range(3):\n"
    "    l = u**2 * w * i\ngrad(l, u)",
    "of two loops": "for j in range(3):\n  u = x * j\n  for i in range(3):\n    v = u * i\n"
    "  l = v * w\ngrad(l, v) + grad(l, u)",
    "second": "for j in range(3):\n  u = x * j\n  l = u**3 * w\nhessian(l, u)",
    "in items": "l = sin(x) * w + w**3\nt = 0.0\nfor p in [x, w, x]:\n  t = t + grad(l, p)**2\nt",
    "in pairs": "l = sin(x) * w + w**3\nt = 0.0\nfor p, q in zip([x, w], [w, x]):\n"
    "  t = t + grad(l, p) * q\nt",
    "through rows": "a = stack([x, w, x * w])\nt = 0.0\nfor v in a:\n"
    "  t = t + sum(grad(sum(a * v), a)**2)\nt",
    "through rows of rows": "a = stack([x, w, x * w])\nt = 0.0\nfor v, u in zip(a * 2, a[::-1]):\n"
    "  t = t + sum(grad(sum(a * v) * u, a)**2)\nt",
    "through listed rows": "a = stack([x, w, x * w])\n"
    "sum(stack([grad(sum(a * v), a) for v in a])**2)",
    "at items": "t = 0.0\nfor p in [x, w, x * w]:\n  t = t + grad(p**3 * x, p)**2\nt",
    "in what it begins with": "l = x**3 * w\ny, s = x, 0.0\nfor i in range(4):\n"
    "  s = s + grad(l * y, y)\n  y = y - 0.1 * w\ns + y",
}


@pytest.mark.parametrize("name", LEFT)
def test_derivatives_of_what_passes_left(singly, name):
    got = numbers(call(LEFT[name], Query("gradient"), x=0.9, w=1.3).replay(nothing))
    singly()
    same(got, numbers(call(LEFT[name], Query("gradient"), x=0.9, w=1.3).replay(nothing)))


QUESTIONS: dict[str, tuple[Query, Any]] = {
    "value": (Query("evaluate"), None),
    "gradient": (Query("gradient"), None),
    "target": (Query("gradient", target="loss"), None),
    "exact": (Query("gradient", exact=True), None),
    "batch": (Query("gradient", batch={"b": 0}), None),
    "jacobian": (Query("jacobian", sources=["b"]), None),
    "jvp": (Query("jvp", sources=["b"]), [np.ones(3)]),
    "hvp": (Query("hvp", sources=["b"]), [np.ones(3)]),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_tapes_have_a_length_of_their_own_whatever_is_asked(kind):
    query, vectors = QUESTIONS[kind]
    sizes = []
    for passes in (3, 5, 400):
        text = f"h = zeros(3)\nfor i in range({passes}):\n  h = tanh(V @ h + b)\n"
        text += "loss = sum(h * h)\nloss"
        b = np.ones((2, 3) if query.batch else 3)
        made = call(text, query, vectors, V=V[:3], b=b)
        made.compile(nothing)
        sizes.append(len(made.entry.paths[0].executable.tape.instructions))
    assert sizes[1] == sizes[0] <= 70
    assert sizes[2] <= sizes[0] + 30  # where it pays, parts of each pass are computed at once


COMPREHENSIONS = {
    "elements": "sum([sin(V[i, 0] * x) * w for i in range(5)])",
    "pairs": "sum([p * sum(q) for p, q in [(sin(v @ v * x) * w, v) for v in V]])",
    "a table": "sum(array([[V[i, j] * x + j for j in range(3)] for i in range(5)])**2) * w",
    "branches": "sum([v[0]**2 * x if v[0] > 0 else v[1] * w for v in V])",
    "conditions": "sum([v[0]**2 * x for i, v in enumerate(V) if i % 2]) * w",
    "parts": "y = [V[i, 0] * x for i in range(5)]\nsum(y[1:4]) + y[-1] * w + len(y + [w])",
    "what they are made of": "sum([grad(x * w * w, p) for p in [p for p in [x, w, x]]])",
    "one of them": "y = [sin(V[i, 0] * x) * w for i in range(5)]\ngrad(sum(y) * y[1], y[3])",
    "all of them": "y = [sin(V[i, 0] * x) * w for i in range(5)]\nsum(grad(sum(stack(y)**2), y))",
    "of themselves": "y = [V[i, 0] * x for i in range(3)]\nfor k in range(4):\n"
    "  y = [sin(t) + w for t in y]\nsum(y)",
    "known": "n = [2 * i for i in range(4)]\nsum(zeros(n[3]) + x * w)",
    "functions": "sum([f(x) * w for f in [lambda t: t * k for k in [1.0, 2.0]]])",
}


def same_pass_by_pass(singly, text, query):
    """The same where each pass is recorded by itself."""
    values = {"x": 0.9, "w": 1.3, "V": V}
    got = numbers(call(text, query, **values).replay(nothing))
    singly()
    same(got, numbers(call(text, query, **values).replay(nothing)))


@pytest.mark.parametrize("name", COMPREHENSIONS)
def test_comprehensions_are_loops(singly, name):
    same_pass_by_pass(singly, COMPREHENSIONS[name], Query("gradient"))


@pytest.mark.parametrize("source", ["y", "z"])
def test_elements_of_comprehensions_are_sources(singly, source):
    text = "y = [sin(V[i, 0] * x) * w for i in range(5)]\nz = sum(y) * y[1]\nz * w"
    same_pass_by_pass(singly, text, Query("gradient", sources=[source]))


def test_what_recurs_in_no_pass_is_computed_as_arrays():
    for text in (
        "sum([(V[i + 1, 0] - V[i, 0]**2 * x)**2 for i in range(4)])",
        "s = 0.0\nfor i in range(4):\n  s = s + (V[i + 1, 0] - V[i, 0]**2 * x)**2\ns",
        "s = zeros(3)\nfor j in range(5):\n  s = s + V[j] * x\nsum(s**2)",
    ):
        made = call(text, Query("gradient"), x=1.3, V=V)
        made.compile(nothing)
        assert not any(
            isinstance(i.op, Loop) for i in made.entry.paths[0].executable.tape.instructions
        )


WIDENED = {
    "a sum": "s = 0.0\nfor v in V:\n  s = s + v * x\nsum(s**2) * w",
    "a start": "s = x\nfor v in V:\n  s = s * w + v\nsum(s**2)",
    "two": "s, t = x, 1.0\nfor v in V:\n  s, t = t * v + s, s * w\nsum(s * t)",
    "that is chosen": "s = x\nfor v in V:\n  s = where(s > 0.5, s * w, v)\nsum(s**2)",
    "that is reduced": "s = x\nfor v in V:\n  s = v * w + sum(s)\nsum(s**2)",
    "that decides": "s = x\nfor v in V:\n  if sum(s) > 1:\n    s = s - v\n"
    "  s = s + v * w\nsum(s**2)",
    "that is measured": "s = x\nfor v in V:\n  s = s + v * w + ndim(s)\nsum(s**2)",
    "with a derivative": "s = x\nfor v in V:\n  s = s + grad(sum((s - v)**2), s) * w + v\nsum(s)",
}


@pytest.mark.parametrize("name", WIDENED)
def test_numbers_become_arrays_in_the_first_pass(singly, name):
    same_pass_by_pass(singly, WIDENED[name], Query("gradient"))


def test_powers_of_the_number_of_a_pass_are_products():
    text = "s = 0.0\nfor k in range(6):\n  s = s + x**k * V[k % 5, 0]\ns"
    call(text, Query("gradient"), x=0.0, V=V).replay(nothing)
    x, found = 1.3, call(text, Query("gradient"), x=1.3, V=V).replay(nothing)
    assert_allclose(found.value, sum(x**k * V[k % 5, 0] for k in range(6)), rtol=1e-14)
    slope = sum(k * x ** (k - 1) * V[k % 5, 0] for k in range(6))
    assert_allclose(found.gradients["x"], slope, rtol=1e-13)


ELSEWHERE = {
    "elements": "def f(i):\n  out[i] = x * i + s\n  return x * i\n",
    "twice": "def f(i):\n  out[i] = x * i\n  out[0] = out[0] + sum(out) * w\n  return out[i]\n",
    "a table": "def f(i):\n  d['a'] = d['a'] * w + i\n  return d['a'] * x\n",
    "in turn": "def g(i):\n  out[i] = out[i - 1] + x\n  return out[i]\n"
    "def f(i):\n  return g(i) * w\n",
    "where values say": "def f(i):\n  if s > 1:\n    out[i] = s * x\n  return x * i\n",
    "in a loop": "def f(i):\n  for j in range(3):\n    out[j] = out[j] * w + x * i\n"
    "  return out[2]\n",
}


@pytest.mark.parametrize("loop", ["for i in range(5):", "i = -1\nwhile i < 4:\n  i = i + 1"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_functions_that_passes_call_assign_elsewhere(singly, name, loop):
    text = f"out, d, s = zeros(5), {{'a': x}}, 0.0\n{ELSEWHERE[name]}{loop}\n  s = s + f(i)\n"
    text += "sum(out * arange(5)) + d['a'] + s"
    got = numbers(call(text, Query("gradient"), x=0.9, w=1.3).replay(nothing))
    singly()
    same(got, numbers(call(text, Query("gradient"), x=0.9, w=1.3).replay(nothing)))


def series(last: int, term: Callable[[int], float]) -> float:
    return sum(term(k) for k in range(1, last))


INTEGERS = {
    "powers": ("s = s + x / 2**k", 62, lambda k: 1.5 / 2**k),
    "fractions": ("s = s + x * 2**-k", 900, lambda k: 1.5 * 2.0**-k),
    "fractions of ten": ("s = s + x * 10**(-k)", 300, lambda k: 1.5 * 10.0**-k),
    "factorials": ("f = f * k\n  s = s + x**k / f", 20, lambda k: 1.5**k / math.factorial(k)),
    "quotients": ("s = s + x * (k // 3 % 5) / k", 900, lambda k: 1.5 * (k // 3 % 5) / k),
    "a shape": ("f = f + k\n  s = s + x", 50, lambda k: 1.5),
    "a sign": ("s = s + (-1)**k * x / k", 900, lambda k: (-1) ** k * 1.5 / k),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_passes_are_those_of_python(name):
    body, last, term = INTEGERS[name]
    text = f"s, f = 0.0, 1\nfor k in range(1, {last}):\n  {body}\ns"
    value = call(text, Query("evaluate"), x=1.5).replay(nothing).value
    assert_allclose(value, series(last, term), rtol=1e-12)
    text = f"s, f, k = 0.0, 1, 1\nwhile k < {last}:\n  {body}\n  k = k + 1\ns"
    value = call(text, Query("evaluate"), x=1.5).replay(nothing).value
    assert_allclose(value, series(last, term), rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "s = 0.0\nfor k in range(900):\n  s = s + x / 2**k\ns",
        "s, f = 0.0, 1\nfor k in range(1, 30):\n  f = f * k\n  s = s + x / f\ns",
        "s, k, f = 0.0, 1, 1\nwhile k < 30:\n  f = f * k\n  s = s + x / f\n  k = k + 1\ns",
        "a, b, s = 1, 1, 0.0\nfor k in range(100):\n  a, b = b, a + b\n  s = s + x / a\ns",
        "s, f = x, 1\nwhile s > 0.01:\n  f = f * 3\n  s = s / 1.01 + 0 / f\ns",
        "s = 0.0\nfor k in [1, 2**70, 3]:\n  s = s + x * k\ns",
    ],
)
def test_integers_of_passes_are_refused_beyond_64_bits(text):
    with pytest.raises(BadArgument, match="64 bits"):
        call(text, Query("evaluate"), x=1.5).replay(nothing)


@pytest.mark.parametrize("text", ["y = sin(y) * w\n  s = s + 0.1", "s = s * y\n  y = w * i"])
def test_what_no_path_joins_stays_one_loop(text):
    text = f"y, s = x, 0.5\nfor i in range(9000):\n  {text}\nd = s * y\ngrad(d, y)"
    made = call(text, Query("evaluate"), x=0.9, w=0.7)
    made.compile(nothing)
    assert len(made.entry.paths[0].executable.tape.instructions) < 30


@pytest.mark.thorough
@pytest.mark.parametrize(
    "body",
    [
        "y = stop_gradient(y) * w + y * 0.3 * x",
        "for j in range(9):\n    y = sin(stop_gradient(y)) * w + y * 0.1",
        "y = f(y) + stop_gradient(y) * 0.1",
    ],
)
def test_a_check_holds_what_passes_hold(body):
    rule = "f = custom_gradient(lambda t: (sin(t) * w, lambda z: [z * cos(t) * w]))\n"
    text = f"{rule}y = x\nfor i in range(300):\n  {body}\ny"
    answer = call(text, Query("check", sources=["x"]), x=0.9, w=0.7).replay(nothing)
    assert answer.checks["x"].ok


def test_examples_that_part_have_their_entries():
    text = """
def f(v):
    while v[0] < 3:
        v = v * 1.5 + sum(v) * w
    return v
vmap(f)(V**2 + 0.1)
"""
    queries = [Query("jacobian", sources=["V"], format=form) for form in ("dense", "coo")]
    dense, coo = [
        call(text, query, w=0.7, V=V).replay(nothing).derivatives["jacobian"][0]
        for query in queries
    ]
    found = np.zeros(dense.shape)
    found[tuple(coo["indices"].T)] = coo["values"]
    assert_allclose(found, dense, rtol=1e-12)
    assert coo["values"].size == V.size * 3
