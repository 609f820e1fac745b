"""Draws in programs: keys are values of the request, and each library's names take them."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import BadArgument, UnknownOperation

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.rand(2, 3, key=k)", "random.uniform(k, (2, 3))"),
        ("torch.randn((2, 3), key=k, dtype=torch.float32)", "random.normal(k, (2, 3), 'float32')"),
        ("torch.rand_like(x, key=k)", "random.uniform(k, (2, 3))"),
        ("torch.randn_like(x, key=k)", "random.normal(k, (2, 3))"),
        ("torch.randint(9, (4,), key=k)", "random.randint(k, (4,), 0, 9)"),
        ("torch.randint(2, 9, (4,), key=k)", "random.randint(k, (4,), 2, 9)"),
        ("torch.randperm(5, key=k)", "random.permutation(k, 5)"),
        ("torch.normal(x, 2.0, key=k)", "random.normal(k, loc=x, scale=2.0)"),
        ("torch.bernoulli(p, key=k)", "random.bernoulli(k, p) * 1.0"),
        ("torch.poisson(p, key=k)", "random.poisson(k, p) * 1.0"),
        ("F.dropout(x, 0.3, key=k)", "random.dropout(k, x, 0.3)"),
        ("F.dropout(x, 0.3, False)", "x"),
        ("F.dropout1d(x, key=k)", "random.dropout(k, x)"),
        ("F.dropout2d(x[:, :, None], key=k)", "random.dropout(k, x, 0.5)[:, :, None]"),
        ("F.gumbel_softmax(x, 0.5, dim=0, key=k)", "random.gumbel_softmax(k, x, 0.5, axis=0)"),
        ("tf.random.stateless_normal([2, 3], s, 1.0, 2.0)", "1 + 2 * random.normal(s, (2, 3))"),
        ("tf.random.stateless_uniform([2], seed=[3, 4])", "random.uniform(s, (2,))"),
        ("tf.random.stateless_uniform([2], s, -1.0, 1.0)", "random.uniform(s, (2,)) * 2 - 1"),
        ("tf.random.stateless_uniform([4], s, 2, 9, tf.int32)", "random.randint(s, (4,), 2, 9)"),
        (
            "tf.random.stateless_truncated_normal([2], s, 1.0, 3.0)",
            "1 + 3 * random.truncated_normal(s, -2.0, 2.0, (2,))",
        ),
        (
            "tf.random.stateless_parameterized_truncated_normal([2], s, 1.0, 3.0, -2.0, 7.0)",
            "1 + 3 * random.truncated_normal(s, -1.0, 2.0, (2,))",
        ),
        ("tf.random.stateless_gamma([3], s, 0.5, 2.0)", "random.gamma(s, 0.5, (3,)) / 2"),
        ("tf.random.stateless_poisson([3], s, 2.5)", "random.poisson(s, 2.5, (3,))"),
        ("tf.random.stateless_binomial([3], s, 9, 0.5)", "random.binomial(s, 9, 0.5, (3,))"),
        ("tf.random.experimental.stateless_shuffle(x, s)", "random.permutation(s, x)"),
        ("tf.random.split(s, 3)", "random.split(s, 3)"),
        ("tf.random.fold_in(s, 3)", "random.fold_in(s, 3)"),
        ("tf.nn.dropout(x, 0.3, seed=s)", "random.dropout(s, x, 0.3)"),
        ("tf.nn.dropout(x, 0.3, [2, 1], k)", "random.dropout(k, x, 0.3, (2, 1))"),
        ("jax.random.normal(k, (3,))", "random.normal(k, (3,))"),
    ],
)
def test_names_of_other_libraries_are_ours(ask, text, expected):
    found, wanted = ask.value(text, VARIABLES), ask.value(expected, VARIABLES)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_indices_by_weight(ask):
    drawn = ask.value("torch.multinomial(p, 1000, True, key=k)", VARIABLES)
    assert drawn.shape == (2, 1000)
    assert np.bincount(drawn[1]).tolist()[2:] == []
    np.testing.assert_allclose(np.bincount(drawn[0]) / 1000, P[0], atol=0.05)
    assert sorted(ask.value("torch.multinomial(p, 2, key=k)", VARIABLES)[1]) == [0, 1]
    classes = ask.value("tf.random.stateless_categorical(log(p), 1000, s)", VARIABLES)
    assert classes.shape == (2, 1000)
    np.testing.assert_allclose(np.bincount(classes[0]) / 1000, P[0], atol=0.05)


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("torch.randn(3)", BadArgument, "key=7"),
        ("F.dropout(x)", BadArgument, "key=7"),
        ("tf.nn.dropout(x, 0.5)", BadArgument, "seed=7"),
        ("tf.random.stateless_uniform([2], s, 0, dtype='int32')", BadArgument, ""),
        ("tf.random.normal([3])", UnknownOperation, "tf.random.stateless_normal"),
        ("np.random.rand(3)", UnknownOperation, "draws take a key"),
        ("random.normal(0.5, (3,))", BadArgument, "first a key"),
    ],
)
def test_a_draw_without_a_key_is_refused(ask, text, error, hint):
    with pytest.raises(error) as caught:
        ask.value(text, VARIABLES)
    assert hint in (caught.value.hint or "")


def test_a_variational_objective_in_one_program(ask):
    """The gradient of ``E[(m + s n)²] = m² + s²`` by draws is near ``2m`` and ``2s``."""
    text = "keys = random.split(k)\nz = m + s * random.normal(keys[1], (20000,))\nmean(z ** 2)"
    found = ask.gradients(text, {"m": 0.7, "s": 1.3, "k": np.array(1)}, sources=["m", "s"])
    np.testing.assert_allclose(found, [1.4, 2.6], atol=0.05)
