"""GradBench's programs give on a simulated GPU what NumPy gives."""

import numpy as np
import pytest
from gradbench.tools.gradwire.run import NAMES, program, variables
from gradbench.workloads import workloads
from gradwire_engine import Engine, Leaf, Query

pytest.importorskip("llvmlite")

from tests.engine.backends.cupy.machine import simulated, texts_alone
from tests.engine.backends.nvptx.launched import go_on

#: Loops of thousands of launches, which take minutes where a GPU is interpreted.
LONG = {"lstm", "particle", "saddle"}


@pytest.fixture(scope="module")
def backend():
    from gradwire_engine.gpu import gpu_backend

    with simulated():
        yield gpu_backend(1 << 28, texts_alone)


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


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LONG])
def test_the_smallest_input(backend, name):
    workload = next(iter(workloads(name)))
    for function in workload.functions:
        given = leaves(variables(workload.given))
        answers = []
        for one in (None, backend, backend):  # launched, then captured
            engine = Engine(backend=one)
            call = engine.call(engine.parse(program(name, function)), given, Query("evaluate"))
            answers.append(numbers(call.replay(go_on).value))
        expected, *found = answers
        for each in found:
            np.testing.assert_allclose(each, expected, rtol=1e-8, atol=1e-8 * abs(expected).max())
