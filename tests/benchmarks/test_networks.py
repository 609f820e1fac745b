"""Networks are the same functions in both forms, and workers answer."""

from importlib.util import find_spec

import networks
import numpy as np
import pytest

SMALL = networks.Network(width=5, hidden=3, inputs=2)


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize("what", networks._ASKED)
def test_both_compute_the_same(what):
    ours, jax = (tool(SMALL, what, 7)() for tool in (networks.gradwire, networks.jax))
    for found, expected in zip(ours, jax, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_a_worker_tells_time_and_memory():
    with networks._asking("gradwire", SMALL, "value") as ask:
        assert ask(None) > 0
        assert ask("") > 0
