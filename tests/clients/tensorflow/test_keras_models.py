"""What files and configurations of models refuse, and what is drawn in training."""

from typing import Any

import gradwire.tf
import numpy as np
import pytest

tf: Any = gradwire.tf
K = tf.keras
L = K.layers


def made() -> Any:
    """A model of one layer."""
    return K.Sequential([K.Input((2,)), L.Dense(1, kernel_initializer="ones", name="only")])


@pytest.mark.parametrize("name", ["model.h5", "model.hdf5"])
def test_hdf5_is_not_written(name, tmp_path):
    with pytest.raises(NotImplementedError, match="HDF5"):
        made().save(tmp_path / name)


def test_a_model_with_a_lambda_function_is_refused(tmp_path):
    model = K.Sequential([K.Input((2,)), L.Lambda(lambda x: x * 2)])
    with pytest.raises(NotImplementedError, match="lambda function"):
        model.save(tmp_path / "model.keras")


def test_an_operation_without_a_configuration_is_named():
    i = K.Input((2,))
    model = K.Model(i, K.ops.softplus(i))
    assert model(np.zeros((1, 2))).numpy().tolist() == pytest.approx(np.log([[2.0, 2.0]]))
    with pytest.raises(NotImplementedError, match="Softplus"):
        model.to_json()


def test_a_registered_function_is_saved(tmp_path):
    @K.utils.register_keras_serializable("tests")
    def doubled(x: Any) -> Any:
        return x * 2

    model = K.Sequential([K.Input((2,)), L.Lambda(doubled), L.Activation(doubled)])
    model.save(tmp_path / "model.keras")
    loaded = K.models.load_model(tmp_path / "model.keras")
    assert loaded(np.ones((1, 2))).numpy().tolist() == [[4.0, 4.0]]


def test_weights_are_read_from_a_model(tmp_path):
    model, other = made(), made()
    model.set_weights([np.array([[3.0], [4.0]]), np.array([5.0])])
    model.save(tmp_path / "model.keras")
    other.load_weights(tmp_path / "model.keras")
    assert [w.tolist() for w in other.get_weights()] == [[[3.0], [4.0]], [5.0]]


def test_a_checkpoint_saves_whole_models(tmp_path):
    model = made()
    model.compile("adam", "mse")
    checkpoint = K.callbacks.ModelCheckpoint(tmp_path / "at-{epoch}.keras")
    model.fit(np.ones((2, 2)), np.ones((2, 1)), epochs=2, callbacks=[checkpoint], verbose=0)
    loaded = K.models.load_model(tmp_path / "at-2.keras")
    assert loaded.get_weights()[0].tolist() == model.get_weights()[0].tolist()
    assert int(loaded.optimizer.iterations) == 2


def test_each_layer_is_made_again_from_its_configuration():
    arguments: dict[str, tuple[Any, ...]] = {
        "Activation": ("relu",), "AlphaDropout": (0.1,), "AveragePooling1D": (2,),
        "Bidirectional": (L.LSTM(2),), "CategoryEncoding": (3,), "CenterCrop": (1, 1),
        "Discretization": ([0.0, 1.0],), "RandomBrightness": (0.1,), "RandomContrast": (0.1,),
        "RandomCrop": (1, 1), "RandomRotation": (0.1,), "RandomTranslation": (0.1, 0.1),
        "RandomZoom": (0.1,), "Resizing": (1, 1), "StringLookup": (None, 1, "", "?", ["a", "b"]),
        "IntegerLookup": (None, 2, 0, -1, [7, 8]), "TextVectorization": (None, "lower"),
        "ConvLSTM1D": (1, 1), "ConvLSTM2D": (1, 1), "ConvLSTM3D": (1, 1),
        "SpectralNormalization": (L.Dense(1),),
        "Conv1D": (1, 1), "Conv2D": (1, 1), "Conv3D": (1, 1),
        "Conv1DTranspose": (1, 1), "Conv2DTranspose": (1, 1), "Conv3DTranspose": (1, 1),
        "Dense": (1,), "DepthwiseConv1D": (1,), "DepthwiseConv2D": (1,), "Dot": (1,),
        "Dropout": (0.1,), "EinsumDense": ("ab,bc->ac", 2), "Embedding": (2, 2), "GRU": (1,),
        "GRUCell": (1,), "GaussianDropout": (0.1,), "GaussianNoise": (0.1,),
        "InputLayer": ((2,),), "LSTM": (1,), "LSTMCell": (1,), "Lambda": (tf.nn.relu,),
        "MultiHeadAttention": (1, 1), "Permute": ((1,),), "RNN": (L.GRUCell(1),),
        "RepeatVector": (2,), "Rescaling": (2.0,), "Reshape": ((2,),), "SeparableConv1D": (1, 1),
        "SeparableConv2D": (1, 1), "SimpleRNN": (1,), "SimpleRNNCell": (1,),
        "SpatialDropout1D": (0.1,), "SpatialDropout2D": (0.1,), "SpatialDropout3D": (0.1,),
        "StackedRNNCells": ([L.GRUCell(1)],), "TimeDistributed": (L.Dense(1),),
        "Wrapper": (L.Dense(1),),
    }  # fmt: skip
    kinds = {each for each in map(L.__dict__.get, L.__all__) if isinstance(each, type)}
    for kind in kinds - {L.Layer, L.InputSpec, L.Lambda}:
        layer: Any = kind(*arguments.get(kind.__name__, ()))
        again = L.deserialize(L.serialize(layer))
        assert type(again).__name__ == kind.__name__
        assert again.get_config() == layer.get_config()


@pytest.mark.parametrize(
    "layer",
    [
        L.Dropout(0.5, seed=1),
        L.SpatialDropout1D(0.5, seed=1),
        L.GaussianNoise(0.5, seed=1),
        L.GaussianDropout(0.5, seed=1),
        L.AlphaDropout(0.5, seed=1),
        L.LSTM(3, dropout=0.5, recurrent_dropout=0.5, return_sequences=True, seed=1),
        L.GRU(3, dropout=0.5, return_sequences=True, seed=1),
        L.SimpleRNN(3, recurrent_dropout=0.5, return_sequences=True, seed=1),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_layers_draw_in_training_alone(layer):
    x = tf.constant(np.linspace(0.5, 2.0, 2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3))
    calm = layer(x).numpy()
    assert np.array_equal(layer(x, training=False).numpy(), calm)
    assert not np.allclose(layer(x, training=True).numpy(), calm)


def test_dropout_keeps_the_mean():
    x = tf.ones((200, 200))
    for layer in (L.Dropout(0.3, seed=2), L.GaussianDropout(0.3, seed=2)):
        assert abs(float(tf.reduce_mean(layer(x, training=True))) - 1.0) < 0.02
    channels = L.SpatialDropout2D(0.5, seed=3)(tf.ones((4, 3, 3, 8)), training=True).numpy()
    assert all(len(np.unique(each)) == 1 for each in channels.transpose(0, 3, 1, 2).reshape(32, 9))


def test_a_summary_shows_shapes_and_numbers():
    lines: list[str] = []
    made().summary(print_fn=lines.append, show_trainable=True)
    (text,) = lines
    assert "only (Dense)" in text
    assert "(None, 1)" in text
    assert "Total params: 3 (12.00 B)" in text
