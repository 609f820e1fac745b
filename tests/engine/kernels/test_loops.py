"""Loops in kernels: their passes give what the reference's give, whatever ways they take."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.errors import DeadlineExceeded
from gradwire_engine.kernels.form import For, If, Step
from gradwire_engine.ops.halves import HALVES
from gradwire_engine.tape import FLOATING
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.conftest import called
from tests.engine.kernels.tapes import LENGTHS, go_on, kernels

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.backend import NativeBackend


class _Native(Engine):
    backend = NativeBackend()


class _Plain(Engine):
    backend = REFERENCE


#: What passes do to numbers s and r, and arrays u (of the length of v), with numbers a and i.
STATEMENTS = [
    "s = s * 0.9 + 0.1 * sin(a * s)",
    "s = s + 0.01 * sum(u * v)",
    "s, r = r, 0.5 * s * a + 0.1",
    "r = r * 0.8 + 0.02 * i",
    "u = tanh(0.3 * (m @ u) + v)",
    "u = 0.9 * u + 0.05 * roll(u, 1) * s",
    "u = 0.5 * u[::-1] + 0.1 * xs[i]",
    "u = u * 0.95 + 0.01 * exp(-u * u)",
    "m = 0.97 * m + 0.01 * u[:, None] * v",
    "u = where(u > s, u * 0.9, u + 0.01 * r)",
    "s = maximum(s * 0.99, r)",
    "s = 0.9 * s + 0.1 * max(u)",
    "v = v * 0.98 + 0.001 * sum(m, axis=0)",
    "u = 0.9 * u + 0.1 * sum(m * u, axis=1) / (1 + s * s)",
    "u[1:-1] = 0.5 * u[1:-1] + 0.2 * (u[2:] + u[:-2])",
    "u[0] = s * 0.5",
    "u = 0.9 * u[k]",
    "u = u * 0.5 + 0.1 * cumsum(u) / 40",
    "m[k] = 0.9 * m + 0.1 * u",
]
WAYS = [
    "if s > {c}:\n  {0}\nelse:\n  {1}",
    "if sum(u) > {c} + 0.1 * i:\n  {0}",
    "if i > 31:\n  {0}\n  {1}\nelif r < {c}:\n  {2}",
    "for j in range(70):\n  {0}\n  {1}",
    "{0}\nif s * s + r > {c} + 2:\n  break",
    "if abs(r) > {c}:\n  continue\n{0}",
]
HEADS = ["for i in range({n}):", "i = 0\nwhile i < {n} * (1 + 0 * a):\n  i = i + 1"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A loop of a few statements, some of them in ways."""
    body: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        chosen = [draw(st.sampled_from(STATEMENTS)) for _ in range(3)]
        if draw(st.integers(0, 3)) == 0:
            level = draw(st.sampled_from([-0.5, 0.1, 0.4, 1.5]))
            body.append(draw(st.sampled_from(WAYS)).format(*chosen, c=level))
        else:
            body.append(chosen[0])
    head = draw(st.sampled_from(HEADS)).format(n=draw(st.integers(64, 90)))
    if "while" in head:  # whose numbers are floating
        body = [line for line in body if "xs[i]" not in line] or STATEMENTS[:1]
    lines = textwrap.indent("\n".join(body), "  ")
    return f"s, r, u = a * 1.0, 0.3, v * 1.0\n{head}\n{lines}\nsum(u * v) + s * r + s + sum(m)"


def values(n: int, seed: int) -> dict[str, Leaf]:
    """The variables of the programs."""
    rng = np.random.default_rng(seed)
    given = {
        "a": rng.uniform(0.2, 1),
        "v": rng.normal(size=n),
        "m": rng.normal(size=(n, n)) / n,
        "xs": rng.normal(size=(100, n)),
        "k": rng.integers(-n, n, n),
    }
    return {name: Leaf(np.asarray(value)) for name, value in given.items()}


def asked(of: Engine, text: str, leaves: dict[str, Leaf], kind: Any = "gradient") -> Any:
    """A call that can be replayed."""
    sources = {
        name: name for name, leaf in leaves.items() if np.asarray(leaf.value).dtype.kind in FLOATING
    }
    return called(of, text, leaves, kind, sources=sources, unconnected="zero")


def flat(answer: Any) -> list[Any]:
    """Value and gradients."""
    return [answer.value, *answer.gradients.values()]


def steps_of(call: Any) -> list[Step]:
    """All steps of the kernels of a call."""
    found: list[Step] = []
    pending = [s for p in call.entry.paths for k in kernels(p.executable) for s in k.form.nests]
    while pending:
        found.append(pending.pop())
        pending += getattr(found[-1], "nests", ())
    return found


@pytest.mark.thorough
@examples(20)
@given(text=programs(), n=LENGTHS, seed=st.integers(0, 2**32 - 1))
def test_loops_give_what_the_reference_gives(text, n, seed):
    leaves = values(n, seed)
    expected = flat(asked(_Plain(), text, leaves).replay(go_on))
    call = asked(_Native(), text, leaves)
    for _ in range(2):
        for x, y in zip(flat(call.replay(go_on)), expected, strict=True):
            scale = np.max(np.abs(y), initial=1e-3)
            assert_allclose(x, y, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.thorough
@examples(15)
@given(text=programs(), n=st.sampled_from([2, 8, 11]), seed=st.integers(0, 2**32 - 1))
def test_other_values_take_other_ways(text, n, seed):
    native, plain = _Native(), _Plain()
    for number in range(3):
        leaves = values(n, seed + number)
        found, expected = (flat(asked(e, text, leaves).replay(go_on)) for e in (native, plain))
        for x, y in zip(found, expected, strict=True):
            scale = np.max(np.abs(y), initial=1e-3)
            assert_allclose(x, y, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize(
    "text",
    [
        "y = x\nfor i in range(100):\n  y = y + 0.01 * sin(y)\nsum(y * y)",
        "y = x\nfor i in range(80):\n  for j in range(90):\n    y = 0.99 * y + 0.001 * x\nsum(y)",
        "y = x\nwhile sum(y * y) > 0.1:\n  y = 0.99 * y\nsum(y * x)",
        "y = x\nfor i in range(200):\n  y = y * 0.99\n  if sum(y) < 1:\n    break\nsum(y * x)",
    ],
)
def test_all_passes_are_machine_code(text):
    call = asked(_Native(), text, {"x": Leaf(np.linspace(0.5, 1, 11))})
    call.replay(go_on)
    ops = [i.op.name for p in call.entry.paths for i in p.executable.replayed.instructions]
    assert "loop" not in ops
    assert any(isinstance(step, For) for step in steps_of(call))


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sums_of_what_loops_read_are_rounded_in_kernels(dtype):
    text = (
        "s = x\nfor k in range(200):\n  s = s / (1 + s * x[0])\n  if k == 6:\n    s = s * 0.5\n"
        "g = grad(sum(s), x)\nh = grad(sum(s**2), x)\nsum(g**2) * sum(h)"
    )
    leaves = {"x": Leaf(np.linspace(0.2, 0.9, 50).astype(dtype))}
    call = asked(_Native(), text, leaves)
    found, expected = (flat(each.replay(go_on)) for each in (call, asked(_Plain(), text, leaves)))
    assert all(x.tobytes() == y.tobytes() for x, y in zip(found, expected, strict=True))
    plain, replayed = (
        [i.op.name for p in call.entry.paths for i in getattr(p.executable, name).instructions]
        for name in ("tape", "replayed")
    )
    assert plain[plain.index("add_stacks") + 1] == "rounded"
    assert not {"add_stacks", "rounded"}.intersection(replayed)


def test_what_a_loop_within_leaves_decides_and_is_read_after():
    text = """
s, r, u = a * 1.0, 0.3, v * 1.0
for i in range(20):
  for j in range(20):
    s, r = r, 0.8 * s + 0.1
    u = 0.9 * u + 0.01 * s
  if s > 0.4:
    u = 0.7 * u + r
  else:
    u = u * v
sum(u) + s
"""
    leaves = values(5, 3)
    expected = flat(asked(_Plain(), text, leaves).replay(go_on))
    call = asked(_Native(), text, leaves)
    for _ in range(2):
        for x, y in zip(flat(call.replay(go_on)), expected, strict=True):
            assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def test_decisions_are_choices():
    text = "y = x\nfor i in range(90):\n  y = y * 0.9 if y > 1 else y + 0.1\ny"
    for x in (0.2, 3.0):
        call = asked(_Native(), text, {"x": Leaf(np.asarray(x))})
        found = flat(call.replay(go_on))
        assert any(isinstance(step, If) for step in steps_of(call))
        expected = flat(asked(_Plain(), text, {"x": Leaf(np.asarray(x))}).replay(go_on))
        assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.thorough
def test_passes_keep_more_than_there_was_room_for_at_first():
    text = "y, t = x, 0.0\nwhile t < end:\n  y = y + 0.001 * sin(y)\n  t = t + 1.0\ny"
    for end in (0.0, 1.0, 1023.0, 1024.0, 1025.0, 5_000.0):
        leaves = {"x": Leaf(np.asarray(0.3)), "end": Leaf(np.asarray(end))}
        found = flat(asked(_Native(), text, leaves).replay(go_on))
        assert_allclose(found, flat(asked(_Plain(), text, leaves).replay(go_on)))


@pytest.mark.thorough
def test_the_deadline_is_looked_at_between_passes():
    text = "y, t = x, 0.0\nwhile t < end:\n  y = y + 1e-9 * sin(y)\n  t = t + 1.0\ny"
    leaves = {"x": Leaf(np.asarray(0.3)), "end": Leaf(np.asarray(1.0))}
    engine = _Native()
    asked(engine, text, leaves).replay(go_on)
    left = 200

    def poll() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise DeadlineExceeded("the time is up")

    leaves["end"] = Leaf(np.asarray(1e12))
    with pytest.raises(DeadlineExceeded):
        called(engine, text, leaves, "evaluate").replay(poll)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["hessian", "jacobian"])
def test_second_derivatives_of_loops(kind):
    text = "y = x\nfor i in range(66):\n  y = y + 0.01 * sin(y * y[::-1]) * a\nsum(y * y)"
    leaves = {"x": Leaf(np.linspace(-1, 1, 9)), "a": Leaf(np.asarray(0.7))}
    found, expected = (
        leaves_of(asked(engine, text, leaves, kind).replay(go_on).derivatives[kind])
        for engine in (_Native(), _Plain())
    )
    assert found
    for x, y in zip(found, expected, strict=True):
        assert_allclose(x, y, rtol=1e-10, atol=1e-12)


def leaves_of(tree: Any) -> list[Any]:
    """All arrays in nested dictionaries."""
    if isinstance(tree, dict):
        return [x for each in tree.values() for x in leaves_of(each)]
    return [tree]
