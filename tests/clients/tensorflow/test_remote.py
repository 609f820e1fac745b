"""What variables become stays with the service: bytes, memory, reading, loss and recovery."""

import copy
import gc
import itertools
import pickle
import re
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import gradwire
import gradwire.tf as tf
import httpx
import numpy as np
import pytest
from gradwire.exchange import Exchange
from gradwire.tf import fetching, remote

from tests.clients.tensorflow.training import BATCH, INPUTS, Training

_keys = itertools.count()


@pytest.fixture(autouse=True)
def new_client(service, monkeypatch) -> str:
    """A default client of its own tenant, which has left nothing with the service; the tenant."""
    key = f"kept {next(_keys)}"
    monkeypatch.setenv("GRADWIRE_API_KEY", key)
    return key


@pytest.fixture
def transferred(monkeypatch) -> list[tuple[str, int, int]]:
    """Method, bytes sent and bytes received of each request, in order."""
    found: list[tuple[str, int, int]] = []
    receive = Exchange.receive

    def listened(exchange, response):
        found.append((exchange.method, len(exchange.content), len(response.content)))
        receive(exchange, response)

    monkeypatch.setattr(Exchange, "receive", listened)
    return found


@pytest.fixture
def by_value(monkeypatch) -> None:
    """Nothing stays with the service."""
    monkeypatch.setattr(fetching, "KEPT_BYTES", 1 << 40)


@pytest.fixture
def stored(service_url) -> Callable[[], int]:
    """How many results the service has."""

    def count() -> int:
        text = httpx.get(f"{service_url}/metrics").text
        (number,) = re.findall(r'gradwire_records\{kind="results"\} (\S+)', text)
        return int(float(number))

    return count


def lose(service_url: str, key: str) -> int:
    """Delete all results that the default client refers to, behind its back."""
    session = remote._session(gradwire.defaults.default_client())
    refs = list(session.results)
    for ref in refs:
        headers = {"Authorization": f"Bearer {key}"}
        httpx.delete(f"{service_url}/v1/tensors/{ref}", headers=headers)
    return len(refs)


@cache
def undisturbed() -> tuple[list[float], dict[int, list[Any]]]:
    """The losses of 30 steps, and the weights after some numbers of steps."""
    training, weights = Training(), {}
    for count in (7, 20, 30):
        training.steps(count - len(training.losses))
        weights[count] = training.weights()
    return training.losses, weights


@pytest.mark.thorough
def test_training_is_that_with_values(monkeypatch):
    losses, weights = undisturbed()
    monkeypatch.setattr(fetching, "KEPT_BYTES", 1 << 40)
    other = Training()
    assert other.steps(30) == pytest.approx(losses, rel=1e-6)
    assert losses[-1] < losses[0]
    for found, expected in zip(weights[30], other.weights(), strict=True):
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_a_step_sends_the_batch_and_not_the_weights(transferred):
    training = Training()
    training.steps(3)
    transferred.clear()
    training.steps(15)
    assert [method for method, _, _ in transferred] == ["POST"] * 15
    batch = BATCH * INPUTS * 4 + BATCH * 4
    assert max(sent + received for _, sent, received in transferred) < 1.5 * batch


def test_with_copies_a_step_is_less_than_two_batches(transferred, monkeypatch):
    training = Training()
    training.steps(3)
    monkeypatch.setattr(remote, "MOST_REMEMBERED_BYTES", 0)
    transferred.clear()
    training.steps(30)
    batch = BATCH * INPUTS * 4 + BATCH * 4
    assert any(method == "GET" for method, _, _ in transferred)
    assert sum(sent + received for _, sent, received in transferred) < 30 * 2 * batch


@pytest.mark.thorough
def test_what_the_service_has_does_not_grow(stored):
    gc.collect()
    before, training = stored(), Training()
    training.steps(5)
    counts = []
    for _ in range(8):
        training.steps(3)
        counts.append(stored() - before)
    # Values, moments and gradients of one variable: of this step, and of the one before.
    assert max(counts) <= 2 * 4
    del training
    gc.collect()
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0  # releases with the next request
    assert stored() == before


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(remote, "MOST_REMEMBERED_BYTES", 1 << 20)
    training = Training()
    session = remote._session(gradwire.defaults.default_client())
    remembered = []
    for _ in range(25):
        training.steps(1)
        requests = [result.request for result in list(session.results.values())]
        remembered += [each.remembered_bytes for each in requests if each is not None]
    # Twice the results or what is allowed, whichever is more, and the batch of one step.
    most = max(1 << 20, 2 * 4 * INPUTS * 64 * 4)
    assert most / 2 < max(remembered) < most + 2 * BATCH * INPUTS * 4


@pytest.mark.thorough
@pytest.mark.parametrize("when", [3, 4, 17])
def test_what_is_lost_is_computed_again(service_url, new_client, when):
    training = Training()
    training.steps(when)
    assert lose(service_url, new_client) >= 4
    training.steps(20 - when)
    losses, weights = undisturbed()
    assert training.losses == pytest.approx(losses[:20], rel=1e-5)
    for found, value in zip(training.weights(), weights[20], strict=True):
        # Repeated requests may differ in last digits, which Adam amplifies: a step is 1e-3.
        assert np.allclose(found, value, rtol=1e-4, atol=1e-5)


def test_what_is_lost_is_computed_again_where_it_is_read(service_url, new_client):
    training, (_, weights) = Training(), undisturbed()
    training.steps(7)
    lose(service_url, new_client)
    for found, value in zip(training.weights(), weights[7], strict=True):
        assert np.allclose(found, value, rtol=1e-4, atol=1e-6)


def test_what_is_lost_is_computed_from_the_last_copies(
    service_url, new_client, monkeypatch, transferred
):
    monkeypatch.setattr(remote, "MOST_REMEMBERED_BYTES", 1 << 20)
    training = Training()
    training.steps(25)
    lose(service_url, new_client)
    transferred.clear()
    training.steps(1)
    requests = [method for method, _, _ in transferred].count("POST")
    assert 2 < requests < 20  # not from the first step on
    assert training.losses == pytest.approx(undisturbed()[0][:26], rel=1e-5)


@pytest.mark.thorough
def test_a_service_that_loses_all_at_once_is_sent_values(service_url, new_client, monkeypatch):
    monkeypatch.setattr(remote, "PAUSE_SECONDS", 0.0)
    training = Training()
    training.steps(5)
    receive = Exchange.receive

    def losing(exchange, response):
        receive(exchange, response)
        if exchange.method == "POST":  # as if each request went to another replica
            lose(service_url, new_client)

    with monkeypatch.context() as patched:
        patched.setattr(Exchange, "receive", losing)
        training.steps(4)
    assert training.losses == pytest.approx(undisturbed()[0][:9], rel=1e-5)


def test_after_a_loss_nothing_stays_for_a_while(service_url, new_client, transferred):
    training = Training()
    training.steps(5)
    assert lose(service_url, new_client) >= 4
    training.steps(2)
    transferred.clear()
    training.steps(2)
    assert min(received for _, _, received in transferred) > 4 * INPUTS * 64 * 4


def test_what_is_lost_for_good_is_an_error(service_url, new_client):
    w = tf.Variable(tf.ones(5000))
    w.assign_add(tf.ones(5000))
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0
    w._node.value._result.request = None  # nobody knows any more what computes it
    assert lose(service_url, new_client) >= 1
    for read in (w.numpy, lambda: float(tf.reduce_sum(w))):
        with pytest.raises(tf.errors.DataLossError, match="the service has lost a value"):
            read()
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0


def test_variables_that_python_reads_come_with_the_answers(transferred):
    w = tf.Variable(tf.zeros(5000))
    seen = []
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - 1.0) ** 2)
        w.assign_sub(0.25 * tape.gradient(loss, w))
        seen.append(float(loss))
        assert w.numpy()[0] == w.numpy()[-1]
    assert np.allclose(w, 1.0 - 0.5**6)
    late = transferred[-6:]
    assert "GET" not in {method for method, _, _ in late}


def test_a_gradient_that_python_reads_comes_with_the_answer(transferred):
    w = tf.Variable(tf.ones(5000))
    for step in range(4):
        transferred.clear()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        assert np.array_equal(tape.gradient(loss, w), np.full(5000, 2.0, np.float32))
        assert [method for method, _, _ in transferred] == ["POST", "GET"][: 1 if step else 2]


def test_a_value_of_another_client_is_fetched_by_that_one(monkeypatch):
    w = tf.Variable(tf.ones(5000))
    w.assign_add(tf.ones(5000))
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0  # computes w, too
    assert isinstance(w._node.value, remote.RemoteArray)
    monkeypatch.setenv("GRADWIRE_API_KEY", f"kept {next(_keys)}")
    assert float(tf.reduce_sum(w)) == 10000.0


def test_bfloat16_comes_with_its_rounding():
    w = tf.Variable(tf.ones(5000, tf.bfloat16))
    w.assign(w * tf.constant(1.01, tf.bfloat16))
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0
    assert isinstance(w._node.value, remote.RemoteArray)
    assert set(w.numpy().astype(np.float64).tolist()) == {1.0078125}


def test_values_that_stay_look_like_arrays():
    w = tf.Variable(tf.ones((100, 50)))
    w.assign_add(tf.ones((100, 50)))
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0
    assert isinstance(w._node.value, remote.RemoteArray)
    assert w.shape == (100, 50)
    assert w.dtype == tf.float32
    assert tf.transpose(w).shape == (50, 100)
    assert float(tf.reduce_sum(w @ tf.ones((50, 2)))) == 20000.0
    assert np.asarray(w).tolist() == np.full((100, 50), 2.0).tolist()


def test_copies_of_values_are_arrays():
    w = tf.Variable(tf.ones(5000))
    w.assign_add(tf.ones(5000))
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0
    value = w._node.value
    assert isinstance(value, remote.RemoteArray)
    for copied in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert np.array_equal(copied, np.full(5000, 2.0, np.float32))
    assert np.array_equal(copy.deepcopy(w), w)


def test_tensors_of_moderate_size_come_with_the_answer(transferred):
    doubled = 2.0 * tf.ones(5000)
    assert float(tf.reduce_sum(doubled + 1.0)) == 15000.0
    assert doubled.numpy()[0] == 2.0
    assert [method for method, _, _ in transferred] == ["POST"]


def test_threads_train_side_by_side():
    found: dict[int, list[float]] = {}

    def train(number: int) -> None:
        found[number] = Training().steps(10)

    threads = [threading.Thread(target=train, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = undisturbed()[0][:10]
    assert all(losses == pytest.approx(expected, rel=1e-6) for losses in found.values())
    assert len(found) == 3
