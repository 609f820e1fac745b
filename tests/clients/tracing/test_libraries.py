import math
import pickle
import sys
import threading

import gradwire
import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats
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


class Watcher(threading.Thread):
    """Uses the libraries as other threads of a server do, and notes whatever is not theirs."""

    NAMES = tuple(
        (module, name)
        for module, names in (
            ("numpy", "array asarray zeros ones empty full sum vectorize"),
            ("numpy.linalg", "norm inv"),
            ("math", "sin exp"),
            ("scipy.special", "logsumexp softmax"),
            ("scipy.linalg", "expm solve"),
        )
        for name in names.split()
    )
    METHODS = ((scipy.stats.rv_continuous, "pdf"), (np.vectorize, "__call__"))

    def __init__(self):
        super().__init__()
        self.known = {pair: self.read(*pair) for pair in self.NAMES}
        self.methods = {pair: getattr(*pair) for pair in self.METHODS}
        self.stop = threading.Event()
        self.rounds = 0
        self.odd: list[object] = []

    @staticmethod
    def read(module, name):
        return getattr(sys.modules[module], name)

    def run(self):
        try:
            while not self.stop.is_set():
                self.look()
                self.compute()
                self.rounds += 1
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.odd.append(error)

    def look(self):
        for pair, original in self.known.items():
            if self.read(*pair) is not original:
                self.odd.append(pair)
        for (kind, name), method in self.methods.items():
            if getattr(kind, name) is not method:
                self.odd.append(name)
        from numpy import array, zeros

        assert pickle.loads(pickle.dumps([array, zeros, np.asarray, math.sin])) == [
            array, zeros, np.asarray, math.sin,
        ]  # fmt: skip

    def compute(self):
        table = np.zeros((3, 4))
        table[1] = np.arange(4.0)
        made = np.array([table[1], np.ones(4), np.full(4, 2.0), np.empty_like(table[0])])
        for array in (table, made, np.linalg.inv(np.eye(2)), np.sum([table, table], axis=0)):
            assert type(array) is np.ndarray
        assert logsumexp([0.0, 0.0]) == scipy.special.logsumexp([0.0, 0.0]) == math.log(2.0)
        assert type(math.sin(1.0)) is float
        assert scipy.stats.norm.pdf(0.0) == 1 / math.sqrt(2 * math.pi)
        assert twice(3.0) == 6.0


twice = np.vectorize(lambda x: 2.0 * x)


def everything(x):
    """Calls every kind of function that has a substitute."""
    a = np.zeros(3)
    a[:] = x
    b = np.array([a[0], math.sin(x[1]), logsumexp(x)])
    c = scipy.linalg.expm(np.array([[b[0], x[1]], [x[2], b[2]]]))
    return np.sum(twice(c)) + np.sum(scipy.stats.norm.pdf(a)) + np.sum(b)


@pytest.mark.thorough
def test_other_threads_see_the_originals_only(client):
    expected = everything(V)
    watchers = [Watcher() for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    for _ in range(20):
        assert gradwire.function(everything, client)(V) == pytest.approx(expected)
    for watcher in watchers:
        watcher.stop.set()
        watcher.join()
    assert [watcher.odd for watcher in watchers] == [[], [], []]
    assert all(watcher.rounds for watcher in watchers)


def test_threads_that_record_at_once_do_not_see_each_other(client):
    expected, found = everything(V), []

    def record():
        found.extend([gradwire.function(everything, client)(V) for _ in range(5)])

    threads = [threading.Thread(target=record) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx([expected] * 15)
    assert type(np) is type(math)


def test_another_thread_computes_in_the_middle_of_a_recording(client):
    watcher = Watcher()

    def f(x):
        inside = threading.Thread(target=lambda: (watcher.look(), watcher.compute()))
        inside.start()
        inside.join()
        return everything(x)

    assert gradwire.function(f, client)(V) == pytest.approx(everything(V))
    assert watcher.odd == []


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
