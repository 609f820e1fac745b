"""The benchmark of training: both sides learn, and its figures are those of a step."""

import pytest
import training
from peers.training import BATCH_BYTES
from servers import GRADWIRE, running


@pytest.fixture(scope="module")
def server():
    with running(GRADWIRE) as server:
        yield server


@pytest.mark.parametrize("model", ["dense", "convolutional"])
def test_our_side_learns_and_sends_its_batches(model, server):
    with training.trainer("gradwire.tf", model, "eager", server) as ours:
        assert ours.steps(5) > 0
        assert ours.steps(35) > 0
    first, later = ours.nbytes
    assert BATCH_BYTES < later < 2 * BATCH_BYTES
    assert later < first


@pytest.mark.asked("BENCHMARK_PEERS")
@pytest.mark.parametrize("how", ["eager", "function"])
def test_their_side_learns(how):
    with training.trainer("tensorflow", "dense", how) as theirs:
        assert theirs.steps(40) > 0
    assert theirs.nbytes == [0]
