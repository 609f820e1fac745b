"""Fixtures of tests of operations."""

from collections.abc import Callable
from typing import Any

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.check import interpret, trace
from gradwire_engine.ops.base import FUNCTIONS


class Program:
    """Functions by name, as attributes, recording on one builder."""

    def __init__(self, b: Any) -> None:
        self.b = b

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: FUNCTIONS[name].record(self.b, *args, **kwargs)


@pytest.fixture
def gradients():
    """Gradients, as nested lists, of the sum of what a function of ``(f, *inputs)`` gives."""

    def of(function, *values):
        arrays = [np.asarray(v, dtype=None if np.iscomplexobj(v) else float) for v in values]
        b, inputs, outputs = trace(lambda b, *xs: function(Program(b), *xs), arrays)
        bars = gradient(b, outputs, inputs)
        results = interpret(b.tape([bar for bar in bars if bar is not None]), arrays)
        return [None if bar is None else results[bar.slot].tolist() for bar in bars]

    return of
