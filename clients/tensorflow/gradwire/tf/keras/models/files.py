"""Files of models.

A ``.keras`` file is a ZIP archive, as Keras's, of three members: ``metadata.json``;
``config.json`` with the configuration in Keras's form, which Keras reads too
(``keras.models.model_from_json``); and ``model.weights.npz``, an archive of NumPy: ``weight/0``,
``weight/1``, … in the order of ``model.weights``, and ``optimizer/0``, … in that of
``optimizer.variables``. Keras's own files have HDF5 in place of the last, which is neither read nor
written.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.archives import read_arrays
from gradwire.tf.arguments import only
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object

__all__ = ["load_model", "model_from_json", "save_model"]

_WEIGHTS = "model.weights.npz"
_HDF5 = b"\x89HDF\r\n\x1a\n"


def configuration(model: Any) -> dict[str, Any]:
    """The configuration of a model, in Keras's form."""
    config: dict[str, Any] = serialize_keras_object(model)
    return config


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, zipped: bool | None = None
) -> None:
    """Write a model's configuration, weights and the state of its optimizer to a ``.keras`` file.

    Raises:
        NotImplementedError: for HDF5 files, and for models with parts that have no configuration.
    """
    only("save_model", zipped=(zipped, None))
    path = Path(filepath)
    if path.suffix in (".h5", ".hdf5"):
        raise NotImplementedError(f"save_model does not write HDF5: {path}; .keras is possible")
    if path.suffix != ".keras":
        raise ValueError(f"the name of a model's file ends in .keras; got `filepath` {path}")
    _assert_free(path, overwrite)
    metadata = {"format": "gradwire", "date_saved": time.strftime("%Y-%m-%d@%H:%M:%S")}
    arrays = {f"weight/{i}": value for i, value in enumerate(model.get_weights())}
    kept = getattr(model.optimizer, "variables", None) or ()
    arrays |= {f"optimizer/{i}": variable.numpy() for i, variable in enumerate(kept)}
    members = {
        "metadata.json": json.dumps(metadata).encode(),
        "config.json": json.dumps(configuration(model)).encode(),
        _WEIGHTS: _packed(arrays),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def load_model(
    filepath: Any,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
) -> Any:
    """The model of a ``.keras`` file, compiled as it was, unless ``compile=False``.

    Raises:
        NotImplementedError: for files whose weights are in HDF5, such as Keras's own.
    """
    path = Path(filepath)
    if path.suffix == ".keras" and not path.exists():
        raise ValueError(f"there is no model at `filepath` {path}")
    if not path.is_file() or not zipfile.is_zipfile(path):
        if path.suffix in (".h5", ".hdf5"):
            raise NotImplementedError(f"load_model does not read HDF5: {path}; .keras is possible")
        raise ValueError(f"File format not supported: filepath={path}. It is no `.keras` file.")
    with zipfile.ZipFile(path) as archive:
        arrays = _unpacked(archive, path)
        config = json.loads(archive.read("config.json"))
    compiled = config.pop("compile_config", None)
    model = deserialize_keras_object(config, custom_objects, safe_mode)
    values = _in_order(arrays, "weight")
    if values or model.built:
        model.set_weights(values)
    if compile and compiled:
        model.compile_from_config(deserialize_keras_object(compiled, custom_objects))
        _restore(model, _in_order(arrays, "optimizer"))
    return model


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A model by the text that ``to_json`` gave, its weights drawn anew."""
    config = json.loads(json_string)
    config.pop("compile_config", None)
    return deserialize_keras_object(config, custom_objects)


def save_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Write weights to an archive of NumPy, whatever the file's name."""
    path = Path(filepath)
    _assert_free(path, overwrite)
    with path.open("wb") as file:
        np.savez(file, *model.get_weights())


def load_weights(model: Any, filepath: Any) -> None:
    """Give weights the values in a file that ``save_weights`` or ``save`` wrote.

    Raises:
        NotImplementedError: for HDF5.
    """
    path = Path(filepath)
    with path.open("rb") as file:
        if file.read(len(_HDF5)) == _HDF5:
            raise NotImplementedError(
                f"load_weights does not read HDF5: {path}; files that save_weights or save wrote "
                "are possible"
            )
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            model.set_weights(_in_order(_unpacked(archive, path), "weight"))
        return
    model.set_weights([*read_arrays(path).values()])


def _assert_free(path: Path, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; overwrite=True replaces it")


def _packed(arrays: Mapping[str, Any]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # savez takes no names with a slash
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
    return content.getvalue()


def _unpacked(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    if _WEIGHTS not in archive.namelist():
        raise NotImplementedError(
            f"the weights of {path} are not in {_WEIGHTS}, but in {archive.namelist()}: files that "
            "Keras wrote are not read"
        )
    return read_arrays(io.BytesIO(archive.read(_WEIGHTS)))


def _in_order(arrays: Mapping[str, Any], kind: str) -> list[Any]:
    count = sum(name.startswith(f"{kind}/") for name in arrays)
    return [arrays[f"{kind}/{i}"] for i in range(count)]


def _restore(model: Any, values: list[Any]) -> None:
    """Give an optimizer the state that it was saved in."""
    if len(values) > 2:  # more than a count of steps and a rate: it has seen the weights
        model.optimizer.build(model.trainable_weights)
    for variable, value in zip(model.optimizer.variables, values, strict=True):
        variable.assign(tf.constant(value, dtype=variable.dtype))
