"""Tapes replayed on a GPU give NumPy's numbers: launch by launch, captured, and where they fail.

The GPU is a simulated one and, where there is one, a real one.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import count, cycle
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Limits, Query
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.errors import EngineError
from gradwire_gpu.cupy.host import is_capturable
from numpy.testing import assert_allclose

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from tests.engine.gpu.cupy.machine import simulated, texts_alone
from tests.engine.gpu.cupy.memory import MEMORY
from tests.engine.gpu.nvptx.launched import go_on
from tests.engine.gpu.nvptx.test_launches import PROGRAMS, same, tape, tape_of
from tests.engine.ops.kernel_calls import few_of_each, kernel_calls
from tests.gpu.conftest import missing

RNG = np.random.default_rng(11)
ROOM_BYTES = 1 << 28


@contextmanager
def opened(device, **options):
    from gradwire_gpu import gpu_backend

    if device == "simulated":
        with simulated():
            yield gpu_backend(ROOM_BYTES, texts_alone, **options)
        return
    if reason := missing():
        pytest.skip(reason)
    yield gpu_backend(ROOM_BYTES, **options)


DEVICES = "simulated", pytest.param("real", marks=pytest.mark.gpu)


@pytest.fixture(scope="module", params=DEVICES)
def backend(request):
    with opened(request.param) as backend:
        yield backend


def asked(backend, text, values, kind="gradient", limits=None):
    engine = Engine(limits or Limits(), backend=backend)
    leaves = {key: Leaf(np.asarray(value)) for key, value in values.items()}
    return called(engine, text, leaves, kind)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_operations(backend):
    """Every operation by itself: most by code of our own, others by CuPy's, some by the host.

    What can be captured is launched, captured, and launched as a graph.
    """
    wrong = {}
    for call in few_of_each(kernel_calls(), 1):
        made = tape_of(call)
        if made is None:
            continue
        expected = call.result if isinstance(call.result, tuple | list) else [call.result]
        if call.op.name in ("eigh", "reduced_svd", "reduced_qr", "orthonormal_complement", "eig"):
            continue  # vectors may have another sign: the registry's test knows what is unique
        try:
            executable = backend.compile(made, go_on)
            for _ in range(3 if is_capturable(call.op, call.types) else 1):
                got = executable.replay(call.operands, go_on).outputs
                for x, y in zip(got, expected, strict=True):
                    same(x, y)
        except Exception as error:  # noqa: BLE001 - all are listed
            wrong[str(call)] = f"{type(error).__name__}: {error}"[:200]
    assert wrong == {}


HALF = {
    "chain": "y = x\nfor i in range(3):\n  y = tanh(y) * 1.5 + sin(y)\nsum(exp(-y * y) + y[::-1])",
    "layers": "mean(tanh(x[None, :] * 0.1 @ w) ** 2)",
    "sorted": "s = sort(x)\nsum(s * arange(40)) + s[3]",
    "decided": "sum(x) if max(x) > 0 else sum(x * x)",
    "passes": "s = x[0]\nwhile s < 100:\n  s = s * 1.5 + 1\ns",
    "stacks": (
        "a = 0.01 * w[0, 0] ** 2\ns = 0.1 + x * x\n"
        "for k in range(40):\n  s = s / (1 + s * a)\n  if k == 6:\n    s = s * 0.5\n"
        "g = grad(sum(s), x)\nh = grad(sum(s**2), a)\nsum(g**2) * h"
    ),
    "others": "sum(astype(x, 'float32') * linspace(0.1, 1, 40)) + sum(x * w[:, 0])",
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "dtype"), [*zip(HALF, cycle(["float16", "bfloat16"]), strict=False)]
)
def test_half_precision(backend, name, dtype):
    """As on the host, but where sums are added up in another order."""
    rng = np.random.default_rng(5)
    values = {"x": rng.normal(size=40).astype(dtype), "w": rng.normal(size=(40, 3)).astype(dtype)}
    expected = asked(NUMPY_BACKEND, HALF[name], values).replay(go_on).gradients
    call = asked(backend, HALF[name], values)
    for _ in range(3):
        got = call.replay(go_on).gradients
        assert got["x"].dtype == dtype
        for x, y in [(got[key], expected[key]) for key in values if expected[key] is not None]:
            assert_allclose(x.astype(float), y.astype(float), rtol=2e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("text", "products"),
    [
        ("a.T @ b", 1),
        ("tanh(a).T @ (b * 0.5)", 1),
        ("astype(a, 'float32').T @ b", 1),
        ("(astype(a, 'float32') * 0.5).T @ b", 0),
        ("a @ b.T", 0),
    ],
)
def test_many_products_of_halves_are_of_halves(backend, text, products, dtype):
    """Where both factors were rounded and there are many; sums of float32 stay in float32."""
    rng = np.random.default_rng(5)
    values = {name: rng.normal(size=(9, 400)).astype(dtype) for name in "ab"}
    expected = asked(NUMPY_BACKEND, text, values, "evaluate").replay(go_on).value
    call = asked(backend, text, values, "evaluate")
    for _ in range(3):
        got = call.replay(go_on).value
        assert got.dtype == expected.dtype
        assert_allclose(got.astype(float), expected.astype(float), rtol=1e-2, atol=1e-2)
    names = [i.op.name for i in call.entry.paths[0].tiers.executable.tape.instructions]
    assert names.count("contract_halves") == products


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_halves_in_loops_whose_passes_values_decide(backend, dtype):
    rng = np.random.default_rng(5)
    values = {name: (rng.normal(size=(128, 128)) / 9).astype(dtype) for name in "xw"}
    text = (
        "h = x\ns = 0 * x[0, 0]\nwhile s < 50:\n    h = tanh((h * 2).T @ (h + w))\n"
        "    s = s + sum(h[0] * h[0]) + 1\nsum(h * x)"
    )
    expected = asked(NUMPY_BACKEND, text, values).replay(go_on).gradients
    call = asked(backend, text, values)
    for _ in range(3):
        got = call.replay(go_on).gradients
        for name, x in expected.items():
            scale = np.abs(x.astype(float)).max()
            assert_allclose(got[name].astype(float), x.astype(float), rtol=2e-2, atol=2e-2 * scale)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_a_loop_makes_of_halves_in_float32_is_not_rounded(backend, dtype):
    x = (np.random.default_rng(5).normal(size=(128, 128)) / 5).astype(dtype)
    text = (
        "y = while_loop(lambda p: sum(p * p) < 800, lambda p: p * 1.01, astype(x, 'float32'))\n"
        "y.T @ y"
    )
    (expected, got) = (
        asked(each, text, {"x": x}, "evaluate").replay(go_on).value
        for each in (NUMPY_BACKEND, backend)
    )
    assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_factors_in_half_precision_are_not_rounded_further(device, dtype):
    values = {name: np.full((128, 128), 1 + 2.0**-7, dtype) for name in "xy"}
    with opened(device, matmul_precision="tensorfloat32") as backend:
        found = asked(backend, "x @ y", values, "evaluate").replay(go_on).value
    assert (found == np.asarray(128 * (1 + 2.0**-7) ** 2, dtype)).all()


@pytest.mark.filterwarnings("ignore")
def test_half_precision_is_checked_and_kept(backend):
    """What is not finite is replayed by the host; there may be no elements, and no arithmetic."""
    text = "z = x * x\nz"
    for dtype in ("float16", "bfloat16"):
        large = np.array([1.0, 3e38], "float32").astype(dtype)
        found = asked(backend, text, {"x": large}, "evaluate").replay(go_on)
        assert np.array_equal(found.value.astype(float), [1, np.inf])
        for x in (large[:0], large):
            same_x = asked(backend, "x", {"x": x}, "evaluate").replay(go_on).value
            assert same_x.dtype == dtype
            assert same_x.tobytes() == x.tobytes()


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(backend, name):
    """The first replay, that which captures, and that of a graph."""
    made, inputs = tape(name)
    host, executable = NUMPY_BACKEND.compile(made, go_on), backend.compile(made, go_on)
    for turn in range(3):
        moved = [x * (1 + turn / 8) if x.dtype.kind == "f" else x for x in inputs]
        got, expected = executable.replay(moved, go_on), host.replay(moved, go_on)
        if expected.guard is None:
            for x, y in zip(got.outputs, expected.outputs, strict=True):
                same(x, y)
        else:
            assert got.guard is not None
    assert len(executable._recordings) == (name != "a loop that decides")


def test_another_path_is_recorded_anew(backend):
    text = "if sum(x) > 0:\n    y = x * x\nelse:\n    y = -x\nsum(y)"
    engine = Engine(backend=backend)
    program = engine.parse(text)
    for sign in (1, -1, 1, -1, 1):
        x = sign * np.arange(1.0, 2001)
        answer = engine.call(program, {"x": Leaf(x)}, Query("gradient")).replay(go_on)
        expected = 2 * x if sign > 0 else -np.ones(2000)
        assert_allclose(answer.derivatives["gradients"]["x"], expected)


def test_what_is_not_finite_is_found(backend):
    x = np.linspace(1, 2, 5000)
    x[77] = -1
    for _ in range(3):
        answer = asked(backend, "sum(log(x))", {"x": x}).replay(go_on)
        assert answer.nonfinite


def test_an_index_out_of_range_is_an_error_of_the_program(backend):
    values = {"x": RNG.random(5000), "i": np.array([3, 4999, 5000])}
    with pytest.raises(EngineError, match=r"index|range|bounds"):
        asked(backend, "sum(x[i]**2)", values).replay(go_on)


STEPS = "y = odeint((y, t) => -k * y * y, y0, t, max_steps=12)\nsum(y)"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sum(solve(a, b))", {"a": np.ones((30, 30)), "b": np.ones(30)}),
        (STEPS, {"k": 2.0, "y0": np.linspace(1, 2, 30), "t": np.linspace(0, 1, 3)}),
        (STEPS, {"k": -3.0, "y0": np.linspace(1, 2, 30), "t": np.linspace(0, 9, 3)}),
    ],
)
def test_values_that_fail_are_the_error_that_numpy_gives(backend, text, values):
    errors: list[object] = []
    for chosen in (backend, NUMPY_BACKEND):
        try:
            errors.append(asked(chosen, text, values).replay(go_on).nonfinite is not None)
        except EngineError as error:
            errors.append(str(error))
    assert errors[0] == errors[1]


@pytest.mark.thorough
def test_read_only_arrays_stay_on_the_device(backend):
    x = RNG.random(200_000)
    x.flags.writeable = False
    call = asked(backend, "sum(exp(x) * x)", {"x": x})
    answers = [call.replay(go_on).value for _ in range(4)]
    assert backend.device.residents.find(x, lambda _: pytest.fail("it is copied again")) is not None
    assert_allclose(answers, np.sum(np.exp(x) * x))


@pytest.mark.thorough
def test_results_that_come_back_are_there_already():
    from gradwire_gpu import gpu_backend

    with simulated():
        backend: Any = gpu_backend(ROOM_BYTES, texts_alone)
        engine = Engine(backend=backend)
        step = engine.parse("w - 0.1 * (w - x)")
        w, x = np.zeros((400, 400)), np.float64(3.0)
        received = []
        for number in range(5):
            leaves = {"w": Leaf(w.reshape(400, 400)), "x": Leaf(np.asarray(x + number))}
            before = MEMORY.received
            (found,) = [engine.call(step, leaves, Query("evaluate")).replay(go_on).value]
            received.append(MEMORY.received - before)
            assert_allclose(found.ravel(), w.ravel() - 0.1 * (w.ravel() - x - number))
            w = found.reshape(-1)
        assert received[0] > w.nbytes
        assert max(received[1:]) < 100
        assert not w.flags.writeable
        used = backend.device.pool.used_bytes()
        del found, w, leaves
        assert backend.device.pool.used_bytes() <= used - 400 * 400 * 8


@pytest.mark.thorough
def test_what_is_kept_gives_way_to_what_is_needed():
    from gradwire_gpu import OutOfGpuMemory, gpu_backend

    with simulated():
        backend: Any = gpu_backend(39 << 20, texts_alone)  # cuBLAS has 32 of them
        x = np.zeros(175_000)  # of 1.4 MB
        kept = [asked(backend, "x + 1", {"x": x}, "evaluate").replay(go_on).value for _ in range(3)]
        used = backend.device.pool.used_bytes()
        found = asked(backend, "sort(x + y)", {"x": x, "y": x + 1}, "evaluate").replay(go_on)
        assert np.array_equal(found.value, x + 1)
        assert backend.device.pool.used_bytes() < used
        assert all(each[0] == 1 for each in kept)
        wide = {"x": np.zeros((600, 600)), "y": np.zeros((600, 600))}
        call = asked(backend, "sort(x + y)", wide, "evaluate")
        with pytest.raises(OutOfGpuMemory):
            call.replay(go_on)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("precision", "digits"), [("float32", 24), ("tensorfloat32", 11)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_factors_of_products_are_rounded_if_asked(device, precision, digits, dtype):
    n = 64
    kept = [1 + 2.0 ** (1 - digits), 1 + 2.0**-digits]  # as it is; rounded to 1
    with opened(device, matmul_precision=precision) as backend:
        for value, expected in zip(kept, (kept[0], 1 if digits < 24 else kept[1]), strict=True):
            values = {"x": np.full((n, n), value, dtype), "y": np.ones((n, n), dtype)}
            found = asked(backend, "x @ y", values, "evaluate").replay(go_on).value
            assert_allclose(found, n * np.float32(expected), rtol=1e-6 / n)


def test_tenants_share_the_memory_of_cublas():
    from gradwire_gpu import gpu_backend

    with simulated():
        backend: Any = gpu_backend(34 << 20, texts_alone)  # cuBLAS has 32 of them
        for tenant in (backend, backend.apart("one"), backend.apart("other")):
            answer = asked(tenant, "sum(x @ x)", {"x": np.ones((3, 3))}, "evaluate").replay(go_on)
            assert answer.value == 27


def test_costs_are_measured_in_little_memory():
    from gradwire_gpu import crossover, gpu_backend

    ticks = (k * k for k in count())  # each call takes longer than the one before
    with simulated():
        backend: Any = gpu_backend(34 << 20, texts_alone)  # cuBLAS has 32 of them
        found = crossover(backend, lambda: next(ticks))
    assert found.elements == 256
    assert min(found[:-1]) > 0


@pytest.mark.thorough
def test_a_result_without_room_for_another_is_not_kept():
    from gradwire_gpu import gpu_backend

    with simulated():
        backend: Any = gpu_backend(36 << 20, texts_alone)  # cuBLAS has 32 of them
        x = np.arange(220_000.0)  # of 1.8 MB; with its copy and the result there is no more
        for _ in range(2):
            found = asked(backend, "x + 1", {"x": x}, "evaluate").replay(go_on).value
            assert np.array_equal(found, x + 1)
        assert found.flags.writeable


def test_more_copies_than_there_is_page_locked_memory_for(backend):
    names = "abcdefghij"
    text = "concatenate([" + ", ".join(f"{name} * {k + 1}" for k, name in enumerate(names)) + "])"
    for turn in range(3):
        values = {name: RNG.random(50) + turn for name in names}
        found = asked(backend, text, values, "evaluate").replay(go_on).value
        expected = np.concatenate([values[name] * (k + 1) for k, name in enumerate(names)])
        assert_allclose(found, expected, rtol=1e-15)
    device, long = backend.device, RNG.random(6 << 20)  # six pieces
    with device.working(go_on):
        assert np.array_equal(device.copy_from(device.copied(long), go_on), long)


def test_inputs_arrive_while_others_compute(backend):
    device, x = backend.device, RNG.random(100_000)
    arrived = []
    with device.working(go_on):
        thread = threading.Thread(target=lambda: arrived.append(device.staged([x], go_on)))
        thread.start()
        thread.join()
        assert len(arrived) == 1
        device.stream.wait_event(arrived[0].arrived)
        found = device.copy_from(arrived[0].arrays[0], go_on)
    assert found.tobytes() == x.tobytes()


def test_memory_that_is_refused(backend):
    from gradwire_gpu import OutOfGpuMemory

    text = "sum(sort(x[:, None] * x, axis=1))"
    limits = Limits(total_bytes=1 << 40, array_bytes=1 << 40, flops=1 << 60)
    with pytest.raises(OutOfGpuMemory):
        asked(backend, text, {"x": RNG.random(30_000)}, "evaluate", limits).replay(go_on)
    assert asked(backend, "sum(x)", {"x": RNG.random(3000)}).replay(go_on).value > 0


@pytest.mark.thorough
def test_threads_take_turns(backend):
    call = asked(backend, "sum(tanh(x @ x))", {"x": RNG.random((200, 200))})
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(call.replay(go_on).value)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_allclose(found, [found[0]] * 8)


def test_a_lost_context_is_said_from_then_on():
    from gradwire_gpu import GpuLost, gpu_backend

    with simulated() as machine:
        backend = gpu_backend(ROOM_BYTES, texts_alone)
        call = asked(backend, "sum(x * x)", {"x": RNG.random(3000)})
        for _ in range(3):
            assert call.replay(go_on).value > 0
        machine.fails = 719  # a launch failed
        with pytest.raises(GpuLost):
            call.replay(go_on)
        machine.fails = None
        with pytest.raises(GpuLost, match="before"):
            call.replay(go_on)


@pytest.mark.parametrize(
    "text", ["sum((sum(exp(X), axis=0) * w)**2)", "sum((w * sin(30 * linspace(0, 1, 200_000)))**2)"]
)
def test_what_is_computed_once_is_computed_on_the_device(backend, text):
    """Either part of a tape in stages reads only some of the inputs."""
    w, X = RNG.normal(size=200_000), RNG.normal(size=(4, 200_000))
    leaves = {"w": Leaf(w)} | ({"X": Leaf(X, resident="X")} if "X" in text else {})
    engine, query = Engine(backend=backend), Query("gradient", sources=["w"])
    for _ in range(3):
        call = engine.call(engine.parse(text), leaves, query)
        (found,) = call.replay(go_on).gradients
    fixed = np.exp(X).sum(0) if "X" in text else np.sin(30 * np.linspace(0, 1, 200_000))
    np.testing.assert_allclose(found, 2 * fixed**2 * w, rtol=1e-11, atol=1e-13)
    (path,) = call.entry.paths
    assert call._executable(path).kept
