"""Threads that ask one engine at once: new programs and known ones, arrays small and large."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits
from numpy.testing import assert_allclose

from tests.engine.conftest import called

TEXTS = [
    "sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
    "sum(sin(x) * cos(x) * exp(-x * x)) + sum(tanh(x * x))",
    "m = reshape(x, (-1, 50))\nsum(logsumexp(m * m, axis=1))",
    "y = x\nfor i in range(20):\n    y = y - 0.1 * tanh(y)\nsum(y * y)",
    "y = x if sum(x) > 0 else -x * x\nsum(y * y)",
]


def go_on() -> None:
    """Nothing here has a deadline."""


@pytest.mark.thorough
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_that_ask_at_once_get_their_own_answers(threads):
    engine = Engine(Limits(threads=threads))

    def asked(seed: int) -> None:
        rng = np.random.default_rng(seed)
        text = f"{TEXTS[seed % len(TEXTS)]} * {1 + seed // 20}.5"  # four of a kind at a time
        x = rng.normal(size=int(rng.choice([3000, 20_000, 50_000])))
        answers = [
            called(engine, text, {"x": Leaf(x)}, "gradient", exact=exact).replay(go_on)
            for exact in (False, False, True)
        ]
        *plain, exact = answers
        for answer in plain:
            assert_allclose(answer.value, exact.value, rtol=1e-11)
            assert_allclose(answer.gradients["x"], exact.gradients["x"], rtol=1e-9, atol=1e-10)

    with ThreadPoolExecutor(6) as pool:
        for _ in pool.map(asked, range(40)):
            pass
