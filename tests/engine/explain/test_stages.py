"""Explanations show what is replayed, and say of all of it where it is from and what it takes."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.explain import Explanation, Listing, explain
from gradwire_engine.loops.loop import Loop
from gradwire_engine.native import native_backend
from gradwire_engine.tape import Tape
from programs import random_case

X, M = np.array([0.5, 1.5, 2.0]), np.arange(6.0).reshape(2, 3) / 7
STAGES = ["recorded", "differentiated", "batched", "shrunk", "simplified", "compacted"]
LONG = "t = x\nfor i in range(300):\n  t = t - 0.1*(t**3 - x)\nsum(t)"
NESTED = """
s = 0.0*x
for i in range(200):
  t = x
  while sum(t) < 1000:
    t = 2*t + i
  s = 0.5*s + sin(t)
sum(s)
"""
#: Programs and queries, with how many loops the replay has: the way back goes through those inside
#: of a loop once more.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], int]] = {
    "one product": ("sum((m @ x)**2)", {"x": X, "m": M}, {}, 0),
    "a decision": ("y = sum(x)\nif y > 1:\n  y = sin(y)\ny*y", {"x": X}, {}, 0),
    "a loop": (LONG, {"x": X}, {}, 2),
    "a value alone": (LONG, {"x": X}, {"kind": "evaluate"}, 1),
    "loops in loops": (NESTED, {"x": X}, {}, 5),
    "a hessian": ("sum(exp(x)*x[::-1])", {"x": X}, {"kind": "hessian"}, 0),
    "examples": ("y = sum(x)\nwhere(y > 1, y*y, y)", {"x": M}, {"batch": {"x": 0}}, 0),
}


def explained(text: str, values: dict[str, Any], **asked: Any) -> tuple[Explanation, Tape]:
    """The explanation, timed by a clock that ticks each time it is read, and what is replayed."""
    engine = Engine()
    program, query = engine.parse(text), Query(**{"kind": "gradient", **asked})
    leaves = {k: v if isinstance(v, Leaf) else Leaf(np.asarray(v)) for k, v in values.items()}
    call = engine.call(program, leaves, query)
    call.replay(lambda: None)
    ticks = count()
    found = explain(program, leaves, query, clock=lambda: float(next(ticks)))
    return found, call.entry.paths[0].executable.tape


def samples() -> list[Any]:
    """The cases, and random programs."""
    drawn = [random_case(40)(seed) for seed in range(5)]
    listed = [pytest.param(*case[:3], id=name) for name, case in CASES.items()]
    more = [pytest.param(*case, {}, id=f"random {seed}") for seed, case in enumerate(drawn)]
    return [*listed, *more]


def spelled(listing: Listing) -> str:
    """A listing in the notation of tapes."""
    lines = []
    for step in listing.steps:
        operands = ", ".join(f"%{slot}" for slot in step.operands)
        lines.append(f"%{step.slot}: {step.type} = {step.op}({operands})")
    return "\n".join([*lines, f"return {', '.join(f'%{slot}' for slot in listing.outputs)}"])


def nested(listing: Listing) -> list[Listing]:
    """A listing and those of all bodies in it."""
    bodies = [step.body for step in listing.steps if step.body is not None]
    return [listing, *[inner for body in bodies for inner in nested(body)]]


def tapes(tape: Tape) -> list[Tape]:
    """A tape and those of all bodies in it."""
    bodies = [i.op.body.tape for i in tape.instructions if isinstance(i.op, Loop)]
    return [tape, *[inner for body in bodies for inner in tapes(body)]]


@pytest.mark.generated
@pytest.mark.parametrize(("text", "values", "asked"), samples())
def test_what_is_shown_last_is_what_is_replayed(text, values, asked):
    found, tape = explained(text, values, **asked)
    # Loops are distributed where that pays.
    assert [name for name in found.stages if name != "distributed"] == STAGES
    last = found.replayed
    assert [*map(spelled, nested(last))] == [*map(str, tapes(tape))]
    assert all(step.needed for step in last.steps)


@pytest.mark.parametrize(("text", "values", "asked"), samples())
def test_every_instruction_has_a_place_in_the_text_or_among_the_variables(text, values, asked):
    found, _ = explained(text, values, **asked)
    lines = text.splitlines()
    for listing in (part for stage in found.stages.values() for part in nested(stage)):
        for step in listing.steps:
            at = step.place
            written = at.line and at.column and lines[at.line - 1][at.column - 1 :]
            assert written or at.id in values, step


@pytest.mark.parametrize(("text", "values", "asked"), samples())
def test_every_pass_returns_the_same_types(text, values, asked):
    found, tape = explained(text, values, **asked)
    kinds = [str(tape.instructions[slot].type) for slot in tape.outputs]
    for name in STAGES[2:]:
        steps, outputs = found.stages[name]
        assert [str(steps[slot].type) for slot in outputs] == kinds


@pytest.mark.generated
@pytest.mark.parametrize(("text", "values", "asked"), samples())
def test_times_add_up(text, values, asked):
    found, tape = explained(text, values, **asked)
    times = found.times
    assert times is not None
    ops = [i.op.name for i in tape.instructions]
    assert times.by_op == Counter(op for op in ops if op not in ("input", "constant"))
    assert sum(times.by_line.values()) == sum(times.by_op.values()) == times.total
    lines = [step.place.line for step in found.replayed.steps]
    assert times.by_line == Counter(
        line for line, spent in zip(lines, times.steps, strict=True) if spent
    )


@pytest.mark.generated
@pytest.mark.parametrize(("text", "values", "asked"), samples())
def test_the_code_has_a_line_for_each_instruction(text, values, asked):
    found, tape = explained(text, values, **asked)
    made = [i for i in tape.instructions if i.op.name not in ("constant", "input")]
    shown = Counter(line.op for line in found.code)
    assert {*shown} == {i.op.name for i in made}
    assert Counter(i.op.name for i in made) <= shown  # views of what is multiplied have their own
    assert found.registers > 0
    for lines in (found.code, *found.inner.values()):
        compile("\n".join(line.text for line in lines), "<shown>", "exec")


@pytest.mark.generated
@pytest.mark.parametrize(("text", "values", "asked", "loops"), CASES.values(), ids=CASES)
def test_loops_are_shown_with_what_their_passes_do(text, values, asked, loops):
    found, _ = explained(text, values, **asked)
    assert len(found.inner) == loops == len(nested(found.replayed)) - 1
    for slots, lines in found.inner.items():
        listing = found.replayed
        for slot in slots:
            body = listing.steps[slot].body
            assert body is not None
            listing = body
        shown = {line.op for line in lines if line.op}
        computed = {step.op.name for step in listing.steps}
        assert shown <= computed
        assert lines


def test_what_a_pass_did_shows():
    found, _ = explained("sum(1*x**2) + sum(1*x**2)", {"x": X})
    first, last = found.stages["differentiated"], found.replayed
    assert len(last.steps) < len(first.steps)
    assert "power" in {step.op.name for step in first.steps}
    assert "power" not in {step.op.name for step in last.steps}
    assert found.stages["batched"] == first == found.stages["shrunk"]
    assert any(step.derivative for step in last.steps)


def test_a_batch_is_shown_for_all_examples():
    found, _ = explained("sum(x*x)", {"x": M}, batch={"x": 0})
    steps, outputs = found.stages["batched"]
    assert {str(steps[slot].type) for slot in outputs} == {"float64[2, 3]", "float64[2]"}


@pytest.mark.generated
def test_predictions_are_those_that_limits_are_held_against():
    text, values = "exp(sum(tanh(x*x)))", {"x": np.ones(10_000)}
    engine = Engine()
    leaves = {name: Leaf(value) for name, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("gradient"))
    call.replay(lambda: None)
    executable = call.entry.paths[0].executable
    found = explain(engine.parse(text), leaves, Query("gradient"))
    assert found.times is None
    assert (found.flops, found.peak_bytes) == (executable.flops, executable.peak_bytes)
    steps = found.replayed.steps
    assert found.flops <= sum(step.flops for step in steps) <= found.flops + 100
    assert max(step.nbytes for step in steps) == 80_000 < found.peak_bytes


@pytest.mark.generated
def test_a_kernel_is_shown_with_its_instructions(monkeypatch):
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(Engine, "backend", native_backend())
    x = {"x": Leaf(np.linspace(-1, 1, 400_000))}
    found, _ = explained("y = sin(x) * x\nsum(y * exp(-y))", x)
    assert [*found.stages] == [*STAGES, "fused"]
    (kernel,) = [step for step in found.replayed.steps if step.body]
    before = found.stages["compacted"].steps
    fused = kernel.body.steps if kernel.body else ()
    assert len(fused) > 10
    for step in fused:
        assert step[:4] == before[step.slot][:4]
    assert kernel.flops == sum([step.flops for step in fused])
    assert "native" in {line.op for line in found.code}
    assert len(found.replayed.steps) < len(before)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("sum(tanh(sort(tanh(x))) * x)", {"a library computes it"}),
        ("y = tanh(x)\nif sum(y) > 0:\n  y = sin(y)\nsum(y * y)", {"a decision"}),
        (
            "y = tanh(x) + 1\nsum(astype(y, 'int8') * 1.0) + sum(y)",
            {"dtype int8"},
        ),
        ("sum(tanh(x) * exp(x))", set()),
    ],
)
def test_machine_code_says_why_neighbours_are_apart(program, why):
    pytest.importorskip("llvmlite")
    from gradwire_engine.native import native_backend

    ticks = count()
    found = explain(
        Engine().parse(program),
        {"x": Leaf(np.linspace(0.1, 1, 40))},
        Query("evaluate"),
        backend=native_backend(),
        clock=lambda: float(next(ticks)),
    )
    assert {*found.unfused.values()} - {"another fusion level"} == why
    for slot, arg in found.unfused:
        assert arg in found.replayed.steps[slot].operands
    fused = [step.slot for step in found.replayed.steps if str(step.op).startswith("native")]
    assert [kernel.slot for kernel in found.kernels] == fused
    for kernel in found.kernels:
        body = found.replayed.steps[kernel.slot].body
        assert body is not None
        assert kernel.instructions == len(body.steps)
        assert kernel.flops == sum(step.flops for step in body.steps)
        assert kernel.moved_bytes > 0
        assert kernel.gigabytes_per_second == kernel.moved_bytes / 1e9  # a tick
