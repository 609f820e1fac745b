"""GradBench's twelve programs give on a GPU what NumPy gives, launched and as graphs.

The GPU is a simulated one and, where there is one, a real one.
"""

import numpy as np
import pytest
from gradbench.inputs import sample
from gradbench.tools.gradwire.run import NAMES, program, variables
from gradbench.workloads import workloads
from gradwire_engine import Engine, Leaf, Query

pytest.importorskip("llvmlite")

from tests.effort import some
from tests.engine.gpu.cupy.test_executable import DEVICES, opened
from tests.engine.gpu.nvptx.launched import go_on

#: Descents of thousands of passes, each of many launches, begin with long steps and end early.
SETTINGS = {"particle": "first_rate = 1e-2\ndt = 1.0", "saddle": "first_rate = 0.3"}


@pytest.fixture(scope="module", params=DEVICES)
def backend(request):
    with opened(request.param) as backend:
        yield backend


def leaves(value):
    if isinstance(value, dict):
        return {name: leaves(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [leaves(each) for each in value]
    return Leaf(np.asarray(value))


def numbers(value):
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return np.concatenate([numbers(each) for each in value])
    return np.ravel(value)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives(backend, name):
    given = leaves(variables(sample(name, 7)))
    for function in some(next(iter(workloads(name))).functions):
        text, answers = program(name, function, SETTINGS.get(name, "")), []
        text = text.replace("> 1e-5:", "> 0.1:")
        for one, replays in ((None, 1), (backend, 3)):
            engine = Engine(backend=one)
            for _ in range(replays):
                call = engine.call(engine.parse(text), given, Query("evaluate"))
                answers.append(numbers(call.replay(go_on).value))
        expected, *found = answers
        for each in found:
            np.testing.assert_allclose(each, expected, rtol=1e-8, atol=1e-8 * abs(expected).max())
