"""Draws in programs: keys are values of the request, and each library's names take them."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from numpy.testing import assert_allclose

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
VARIABLES = {"x": X, "p": P, "k": np.array(7), "s": np.array([3, 4])}


def test_a_new_key_gives_new_numbers_without_a_new_recording():
    engine = Engine()
    program = engine.parse("sum(a * random.normal(k, (3,)))")
    query = Query("gradient", sources=("a",))

    def answer(key):
        call = engine.call(program, {"a": Leaf(np.array(2.0)), "k": Leaf(np.array(key))}, query)
        compiled = call.compiled
        reply = call.replay(lambda: None)
        return float(reply.value), float(reply.gradients[0]), compiled

    first, second, third = answer(1), answer(2), answer(1)
    assert first[:2] == third[:2] != second[:2]
    assert first[0] == pytest.approx(2 * first[1])
    assert [first[2], second[2], third[2]] == [False, True, True]


@cases("text, expected")
def test_names_of_other_libraries_are_ours(ask, text, expected):
    found, wanted = ask.value(text, VARIABLES), ask.value(expected, VARIABLES)
    assert_allclose(found, wanted, rtol=1e-14)


def test_indices_by_weight(ask):
    drawn = ask.value("torch.multinomial(p, 1000, True, key=k)", VARIABLES)
    assert drawn.shape == (2, 1000)
    assert np.bincount(drawn[1]).tolist()[2:] == []
    assert_allclose(np.bincount(drawn[0]) / 1000, P[0], atol=0.05)
    assert sorted(ask.value("torch.multinomial(p, 2, key=k)", VARIABLES)[1]) == [0, 1]
    classes = ask.value("tf.random.stateless_categorical(log(p), 1000, s)", VARIABLES)
    assert classes.shape == (2, 1000)
    assert_allclose(np.bincount(classes[0]) / 1000, P[0], atol=0.05)


@cases("text, error, hint")
def test_a_draw_without_a_key_is_refused(ask, text, error, hint):
    with pytest.raises(error) as caught:
        ask.value(text, VARIABLES)
    assert hint in (caught.value.hint or "")


def test_a_variational_objective_in_one_program(ask):
    """The gradient of ``E[(m + s n)²] = m² + s²`` by draws is near ``2m`` and ``2s``."""
    text = "keys = random.split(k)\nz = m + s * random.normal(keys[1], (20000,))\nmean(z ** 2)"
    found = ask.gradients(text, {"m": 0.7, "s": 1.3, "k": np.array(1)}, sources=["m", "s"])
    assert_allclose(found, [1.4, 2.6], atol=0.05)
