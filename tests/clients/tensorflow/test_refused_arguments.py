"""An argument that is unknown, or not implemented, is an error that names it."""

from typing import Any

import gradwire.tf
import numpy as np
import pytest

tf: Any = gradwire.tf  # type checkers refuse these arguments too
K = tf.keras


def fitted(**options: Any) -> None:
    """Train a model of one output."""
    model = K.Sequential([K.layers.Dense(1)])
    model.compile("sgd", **options)
    model.fit(np.ones((2, 1)), np.ones((2, 1)))


UNKNOWN = {
    "SGD": lambda: K.optimizers.SGD(0.1, nonsense=3),
    "CosineDecay": lambda: K.optimizers.schedules.CosineDecay(0.1, 10, nonsense=3),
    "fit": lambda: K.Sequential([]).fit(np.ones(2), nonsense=3),
    "compile": lambda: K.Sequential([]).compile(nonsense=3),
    "evaluate": lambda: K.Sequential([]).evaluate(np.ones(2), nonsense=3),
    "predict": lambda: K.Sequential([]).predict(np.ones(2), nonsense=3),
    "summary": lambda: K.Sequential([]).summary(nonsense=3),
    "apply_gradients": lambda: K.optimizers.SGD().apply_gradients([], nonsense=3),
    "add_weight": lambda: K.layers.Dense(1).add_weight((1,), nonsense=3),
    "initializer": lambda: K.initializers.Zeros()((1,), nonsense=3),
    "Input": lambda: K.Input((1,), nonsense=3),
    "LossScaleOptimizer": lambda: K.mixed_precision.LossScaleOptimizer(
        K.optimizers.SGD(), nonsense=3
    ),
    "loss": lambda: K.losses.MeanSquaredError(nonsense=3),
    "metric": lambda: K.metrics.BinaryAccuracy(nonsense=3),
    "callback": lambda: K.callbacks.LambdaCallback(on_nonsense=print),
    "print": lambda: tf.print("text", nonsense=3),
    "from_generator": lambda: tf.data.Dataset.from_generator(list, nonsense=3),
}
NOT_IMPLEMENTED = {
    "steps_per_execution=": lambda: K.Sequential([]).compile(steps_per_execution=2),
    "loss=": lambda: fitted(loss=["mse", "mse"]),
    "line_length=": lambda: K.Sequential([]).summary(line_length=80),
    "stateful=": lambda: K.layers.LSTM(2, stateful=True),
    "attention_axes=": lambda: K.layers.MultiHeadAttention(1, 2, attention_axes=(1, 2)),
    "renorm=": lambda: K.layers.BatchNormalization(renorm=True),
    "output_padding=": lambda: K.layers.Conv2DTranspose(1, 2, output_padding=1),
    "force_download=": lambda: K.utils.get_file(
        "x", origin="https://example.org/x", force_download=True
    ),
    "interpolation=": lambda: K.layers.UpSampling2D(interpolation="bilinear"),
    "data_format=": lambda: K.layers.MaxPooling2D(data_format="channels_first"),
    "thresholds=": lambda: K.metrics.Precision(thresholds=[0.2, 0.5]),
    "sparse=": lambda: K.Input((1,), sparse=True),
    "alg=": lambda: tf.random.stateless_uniform([2], [1, 2], alg="threefry"),
    "output_type=": lambda: tf.matmul([[1.0]], [[1.0]], output_type=tf.int32),
    "row_splits_dtype=": lambda: tf.ragged.constant([[1]], row_splits_dtype=tf.int32),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_argument_is_a_type_error(name):
    with pytest.raises(TypeError, match="nonsense"):
        UNKNOWN[name]()


@pytest.mark.parametrize("argument", NOT_IMPLEMENTED)
def test_an_argument_that_is_not_implemented_is_named(argument):
    with pytest.raises(NotImplementedError, match=argument):
        NOT_IMPLEMENTED[argument]()
