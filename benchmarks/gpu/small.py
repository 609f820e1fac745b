"""A program of many small instructions that cannot be rolled into a loop, for every namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from peers.workloads import Values

from gpu.forward import Form

_NAMES = ("sin", "cos", "tanh", "maximum", "minimum")
_WIDTH = 100
#: How many values back an operand may be.
_BACK = 20


def program(count: int, *, products: bool) -> tuple[str, Values]:
    """A text of ``count`` assignments to ``v1``, ``v2``, … and its variables.

    Each reads the value before it, so that all are needed. Values are at most a few units, and
    errors do not grow: the matrices of ``products`` shrink what they multiply.
    """
    draw = np.random.default_rng(0)
    values = {"v0": draw.normal(size=(10, _WIDTH))}
    values |= {f"w{i}": draw.normal(size=(_WIDTH, _WIDTH)) / 20 for i in range(3 * products)}
    forms = ["sin({a})", "cos({a})", "tanh({a})", "maximum({a}, {b})", "{a} - {b} * 0.5"]
    lines = []
    for i in range(count):
        if products and i % 3 == 0:
            form = f"{{a}} @ w{draw.integers(3)}"
        else:
            form = forms[draw.integers(len(forms))]
        other = f"v{draw.integers(max(0, i - _BACK), i + 1)}"
        lines.append(f"v{i + 1} = {form.format(a=f'v{i}', b=other)}\n")
    return "".join(lines), values


def form(text: str) -> Form:
    """The text as a function of its variables, with the operations of a namespace."""
    code, last = compile(text, "small", "exec"), f"v{text.count(chr(10))}"

    def function_of(xp: Any) -> Callable[[Mapping[str, Any]], Any]:
        names = {name: getattr(xp, name) for name in _NAMES}

        def function(values: Mapping[str, Any]) -> Any:
            held = {**names, **values}
            exec(code, held)
            return held[last]

        return function

    return function_of


def answer(text: str, values: Mapping[str, Any]) -> list[Any]:
    """The last value of a text by NumPy."""
    return [form(text)(np)(values)]
