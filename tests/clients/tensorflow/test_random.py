"""Random numbers are TensorFlow's own: recorded from TensorFlow 2.21 for these seeds."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from gradwire import tf

from tests.clients.tensorflow import record_other_draws

README = Path(__file__).parents[3] / "clients" / "tensorflow" / "README.md"

# tf.random.set_seed(42), then one call after another.
SEQUENCE = [
    (lambda: tf.random.uniform([5]), "u"),
    (lambda: tf.random.uniform([2, 3], -1, 3), "u2"),
    (lambda: tf.random.normal([5]), "n"),
    (lambda: tf.random.normal([5], 1, 2, dtype=tf.float64), "nd"),
    (lambda: tf.random.uniform([5], dtype=tf.float64), "ud"),
    (lambda: tf.random.truncated_normal([9]), "t"),
    (lambda: tf.random.uniform([5], 0, 100, tf.int32), "i"),
    (lambda: tf.random.uniform([5], 0, 100, tf.int64), "l"),
    (lambda: tf.random.uniform([3], seed=7), "s1"),
    (lambda: tf.random.uniform([3], seed=7), "s2"),
    (lambda: tf.random.normal([3], seed=7), "s3"),
    (lambda: tf.random.uniform([300], seed=7)[:3], "s4"),
    (lambda: tf.random.uniform([3], seed=7), "s5"),
    (lambda: tf.random.shuffle(tf.range(10)), "shuf"),
    (lambda: tf.random.shuffle(tf.range(10), seed=3), "shuf2"),
    (lambda: tf.random.shuffle(tf.range(10), seed=3), "shuf3"),
    (lambda: tf.random.uniform([5], dtype=tf.float16), "h"),
    (lambda: tf.random.normal([5], dtype=tf.float16), "hn"),
    (lambda: tf.nn.dropout(tf.ones([10]), 0.5), "drop"),
    (lambda: tf.nn.dropout(tf.ones([10]), 0.5, seed=1), "drop2"),
    (lambda: tf.random.categorical([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 6), "cat"),
]
STATELESS = [
    (lambda: tf.random.stateless_uniform([5], [1, 2]), "su"),
    (lambda: tf.random.stateless_normal([5], [1, 2]), "sn"),
    (lambda: tf.random.stateless_truncated_normal([5], [1, 2]), "st"),
    (lambda: tf.random.stateless_uniform([5], [1, 2], 0, 10, tf.int32), "si"),
    (lambda: tf.random.stateless_uniform([5], [1, 2], None, None, tf.int32), "sii"),
    (lambda: tf.random.split([1, 2], 3), "ssp"),
    (lambda: tf.random.fold_in([1, 2], 3), "sfo"),
    (lambda: tf.random.experimental.stateless_shuffle(tf.range(10), [1, 2]), "ssh"),
    (
        lambda: tf.random.stateless_categorical([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 6, [1, 2]),
        "scat",
    ),
]
GENERATOR = [
    (lambda g: g.state, "gs"),
    (lambda g: g.normal([5]), "gn"),
    (lambda g: g.state, "gs1"),
    (lambda g: g.uniform([5]), "gu"),
    (lambda g: g.state, "gs2"),
    (lambda g: g.uniform([5], 0, 10, tf.int32), "gui"),
    (lambda g: g.truncated_normal([5]), "gtn"),
    (lambda g: g.state, "gs3"),
]
RECORDED = json.loads((Path(__file__).parent / "draws.json").read_text())


@pytest.fixture(autouse=True)
def served(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)


def test_a_global_seed_determines_all_later_draws():
    tf.random.set_seed(42)
    for draw, name in SEQUENCE:
        assert_recorded(draw(), name)


@pytest.mark.parametrize(("draw", "name"), STATELESS)
def test_a_stateless_draw_depends_only_on_its_seed(draw, name):
    assert_recorded(draw(), name)


def test_a_generator_continues_from_its_state():
    generator = tf.random.Generator.from_seed(1)
    for draw, name in GENERATOR:
        assert_recorded(draw(generator), name)


def test_operations_in_a_function_get_seeds_by_their_place():
    @tf.function
    def drawn():
        return tf.random.uniform([2]), tf.random.normal([2]), tf.random.uniform([2], seed=1)

    @tf.function
    def calling(x):
        return x + tf.random.uniform([2]), drawn()[0]

    tf.random.set_seed(5)
    first = [[0.182864785, 0.689989567], [-1.37688971, -0.012583158], [0.387518406, 0.748545527]]
    second = [[0.936387181, 0.651327014], [0.266276836, -0.031191304], [0.964699984, 0.268558621]]
    np.testing.assert_allclose(drawn(), first, rtol=1e-5)
    np.testing.assert_allclose(drawn(), second, rtol=1e-5)
    for whole in (first, second):  # called by another function, it gives other numbers
        found = calling(tf.constant(1.0))
        wanted = np.add(whole[0], [[1.0], [0.0]])
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(tf.random.uniform([2]), [0.62639308, 0.529843211], rtol=1e-5)
    tf.random.set_seed(5)
    np.testing.assert_allclose(drawn(), first, rtol=1e-5)


def test_setting_the_seed_again_restarts_the_sequence():
    tf.random.set_seed(1)
    first = [tf.random.normal([2]).numpy(), tf.random.uniform([2], seed=3).numpy()]
    tf.random.set_seed(1)
    again = [tf.random.normal([2]).numpy(), tf.random.uniform([2], seed=3).numpy()]
    np.testing.assert_array_equal(first, again)


def test_without_a_seed_draws_are_not_repeatable():
    generators = [tf.random.Generator.from_non_deterministic_state() for _ in range(2)]
    first, second = (generator.uniform([4]).numpy() for generator in generators)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda: tf.random.gamma([4000], 2.0, 0.5), 4.0, 8.0),
        (lambda: tf.random.poisson([4000], 3.0), 3.0, 3.0),
        (lambda: tf.random.poisson([4000], 30.0), 30.0, 30.0),
        (lambda: tf.random.stateless_binomial([4000], [1, 2], 10, 0.25, tf.float32), 2.5, 1.875),
        (lambda: tf.random.stateless_binomial([4000], [1, 2], 90, 0.7, tf.float32), 63.0, 18.9),
        (
            lambda: tf.random.stateless_parameterized_truncated_normal([4000], [1, 2]),
            0.0,
            0.7737,
        ),
    ],
)
def test_distributions_have_the_right_moments(draw, mean, variance):
    drawn = draw().numpy()
    assert abs(drawn.mean() - mean) < 5 * (variance / 4000) ** 0.5
    assert abs(drawn.var() / variance - 1) < 0.2


def test_all_draws_of_other_numbers_than_tensorflows_are_in_the_readme():
    recorded = json.loads(record_other_draws.OTHER_DRAWS.read_text())
    text = README.read_text(encoding="utf-8")
    (said,) = re.findall(
        r"Other numbers than TensorFlow's are drawn\n(.*?)\n\nWith", text, re.DOTALL
    )
    for name, draw in record_other_draws.draws(tf).items():
        assert name in said
        assert not np.allclose(record_other_draws.numbers(tf, draw), recorded[name])
    functions = {f"tf.{name}" for name in re.findall(r"`tf\.([\w.]+)`", said)}
    assert functions - {"tf.function"} <= record_other_draws.draws(tf).keys()


DRAWS = {
    "normal": lambda: tf.random.normal([2]),
    "stateless": lambda: tf.random.stateless_uniform([2], [1, 2]),
    "generator": lambda: tf.random.Generator.from_seed(1).normal([2]),
    "function": tf.function(lambda: tf.random.shuffle([1, 2])),
    "layer": lambda: tf.keras.layers.Dropout(0.5)(tf.ones([2]), training=True),
}


@pytest.mark.parametrize("name", DRAWS)
def test_nothing_is_drawn_in_functions_that_xla_would_compile(name):
    DRAWS[name]()
    with pytest.raises(NotImplementedError, match="jit_compile=True"):
        tf.function(DRAWS[name], jit_compile=True)()


def test_a_model_that_xla_would_compile_does_not_drop_out():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dropout(0.5)])
    model.compile("sgd", "mse", jit_compile=True)
    with pytest.raises(NotImplementedError, match="jit_compile=True"):
        model.fit(np.ones((2, 2)), np.ones((2, 2)))


def test_large_draws_take_no_loop():
    tf.random.set_seed(1)
    drawn = tf.random.truncated_normal([300_000]).numpy()
    assert np.abs(drawn).max() < 2
    assert len(np.unique(drawn)) > 290_000


def test_gamma_numbers_are_differentiated_in_their_parameters():
    alpha, beta = tf.Variable(2.0), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.random.gamma([50], alpha, beta, seed=4))
    of_alpha, of_beta = tape.gradient(total, [alpha, beta])
    assert float(of_alpha) > 0
    np.testing.assert_allclose(of_beta, -total / beta, rtol=1e-5)


def assert_recorded(drawn, name):
    found = np.asarray(drawn.numpy())
    wanted = np.asarray(RECORDED[name])
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, wanted)
