"""The batching benchmark: results are finite, and each request is counted."""

import batching
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.queries import JointCall
from wire.loads import at_once


@pytest.mark.parametrize("what", batching.problems())
def test_the_benchmarks_programs_can_be_batched(what):
    text, values = batching.problems()[what]
    engine = Engine()
    given = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), given, Query("gradient"))
    answer = call.replay(lambda: None)
    assert all(np.isfinite(x).all() for x in [answer.value, *answer.gradients.values()])
    assert JointCall.takes(call)


def test_each_request_has_its_latency(bare):
    asked = batching.requests("x", {"x": np.ones(10)}, distinct=7)
    seconds, latencies = at_once(bare, iter(3 * asked), 4)
    assert len(latencies) == 21
    assert 0 < max(latencies) <= seconds
