"""Files of models that Keras wrote are read as Keras reads them; code in them is not run."""

import json
import sys
from pathlib import Path
from typing import Any

import gradwire.tf
import numpy as np
import pytest
from gradwire.tf.keras.models import hdf5

tf: Any = gradwire.tf
FOLDER = Path(__file__).parent / "keras_files"
OUTPUTS = json.loads((FOLDER / "outputs.json").read_text())


def inputs(name: str) -> Any:
    shape = OUTPUTS[name]["shape"]
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    "file",
    sorted(path.name for path in FOLDER.glob("*.*") if "h5" in path.name or "keras" in path.name),
)
def test_a_model_of_keras_gives_its_outputs(file: str):
    pytest.importorskip("h5py")
    name = file.partition(".")[0]
    if file.endswith(".weights.h5"):
        model = tf.keras.models.clone_model(tf.keras.models.load_model(FOLDER / f"{name}.keras"))
        model.load_weights(FOLDER / file)
    else:
        model = tf.keras.models.load_model(
            FOLDER / file, compile=file.endswith(".keras"), safe_mode=name != "lambda"
        )
    np.testing.assert_allclose(
        model.predict(inputs(name), verbose=0), OUTPUTS[name]["outputs"], rtol=1e-5, atol=1e-6
    )


def test_the_training_of_a_file_goes_on():
    pytest.importorskip("h5py")
    model = tf.keras.models.load_model(FOLDER / "images.keras")
    model.fit(inputs("images"), np.ones((2, 2)), verbose=0)
    found = model.predict(inputs("images"), verbose=0)
    np.testing.assert_allclose(found, OUTPUTS["images"]["after"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("file", ["lambda.keras", "lambda.h5"])
def test_code_in_a_file_is_not_run(file, monkeypatch):
    pytest.importorskip("h5py")
    for _ in range(2):  # the first has imported what it needs, which is marshalled, too
        with pytest.raises(ValueError, match="safe_mode=False"):
            tf.keras.models.load_model(FOLDER / file)
        monkeypatch.setattr("marshal.loads", lambda _: pytest.fail("the code was read"))


def test_what_does_not_fit_is_refused():
    pytest.importorskip("h5py")
    layers = tf.keras.layers
    other = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4), layers.Dense(2)])
    for file in ("images.weights.h5", "images.h5", "lambda.keras"):
        with pytest.raises(ValueError, match="the file"):
            other.load_weights(FOLDER / file)


@pytest.mark.parametrize("file", ["images.keras", "images.h5"])
def test_without_h5py_its_name_is_said(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(NotImplementedError, match=r"pip install gradwire-tf\[hdf5\]"):
        tf.keras.models.load_model(FOLDER / file)


def test_graphs_of_keras_2_are_graphs():
    """The form that Keras 2 documents: layers without modules, calls as lists."""
    dense = {"units": 2, "activation": "relu", "use_bias": True, "dtype": "float32"} | {
        "kernel_initializer": {"class_name": "Ones", "config": {}},
        "bias_initializer": {"class_name": "Zeros", "config": {}},
    }
    layers = [
        {
            "class_name": "InputLayer",
            "config": {
                "batch_input_shape": [None, 3],
                "dtype": "float32",
                "sparse": False,
                "name": "x",
            },
            "name": "x",
            "inbound_nodes": [],
        },
        {
            "class_name": "Dense",
            "config": {**dense, "name": "d"},
            "name": "d",
            "inbound_nodes": [[["x", 0, 0, {}]]],
        },
        {
            "class_name": "Add",
            "config": {"name": "sum", "dtype": "float32"},
            "name": "sum",
            "inbound_nodes": [[["d", 0, 0, {}], ["d", 0, 0, {}]]],
        },
    ]
    ends = {"input_layers": [["x", 0, 0]], "output_layers": [["sum", 0, 0]]}
    config = {"class_name": "Model", "config": {"name": "m", "layers": layers, **ends}}
    model = tf.keras.utils.deserialize_keras_object(hdf5.newer(config))
    assert model(np.ones((1, 3), np.float32)).numpy().tolist() == [[6.0, 6.0]]
    row = {"name": "d", "batch_input_shape": [None, 3], **dense}
    older = {"class_name": "Sequential", "config": [{"class_name": "Dense", "config": row}]}
    model = tf.keras.utils.deserialize_keras_object(hdf5.newer(older))
    assert model(np.ones((1, 3), np.float32)).numpy().tolist() == [[3.0, 3.0]]
