"""Data sets, files and images of Keras, from local files: nothing is downloaded."""

import hashlib
import json
import locale
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import gradwire.tf
import numpy as np
import pytest

from tests.clients.tensorflow import datasets

tf: Any = gradwire.tf
RECORDED = json.loads((Path(__file__).parent / "datasets.json").read_text())


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with all files."""
    folder: Path = tmp_path_factory.mktemp("keras")
    datasets.make_files(folder)
    return folder


@pytest.fixture
def keras_home(home, monkeypatch) -> Path:
    """The folder as Keras's."""
    monkeypatch.setenv("KERAS_HOME", str(home))
    return home


@pytest.mark.parametrize("index", range(len(datasets.CALLS)))
def test_loaders_give_what_keras_gives(index, keras_home):
    name, function, arguments = datasets.CALLS[index]
    found = getattr(getattr(tf.keras.datasets, name), function)(**arguments)
    assert datasets.plain(found) == RECORDED[index]


def test_the_batches_of_cifar10_are_put_together(keras_home):
    (x, y), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3)
    assert y[:, 0].tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert (x_test.shape, y_test.tolist()) == ((4, 32, 32, 3), [[3], [1], [2], [0]])
    assert {each.dtype for each in (x, y, x_test, y_test)} == {np.dtype("uint8")}
    assert x[0, 0, 1].tolist() == [(at * 7) % 251 for at in (1, 1025, 2049)]  # channels last


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mnist", "mnist.npz"),
        ("fashion_mnist", "train-images-idx3-ubyte.gz"),
        ("cifar10", "cifar-10-batches-py-target_archive"),
        ("cifar100", "cifar-100-python-target_archive"),
        ("imdb", "imdb.npz"),
        ("reuters", "reuters.npz"),
        ("boston_housing", "boston_housing.npz"),
        ("california_housing", "california_housing.npz"),
    ],
)
def test_a_missing_file_is_named_with_its_place(name, file, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="put the file of http") as error:
        getattr(tf.keras.datasets, name).load_data()
    assert str(tmp_path / "datasets") in str(error.value)
    assert file in str(error.value)


def test_a_file_of_an_older_cifar_is_found(keras_home, tmp_path, monkeypatch):
    tf.keras.datasets.cifar10.load_data()  # extracts the archive
    old = tmp_path / "datasets" / "cifar-10-batches-py"
    extracted = keras_home / "datasets" / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    shutil.copytree(extracted, old)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (_, _), (x, _) = tf.keras.datasets.cifar10.load_data()
    assert x.shape == (4, 32, 32, 3)


def test_only_arrays_are_unpickled(tmp_path, monkeypatch):
    folder = tmp_path / "datasets" / "cifar-100-python"
    folder.mkdir(parents=True)
    (folder / "train").write_bytes(pickle.dumps({b"data": Path("x")}))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(pickle.UnpicklingError, match="may be damaged"):
        tf.keras.datasets.cifar100.load_data()


def test_get_file_checks_hashes_and_extracts(keras_home):
    path = keras_home / "datasets" / "words.txt"
    path.write_text("words")
    sha = hashlib.sha256(b"words").hexdigest()
    origin = "https://example.org/words.txt"
    assert tf.keras.utils.get_file(origin=origin, file_hash=sha) == str(path)
    assert tf.keras.utils.get_file("words.txt", origin) == str(path)
    with pytest.raises(ValueError, match="hash"):
        tf.keras.utils.get_file(origin=origin, file_hash="0" * 64)
    shutil.make_archive(str(keras_home / "datasets" / "packed"), "zip", keras_home / "datasets",
                        "words.txt")  # fmt: skip
    folder = tf.keras.utils.get_file(
        "packed.zip", origin="https://example.org/packed.zip", extract=True
    )
    assert Path(folder, "words.txt").read_text() == "words"


def test_images_are_arrays_and_files(tmp_path):
    image = tf.keras.preprocessing.image
    array = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    assert np.array_equal(image.img_to_array(image.array_to_img(array, scale=False)), array)
    scaled = image.img_to_array(image.array_to_img(array))
    assert scaled.min() == 0
    assert scaled.max() == 255
    image.save_img(tmp_path / "a.png", array, scale=False)
    assert np.array_equal(image.img_to_array(image.load_img(tmp_path / "a.png")), array)
    small = image.load_img(tmp_path / "a.png", color_mode="grayscale", target_size=(3, 2))
    assert image.img_to_array(small).shape == (3, 2, 1)


def test_progress_is_drawn(capsys):
    bar = tf.keras.utils.Progbar(4, width=8, stateful_metrics=["best"])
    bar.update(1, [("loss", 2.0), ("best", 5.0)])
    bar.add(3, [("loss", 1.0), ("best", 4.0)])
    assert "4/4 ━━━━━━━━" in capsys.readouterr().out
    quiet = tf.keras.utils.Progbar(2, verbose=2)
    quiet.update(1, [("loss", 3.0)])
    quiet.update(2, [("loss", 1.0)])
    assert "2/2" in (printed := capsys.readouterr().out)
    assert "loss: 1.0000" in printed


def test_a_model_is_drawn_or_graphviz_is_named(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, name="last")])
    text = tf.keras.utils.model_to_dot(model, show_shapes=True)
    assert "last" in text
    assert "(None, 2)" in text
    assert text.count("->") == 1
    if shutil.which("dot") is None:
        with pytest.raises(ImportError, match="graphviz"):
            tf.keras.utils.plot_model(model, tmp_path / "model.svg")
    else:
        tf.keras.utils.plot_model(model, tmp_path / "model.svg")
        assert "last" in (tmp_path / "model.svg").read_text()


@pytest.mark.skipif(bool(sys.flags.utf8_mode), reason="all files are UTF-8 in this mode of Python")
def test_texts_are_utf8_in_any_locale(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets/imdb_word_index.json").write_text('{"é": 3}', encoding="utf-8")
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        found = tf.keras.datasets.imdb.get_word_index()
        tf.print("é", output_stream=f"file://{tmp_path}/printed")
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    assert found == {"é": 3}
    assert (tmp_path / "printed").read_text(encoding="utf-8") == "é\n"
