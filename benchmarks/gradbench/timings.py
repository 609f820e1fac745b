"""The times of GradBench's programs in the engine: the first call, and later ones."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Query
from measure import interleave, shown, table

from gradbench.tools.gradwire.run import NAMES, program, variables
from gradbench.inputs import sample

#: The function of each evaluation that computes a derivative.
DERIVATIVES = dict(
    zip(
        NAMES,
        "double jacobian jacobian jacobian jacobian dir "
        "gradient gradient gradient gradient rr rr".split(),
        strict=True,
    )
)


def report(*, quick: bool) -> list[str]:
    """The derivative's first call, from text to answer, and a later one, in milliseconds."""
    rounds = 3 if quick else 9
    return [
        table(
            "GradBench's derivatives of small inputs, ms CPU",
            ["", "first call", "later call"],
            [[name, *_medians(name, rounds)] for name in NAMES],
        )
    ]


def _medians(name: str, rounds: int) -> list[str]:
    text = program(name, DERIVATIVES[name])
    given = _leaves(variables(sample(name)))
    warm = Engine()
    _milliseconds(warm, text, given, calls=2)  # the second call generates code
    figures = interleave(
        rounds,
        lambda _: _milliseconds(Engine(), text, given, calls=1),
        lambda _: _milliseconds(warm, text, given, calls=10),
    )
    return [shown(median(found)) for found in figures]


def _milliseconds(engine: Engine, text: str, given: dict[str, Any], calls: int) -> float:
    start = thread_time()
    for _ in range(calls):
        engine.call(engine.parse(text), given, Query("evaluate")).replay(_go_on)
    return 1e3 * (thread_time() - start) / calls


def _leaves(nested: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _leaves(value) if isinstance(value, Mapping) else Leaf(np.asarray(value))
        for name, value in nested.items()
    }


def _go_on() -> None:
    """A deadline that never passes."""
