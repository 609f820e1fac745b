"""Loops of Python that are recorded pass by pass, and sent as loops."""

from typing import Any

import gradwire
import numpy as np
import pytest

PASSES = 200
POINTS = [np.array([0.3, -0.2, 0.5, 0.1]), np.array([0.1, 0.4, -0.3, 0.2])]
TIMES = np.linspace(0.0, 1.0, PASSES + 1)
NOISE = np.cos(np.arange(3.0 * PASSES)).reshape(PASSES, 3)
WEIGHTS = [np.diag([0.9, 0.8, 0.7, 0.6]) + 0.01 * k / PASSES for k in range(PASSES)]
#: Lines of a program whose loop was found: one pass has four to twenty-four.
FEW_LINES = 2.5 * PASSES


def heat(x: Any) -> Any:
    v = np.concatenate([x, x**2, x])
    for _ in range(PASSES):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    return np.sum(v**2)


def joined(x: Any) -> Any:
    v = x
    for _ in range(PASSES):
        v = np.concatenate([v[:1], v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2]), v[-1:]])
    return np.sum(v**2)


def euler_by_time(x: Any) -> Any:
    y = x[0]
    for i in range(PASSES):
        y = y + (TIMES[i + 1] - TIMES[i]) * (np.sin(TIMES[i]) - x[1] * y * TIMES[i])
    return y


def euler_by_number(x: Any) -> Any:
    y = x[:2]
    for i in range(PASSES):
        t = i * 0.01
        y = y + 0.01 * (np.sin(t * x[2]) - y * x[3] * t)
    return np.sum(y)


def appended(x: Any) -> Any:
    found = [x]
    for i in range(PASSES):
        found.append(found[-1] * 0.99 + 0.01 * np.sin(found[-1] + NOISE[i, 0]))
    path = np.array(found)
    return np.sum(path[::3] ** 2) + path[PASSES // 2, 1] + found[-2][0]


def of_two_before(x: Any) -> Any:
    a, b = x[0], x[1]
    for _ in range(PASSES):
        a, b = b, 0.5 * a + 0.49 * b + 0.01 * np.tanh(x[2])
    return a * b


def of_three_before(x: Any) -> Any:
    y = [x[0], x[1], x[2]]
    for _ in range(PASSES):
        y.append(0.3 * y[-1] + 0.4 * y[-3] + 0.1 * np.sin(y[-2]))
    return sum(y)


def adam(x: Any) -> Any:
    w, m, v = x, np.zeros(4), np.zeros(4)
    for i in range(1, PASSES + 1):
        g = 2 * (w - x[::-1]) + 0.1 * np.cos(w)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        w = w - 0.01 * (m / (1 - 0.9**i)) / (np.sqrt(v / (1 - 0.999**i)) + 1e-3)
    return np.sum(w**2)


def rows(x: Any) -> Any:
    total = x[3]
    data = np.outer(np.arange(1.0, PASSES + 1) / PASSES, x)
    for row in data:
        total = 0.9 * total + np.sum(row * x) - row[0] * 0.1
    return total


def zipped(x: Any) -> Any:
    loss = 0.0
    for (a, b, c), t in zip(NOISE, TIMES, strict=False):
        loss = loss + (a * x[0] + b * x[1] + c - t * x[2]) ** 2
    return loss


def layers(x: Any) -> Any:
    h = x
    for w in WEIGHTS:
        h = np.tanh(w @ h + 0.1)
    return np.sum(h)


def one_after_the_other(x: Any) -> Any:
    path, v = [], x
    for i in range(PASSES):
        v = v + 0.01 * np.sin(v * 2 + i / PASSES)
        path.append(v)
    total = 0.0
    for i, v in enumerate(path):
        total = total + np.sum(v * v) * (i % 3 + 1) - np.max(v) * 0.01
    return total


def nested(x: Any) -> Any:
    v = x
    for i in range(PASSES // 4):
        for j in range(4):
            v = v + 0.01 * np.sin(v * (j + 1)) * TIMES[i]
    return np.sum(v)


def from_the_end(x: Any) -> Any:
    data = np.concatenate([np.sin(x * k / PASSES) for k in range(PASSES)])
    y = x[0]
    for i in range(PASSES):
        y = 0.9 * y + data[-1 - i] * data[2 * i + 1] + np.abs(data[i])
    return y


def stores(x: Any) -> Any:
    y = np.zeros(PASSES + 1)
    y[0] = x[0]
    for i in range(PASSES):
        y[i + 1] = y[i] * 0.99 + 0.1 * np.cos(x[1] + y[i]) * NOISE[i, 1]
    return np.sum(y**2)


def decides(x: Any) -> Any:
    y = x[0]
    for i in range(PASSES):
        y = y * 0.9 + (np.sin(x[1] * i) * 0.1 if y > 0.25 else 0.3 * np.cos(x[2] + y))
    return y


def until(x: Any) -> Any:
    a, steps = x[0] + 3, 0
    while a > 0.01 + 0.001 * x[1]:
        a = a * 0.99 - 1e-5 * np.sin(a)
        steps += 1
    return a * steps


def momentum(x: Any) -> Any:
    state = {"w": x, "v": np.zeros(4)}
    for i in range(PASSES):
        rate = 0.1 if i < PASSES // 2 else 0.01
        state["v"] = 0.9 * state["v"] - rate * (state["w"] - 0.5)
        state["w"] = state["w"] + state["v"]
    return np.sum(state["w"] ** 3)


ROLLED = [
    heat, joined, euler_by_time, euler_by_number, appended, of_two_before, of_three_before, adam,
    rows, zipped, layers, one_after_the_other, nested, stores, momentum,
]  # fmt: skip


def grows(x: Any) -> Any:
    v = x
    for _ in range(60):
        v = np.concatenate([v * 0.6 + 0.1 * np.sin(v) - 0.01 * v**2 + np.cos(v) * 0.1, x[:1]])
        v = v + v[0] * 0.1 - v[-1] * 0.01 + np.mean(v) * 0.1 - np.cos(v) * 0.1
    return np.sum(v)


def widens(x: Any) -> Any:
    v, total = x.astype(np.float32), 0.0
    for i in range(PASSES):
        v = v * (1 + i * 1e-5) + np.sin(v) * 1e-4
        total = total + np.sum(v * v)
    return total + np.float32(v.itemsize)


def asks_late(x: Any) -> Any:
    """Asks for the shape of what a thousand steps have made."""
    v, t = x[np.abs(x) > 0.15], 0.0
    for _ in range(400):
        v = v * 0.99 + np.sin(v) * 1e-3
        t = t + v[0] * v[1]
    return t * v.size + len(v)


def differs(x: Any) -> Any:
    """Gives its own body another shape at the end."""
    v = x
    for i in range(PASSES):
        v = v[: 4 if i < PASSES - 2 else 2] * 0.99 + 0.01 * np.sin(v[0] * i)
    return np.sum(v)


@pytest.mark.parametrize("f", [*ROLLED, from_the_end, decides, until, grows, differs, asks_late])
def test_loops_are_right(f, client):
    both = gradwire.value_and_grad(f, client=client)
    for x in POINTS:
        value, slope = both(x)
        np.testing.assert_allclose(value, f(x), rtol=1e-11)
        steps = 1e-6 * np.eye(4)
        expected = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", ROLLED)
def test_loops_are_sent_as_loops(f, client):
    recorded = gradwire.function(f, client)
    recorded(POINTS[0])
    (text,) = [traced.text for traced in recorded.recordings]
    assert "lax.scan" in text
    assert len(text.splitlines()) < FEW_LINES


def test_dtypes_stay(client):
    x = POINTS[0]
    found, expected = gradwire.function(widens, client)(x), widens(x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_never_ends_is_refused_by_its_line(client, monkeypatch):
    monkeypatch.setattr("gradwire.tracing.numpy_trace.MOST_CALLS", 500)

    def f(x: Any) -> Any:
        while True:
            x = x * 0.5

    with pytest.raises(gradwire.NotTraceable, match="fori") as refused:
        gradwire.function(f, client)(POINTS[0])
    assert "test_rolling.py" in str(refused.value)


def test_each_call_of_a_loop_is_a_program(client):
    lengths: list[int] = []
    for count in (200, 1000):

        def f(x: Any, count: int = count) -> Any:
            for _ in range(count):
                x = x + 0.001 * np.sin(x) - 0.001 * x
            return np.sum(x)

        recorded: gradwire.Function[..., Any] = gradwire.function(f, client)
        np.testing.assert_allclose(recorded(POINTS[0]), f(POINTS[0]), rtol=1e-11)
        lengths.append(len(recorded.recordings[0].text))
    assert lengths[1] - lengths[0] < 10
