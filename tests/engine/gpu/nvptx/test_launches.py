"""Kernels launched in the interpreter of GPU code give what NumPy gives, in every operation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("llvmlite")

from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Query
from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.ops.constants import Input, Item
from gradwire_engine.tape import ArrayType, Instruction, Tape, TupleType
from gradwire_gpu.cupy.groups import kernels_of
from gradwire_gpu.nvptx import compiler, schedules
from gradwire_gpu.nvptx import launches as launch_making
from gradwire_gpu.nvptx.launches import Launch

from tests.engine.gpu.nvptx.assembling import TARGETS, assembled, assembles, optimised, ptx_of
from tests.engine.gpu.nvptx.launched import go_on, replayed
from tests.engine.ops.kernel_calls import KernelCall, few_of_each, kernel_calls

RNG = np.random.default_rng(7)
#: Of a thread's local memory: registers that are spilled around calls, and what problems keep.
MOST_STACK_BYTES = 256
TOLERANCES = {"d": 1e-11, "D": 1e-11, "f": 2e-5, "F": 2e-5}


def tape_of(call: KernelCall) -> Tape | None:
    """A tape of one operation, none of operations on lists."""
    if any(not isinstance(x, np.ndarray | np.generic) for x in call.operands):
        return None
    types = [ArrayType(np.asarray(x).dtype, np.shape(x)) for x in call.operands]
    made = [Instruction(Input(k), (), kind, 0) for k, kind in enumerate(types)]
    kind = call.op.infer(*types)
    made.append(Instruction(call.op, tuple(range(len(types))), kind, 0))
    inputs, last = tuple(range(len(types))), len(types)
    if not isinstance(kind, TupleType):
        return Tape(tuple(made), inputs, (last,))
    for index, each in enumerate(kind.items):
        made.append(Instruction(Item(index), (last,), each, 0))
    return Tape(tuple(made), inputs, tuple(range(last + 1, len(made))))


def same(got: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    tolerance = TOLERANCES.get(expected.dtype.char, 0)
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1) if tolerance else 0
    assert_allclose(got, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_operations():
    """All operations that threads compute, each by itself."""
    launched: set[str] = set()
    for call in few_of_each(kernel_calls(), 4):
        tape = tape_of(call)
        if tape is None:
            continue
        got, kernels = replayed(tape, call.operands)
        if kernels:
            launched.add(call.op.name)
            expected = call.result if isinstance(call.result, tuple | list) else [call.result]
            for x, y in zip(got, expected, strict=True):
                same(x, y)
    assert len(launched) > 110
    assert {"exp", "sum", "scatter_add", "cumsum", "concatenate"} <= launched


PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "many elements": (
        "sum(tanh(exp(-x * x) * 2 + 1) * sin(x))",
        {"x": RNG.normal(size=40_000)},
    ),
    "float32": (
        "sum(tanh(exp(-x * x) * 2 + 1) * sin(x))",
        {"x": RNG.normal(size=40_000).astype("f")},
    ),
    "seldom other formulas": (
        "sum(sin(x) + tanh(exp(y) / 1e33))",
        {
            "x": (RNG.normal(size=5000) * np.where(RNG.random(5000) < 0.002, 1e20, 1)).astype("f"),
            "y": np.where(RNG.random(5000) < 0.002, 75, RNG.random(5000)).astype("f"),
        },
    ),
    "rows": ("sum(exp(logsumexp(x, axis=1)))", {"x": RNG.random((700, 90))}),
    "long rows, split": ("sum(exp(mean(x, axis=1)))", {"x": RNG.random((3, 30_000))}),
    "columns": ("sum(exp(sum(x * x, axis=0) / 100))", {"x": RNG.random((5000, 10))}),
    "extremes": ("max(x) + sum(max(x, axis=1)) - min(x)", {"x": RNG.random((500, 100))}),
    "gather": ("sum(x[i]**2)", {"x": RNG.random(50_000), "i": np.arange(0, 50_000, 7)}),
    "scatter": ("sum(x[i]**2)", {"x": RNG.random(50), "i": RNG.integers(0, 50, 20_000)}),
    "running sums": ("sum(cumsum(x, axis=0)**2)", {"x": RNG.random((60, 200))}),
    "small": ("sum(x * y) + max(x) * sum(exp(y))", {"x": RNG.random(50), "y": RNG.random(50)}),
    "problems side by side": (
        "u = x\nv = y\nfor k in range(40):\n"
        "    du = 1.1 * u - 0.4 * u * v\n    dv = 0.1 * u * v - 0.4 * v\n"
        "    u = u + 0.01 * du\n    v = v + 0.01 * dv\nsum(u + v)",
        {"x": RNG.random(1000), "y": RNG.random(1000)},
    ),
    "problems of two numbers": (
        "u = x\nfor k in range(20):\n"
        "    u = u + 0.01 * stack([u[:, 1], -sin(u[:, 0])], axis=1) * k\nsum(u**2)",
        {"x": RNG.random((300, 2))},
    ),
    "a loop that reduces": (
        "u = x\ns = 0.0\nfor k in range(20):\n    s = s + sum(u * u)\n"
        "    u = u * 0.9 + 0.01 * s / (1 + s)\ns",
        {"x": RNG.random(70)},
    ),
    "a loop that decides": (
        "u = x\nfor k in range(30):\n    u = u * 1.5\n"
        "    if sum(u) > 900:\n        break\nsum(u**2)",
        {"x": RNG.random(70)},
    ),
    "neighbours": (
        "u = x\nfor k in range(10):\n"
        "    u = u + 0.1 * (roll(u, 1) + roll(u, -1) - 2 * u)\nsum(u**2)",
        {"x": RNG.random(3000)},
    ),
    "large passes": (
        "u = x\nfor k in range(3):\n"
        "    u = u + 0.1 * (roll(u, 1) + roll(u, -1) - 2 * u)\nsum(u**2)",
        {"x": RNG.random(200_000)},
    ),
    "small matrices": (
        "sum(log(diagonal(cholesky(x @ x.T + 10 * eye(6)))))",
        {"x": RNG.random((6, 6))},
    ),
}


@cache
def tape(name: str) -> tuple[Tape, Sequence[Any]]:
    """The optimised tape of value and gradient."""
    text, values = PROGRAMS[name]
    engine = Engine(backend=NativeBackend())
    leaves = {key: Leaf(np.asarray(value)) for key, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("gradient"))
    call.compile(go_on)
    return call.entry.paths[0].tiers.executable.tape, [*map(np.asarray, values.values())]


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("memory_bound", [1 << 6, 1 << 21], ids=["at once", "one by one"])
def test_programs(name, memory_bound, monkeypatch):
    """Whole tapes, also where several passes are begun at once."""
    monkeypatch.setattr(schedules, "_MEMORY_BOUND", memory_bound)
    made, inputs = tape(name)
    got, kernels = replayed(made, inputs)
    assert kernels
    expected = REFERENCE.compile(made, go_on).replay(inputs, go_on).outputs
    for x, y in zip(got, expected, strict=True):
        same(x, y)


@cache
def launches(name: str) -> list[Launch]:
    kernels = kernels_of(tape(name)[0], go_on)
    return [launch for kernel in kernels for launch in kernel.launches]


@pytest.mark.parametrize(("times", "called"), [(1, False), (60, True)])
def test_functions_are_called_where_they_would_be_many_lines(times, called):
    text = "h = x\n" + "h = sin(h)\n" * times + "h"
    engine = Engine(backend=NativeBackend())
    call = engine.call(engine.parse(text), {"x": Leaf(np.ones(20_000))}, Query("evaluate"))
    call.compile(go_on)
    (kernel,) = kernels_of(call.entry.paths[0].tiers.executable.tape, go_on)
    assert [("noinline" in launch.text) for launch in kernel.launches] == [called]


def test_problems_are_one_launch():
    """The passes of all of them, forward and backward."""
    of_problems = [x for x in launches("problems side by side") if "[1 x double]" in x.text]
    assert [launch.threads for launch in of_problems] == [schedules.THREADS_OF_PROBLEMS] * 2


@pytest.mark.thorough
def test_what_problems_have_in_common_is_not_read_where_it_is_written():
    """The interpreter refuses what depends on the order of threads."""
    text = (
        "u = x\ns = c\nfor k in range(40):\n"
        "    s = s * 0.9 + 0.1 * sin(s)\n    u = u + 0.01 * s * u\n[u, s]"
    )
    engine = Engine(backend=NativeBackend())
    values = [RNG.random(300), np.asarray(0.7)]
    leaves = {name: Leaf(value) for name, value in zip("xc", values, strict=True)}
    call = engine.call(engine.parse(text), leaves, Query("evaluate"))
    call.compile(go_on)
    executable = call.entry.paths[0].tiers.executable
    got, (kernel,) = replayed(executable.tape, values)
    assert schedules.THREADS_OF_PROBLEMS in [launch.threads for launch in kernel.launches]
    for x, y in zip(got, executable.replay(values, go_on).outputs, strict=True):
        same(x, y)


@pytest.mark.thorough
@assembles
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_assembled(name, target):
    """All launches are assembled, without a warning."""
    for text in {launch.text: None for launch in launches(name)}:
        assert stack_bytes(text, target) <= MOST_STACK_BYTES


@cache
def stack_bytes(text: str, target: str) -> int:
    made = assembled(ptx_of(optimised(text, target), target), target, spills=True)
    return made["kernel"].stack_bytes


def launches_of(text: str, values: dict[str, Any]) -> tuple[Tape, list[Launch]]:
    """The tape of a program's values, and its launches."""
    engine = Engine(backend=NativeBackend())
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("evaluate"))
    call.compile(go_on)
    made = call.entry.paths[0].tiers.executable.tape
    return made, [launch for kernel in kernels_of(made, go_on) for launch in kernel.launches]


@pytest.mark.thorough
def test_a_number_of_large_passes_is_read_by_one_thread(monkeypatch):
    """Others would read it where it is written."""
    monkeypatch.setattr(launch_making, "_LARGE_PASS", 10)
    text = "u = x\ns = c\nt = 0.5 * c\nfor k in range(40):\n    s = 0.9 * s + 0.1 * sin(s + t)\n"
    text += "    u = 0.9 * u + 0.01 * roll(u, 1)\n[u, s]"
    values = {"x": RNG.random(300), "c": 0.7}
    made, found = launches_of(text, values)
    assert any(launch.counted for launch in found)
    inputs = [*map(np.asarray, values.values())]
    expected = REFERENCE.compile(made, go_on).replay(inputs, go_on).outputs
    for x, y in zip(replayed(made, inputs)[0], expected, strict=True):
        same(x, y)


@pytest.mark.thorough
@assembles
@pytest.mark.parametrize("target", TARGETS)
def test_launches_may_have_many_arguments(target):
    """More than the 4352 bytes that PTX before 8.1 allows; others are for older drivers, too."""
    names = [f"y{k}" for k in range(250)]
    text = "\n".join(f"{name} = x * {k + 20}.5" for k, name in enumerate(names))
    _, found = launches_of(f"{text}\n[{', '.join(names)}]", {"x": RNG.random(50)})
    assert max(len(x.buffers) + len(x.integers) + len(x.numbers) for x in found) > 544
    for launch in found:
        code = compiler.ptx(launch.text)
        many = len(launch.buffers) + len(launch.integers) + len(launch.numbers) > 544
        assert (".version 8.1" in code, ".version 7.8" in code) == (many, not many)
        assembled(code, target, spills=True)
    _, (usual,) = launches_of("x * 2.5", {"x": RNG.random(50)})
    assert ".version 7.8" in compiler.ptx(usual.text)


def test_equal_structures_are_one_text():
    """Lengths and numbers are arguments."""
    text, _ = PROGRAMS["rows"]
    texts = []
    for shape in ((700, 90), (900, 95)):
        engine = Engine(backend=NativeBackend())
        call = engine.call(engine.parse(text), {"x": Leaf(RNG.random(shape))}, Query("gradient"))
        call.compile(go_on)
        found = kernels_of(call.entry.paths[0].tiers.executable.tape, go_on)
        texts.append([launch.text for kernel in found for launch in kernel.launches])
    assert texts[0] == texts[1]
