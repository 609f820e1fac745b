"""The programs whose derivatives are timed: their gradients are those of differences."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import Question, questions
from derivatives.programs import PROGRAMS
from gradwire_engine import Engine, Leaf, Query

#: Steps of differences, and what their errors may be by the size of the derivative.
_STEP, _TOLERANCE = 1e-8, 1e-5


@pytest.mark.thorough
@pytest.mark.parametrize(
    "question", [q for q in questions() if q.name in PROGRAMS], ids=lambda q: q.name
)
def test_the_gradient_is_the_slope_in_a_random_direction(question: Question):
    engine = Engine()
    program = engine.parse(question.text)
    rng = np.random.default_rng(3)
    sources = {name: question.values[name] for name in question.sources}
    directions = {name: x * rng.normal(size=np.shape(x)) for name, x in sources.items()}

    def value(step: float) -> float:
        moved = {
            name: Leaf(x + step * directions[name] if name in directions else x)
            for name, x in question.values.items()
        }
        return float(engine.call(program, moved, Query("evaluate")).replay(lambda: None).value)

    leaves = {name: Leaf(x) for name, x in question.values.items()}
    query = Query("gradient", sources=[*question.sources])
    gradients = engine.call(program, leaves, query).replay(lambda: None).gradients
    pairs = zip(gradients, directions.values(), strict=True)
    terms = [np.sum(gradient * direction) for gradient, direction in pairs]
    slope = (value(_STEP) - value(-_STEP)) / (2 * _STEP)
    size = max(sum(map(abs, terms)), 1e-14 * abs(value(0.0)) / (_STEP * _TOLERANCE))
    assert sum(terms) == pytest.approx(slope, abs=_TOLERANCE * size)
