"""An argument that is unknown, or not implemented, is an error that names it."""

from typing import Any

import gradwire.tf
import numpy as np
import pytest

tf: Any = gradwire.tf  # type checkers refuse these arguments too
K = tf.keras
JPEG = b"\xff\xd8\xff"


class Called(gradwire.tf.Module):
    """A module with a function that is not saved."""

    @tf.function
    def called(self) -> None:
        """Does nothing."""


def created(layer: Any) -> None:
    """Build a layer where variables are made by a function."""
    with tf.variable_creator_scope(lambda make, **kwargs: make(**kwargs)):
        layer(np.ones([1, 1], np.float32))


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
    "remove_diagonal=": lambda: K.losses.circle(
        np.ones(1), np.ones([1, 1], np.float32), np.ones(2), np.ones([2, 1], np.float32)
    ),
    "sparse=": lambda: K.Input((1,), sparse=True),
    "alg=": lambda: tf.random.stateless_uniform([2], [1, 2], alg="threefry"),
    "output_type=": lambda: tf.matmul([[1.0]], [[1.0]], output_type=tf.int32),
    "dct_method=": lambda: tf.io.decode_jpeg(JPEG),
    "decode_jpeg": lambda: tf.io.decode_image(JPEG),
    "GIF": lambda: tf.io.decode_image(b"GIF89a"),
    "16-bit colors": lambda: tf.io.decode_png(
        tf.io.encode_png(np.zeros([1, 1, 3], np.uint16)), dtype=tf.uint16
    ),
    "channels=1": lambda: tf.io.decode_png(
        tf.io.encode_png(np.zeros([1, 1, 3], np.uint8)), channels=1
    ),
    "auto_mixed_precision=": lambda: tf.config.optimizer.set_experimental_options(
        {"auto_mixed_precision": True}
    ),
    "logical_devices=": lambda: tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices()[0], [tf.config.LogicalDeviceConfiguration()] * 2
    ),
    "without a CPU": lambda: tf.config.set_visible_devices([], "CPU"),
    "devices=": lambda: tf.distribute.MirroredStrategy(["gpu:0", "gpu:1"]),
    "MultiWorkerMirroredStrategy": lambda: [tf.distribute.MultiWorkerMirroredStrategy],
    "accumulation_fn=": lambda: tf.distribute.ReductionToOneDevice(accumulation_fn=sum),
    "signatures=": lambda: tf.saved_model.save(tf.Module(), "nowhere", signatures=print),
    "functions: root.called": lambda: tf.saved_model.save(Called(), "nowhere"),
    "functions: root": lambda: tf.saved_model.save(K.layers.Dense(1), "nowhere"),
    "variables of texts": lambda: tf.train.Checkpoint(v=tf.Variable("text")).write("nowhere"),
    "variable_creator_scope": lambda: created(K.layers.Dense(1)),
    "gs://": lambda: tf.io.gfile.exists("gs://bucket/file"),
    "snapshot; instead: tf.data.Dataset.cache": lambda: tf.data.Dataset.range(3).snapshot("path"),
    "Dataset.rejection_resample": lambda: [tf.data.Dataset.rejection_resample],
    "format=": lambda: K.utils.timeseries_dataset_from_array(np.ones(3), None, 1, format="grain"),
    "padded_shapes=": lambda: tf.data.Dataset.range(3).bucket_by_sequence_length(
        int, [2], [1, 1], pad_to_bucket_boundary=True
    ),
    "sloppy=": lambda: tf.data.experimental.parallel_interleave(print, 1, sloppy=True),
    "compression_type=": lambda: tf.data.TextLineDataset("file", compression_type="GZIP"),
    "tol=": lambda: tf.linalg.eigh_tridiagonal([1.0, 2.0], [1.0], tol=0.1),
    "disable_v2_behavior": lambda: [tf.compat.v1.disable_v2_behavior],
    "target= and graph=": lambda: tf.compat.v1.Session("grpc://host"),
    "Saver; instead: tf.train.Checkpoint": lambda: [tf.compat.v1.train.Saver],
    "colocate_gradients_with_ops=": lambda: tf.compat.v1.train.AdamOptimizer(0.1).minimize(
        print, colocate_gradients_with_ops=True
    ),
    "data=": lambda: K.layers.RandomFlip()({"images": np.ones([1, 1, 1])}),
    "num_oov_indices=2": lambda: K.layers.StringLookup(vocabulary=["a"], num_oov_indices=2)(["b"]),
    "pad_to_aspect_ratio=": lambda: K.layers.Resizing(1, 1, pad_to_aspect_ratio=True),
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
