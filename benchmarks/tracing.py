"""The client's cost of recording a Python function, and of calling a recorded one, without HTTP."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, thread_time
from types import SimpleNamespace
from typing import Any

import gradwire
import numpy as np
import scipy.linalg
import scipy.special
from gradwire.call import BlockingStep, Call
from gradwire.tracing.functions import Function
from measure import Row, compared, interleave

#: Calls per round, enough for the clock's resolution not to matter.
CALLS = 200
RECORDINGS = 5

Arguments = tuple[Any, ...]


def hundred_operations(x: Any, w: Any) -> Any:
    """Four operations and a reduction, 25 times."""
    for _ in range(25):
        x = np.tanh(x * w + 0.5) - 0.1
    return x.sum()


def of_scipy(x: Any, w: Any) -> Any:
    """Functions without NumPy's dispatch protocols."""
    for _ in range(50):
        x = scipy.linalg.expm(scipy.linalg.inv(x) * w)
    return scipy.special.logsumexp(x)


def nested(params: Any, x: Any) -> Any:
    """A value with nested parameters of two layers."""
    for layer in params["layers"]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.sum(x) * params["scale"]


VECTOR = np.linspace(0.1, 1.0, 10)
MATRIX = np.eye(4) + 0.1
LAYERS = [{"w": np.eye(10), "b": VECTOR}, {"w": np.eye(10), "b": VECTOR}]
#: The function to record, its arguments, and the maximum in milliseconds.
RECORDED: dict[str, tuple[Callable[..., Any], Arguments, float | None]] = {
    "100 operations of NumPy": (hundred_operations, (VECTOR, VECTOR), 2.0),
    "100 functions of SciPy": (of_scipy, (MATRIX, 0.5), None),
}
#: The same with the maximum in microseconds; a request alone takes some hundreds.
CALLED: dict[str, tuple[Callable[..., Any], Arguments, float]] = {
    "10 numbers": (lambda x: np.sum(x**2), (VECTOR,), 60.0),
    "two layers, nested": (nested, ({"layers": LAYERS, "scale": 2.0}, VECTOR), 60.0),
}


class Echo:
    """Runs steps like a client, and answers each request with the numbers that it was sent."""

    def __init__(self) -> None:
        self.document: Any = None

    def run(self, asked: Any, /) -> Any:
        """The result of the steps."""
        steps = iter(asked)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._answer(step))
        except StopIteration as end:
            return end.value

    def _answer(self, step: Call[Any] | BlockingStep[Any]) -> Any:
        if isinstance(step, BlockingStep):
            return step.function(self.run)
        self.document = step.document
        return SimpleNamespace(outputs=[VECTOR] * len(self.document["outputs"]), warnings=())


def report(*, quick: bool) -> list[str]:
    """Recording compared with the NumPy calls; a recorded call with a handwritten document."""
    rounds = 5 if quick else 25
    recorded, called = [], []
    for name, (f, args, bar) in RECORDED.items():
        ours, plain = interleave(rounds, _recording(f, args), _plain(f, args))
        recorded.append(Row.of(name, ours, plain, "ms", figure_bar=bar))
    for name, (f, args, most) in CALLED.items():
        ours, by_hand = interleave(rounds, _calling(f, args), _by_hand(args))
        called.append(Row.of(name, ours, by_hand, "µs", figure_bar=most))
    return [
        compared("Recording a function, once, CPU", "NumPy itself", recorded),
        compared("A call's own part, without HTTP", "a dictionary", called),
    ]


def _recording(f: Callable[..., Any], args: Arguments) -> Callable[[int], float]:
    def measure(_: int) -> float:
        functions: list[Function[..., Any]] = [Function(f, Echo()) for _ in range(RECORDINGS)]
        start = thread_time()
        for function in functions:
            function(*args)
        return 1e3 * (thread_time() - start) / RECORDINGS

    measure(0)
    return measure


def _plain(f: Callable[..., Any], args: Arguments) -> Callable[[int], float]:
    def measure(_: int) -> float:
        start = thread_time()
        f(*args)
        return 1e3 * (thread_time() - start)

    return measure


def _calling(f: Callable[..., Any], args: Arguments) -> Callable[[int], float]:
    function = gradwire.value_and_grad(f, client=Echo())
    function(*args)
    return _repeated(lambda: function(*args))


def _by_hand(args: Arguments) -> Callable[[int], float]:
    return _repeated(lambda: {"program": "", "variables": dict(enumerate(args)), "outputs": [""]})


def _repeated(call: Callable[[], Any]) -> Callable[[int], float]:
    def measure(_: int) -> float:
        start = perf_counter()
        for _ in range(CALLS):
            call()
        return 1e6 * (perf_counter() - start) / CALLS

    return measure
