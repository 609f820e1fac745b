import math
import threading

import gradwire
import numpy as np
import pytest
import scipy.linalg
import scipy.special
from scipy.special import logsumexp

V = np.array([0.3, 0.7, 1.1])


def through_another(x):
    return logsumexp(x) + scipy.special.softmax(x)[0]


def test_functions_are_recorded_in_any_module(client):
    own = scipy.special.logsumexp

    def f(x, by_default=scipy.special.logsumexp):
        return own(x) + logsumexp(x) + through_another(x) + by_default(x)

    assert gradwire.function(f, client)(V) == pytest.approx(f(V))
    assert own is logsumexp


def test_a_library_function_can_be_recorded_directly(client):
    slope = gradwire.grad(scipy.special.logsumexp, client=client)(V)
    assert np.allclose(slope, scipy.special.softmax(V))


def test_originals_are_restored_after_recording(client):
    before = np.array, math.sin, scipy.linalg.expm, np.vectorize.__call__, logsumexp
    gradwire.function(lambda x: scipy.linalg.expm(x) * logsumexp(x), client)(np.eye(2))
    with pytest.raises(ZeroDivisionError):
        gradwire.function(lambda x: x / (1 // 0), client)(V)
    assert (np.array, math.sin, scipy.linalg.expm, np.vectorize.__call__, logsumexp) == before


def test_other_threads_see_the_originals(client):
    begun, done = threading.Event(), threading.Event()
    seen = []

    def elsewhere():
        begun.wait()
        seen.extend([logsumexp(V), scipy.special.logsumexp(V), np.array([1, 2]), math.sin(1.0)])
        done.set()

    thread = threading.Thread(target=elsewhere)
    thread.start()

    def f(x):
        begun.set()
        done.wait()
        return logsumexp(x)

    assert gradwire.function(f, client)(V) == pytest.approx(seen[0])
    thread.join()
    assert seen[1] == seen[0]
    assert isinstance(seen[2], np.ndarray)
    assert seen[3] == math.sin(1.0)


def test_plain_values_stay_plain_during_a_recording(client):
    kinds = []

    def f(x):
        kinds.append(
            (isinstance(np.array([1.0]), np.ndarray), type(logsumexp(V)), type(math.exp(1.0)))
        )
        return x * logsumexp(V)

    gradwire.function(f, client)(V)
    assert kinds == [(True, np.float64, float)]


def test_missing_operations_are_reported_with_the_line(client):
    with pytest.raises(gradwire.UnknownOperation) as refused:
        gradwire.function(lambda x: scipy.linalg.schur(x)[0], client)(np.eye(2))
    assert "test_libraries.py" in refused.value.__notes__[0]
