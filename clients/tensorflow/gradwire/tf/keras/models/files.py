"""Files of models.

A ``.keras`` file is a ZIP archive, as Keras's, of three members: ``metadata.json``;
``config.json`` with the configuration in Keras's form, which Keras reads too
(``keras.models.model_from_json``); and ``model.weights.npz``, an archive of NumPy: ``weight/0``,
``weight/1``, … in the order of ``model.weights``, and ``optimizer/0``, … in that of
``optimizer.variables``. Keras's own files have HDF5 in place of the last, which is read, as its
older files of HDF5 alone are: see ``hdf5``. None is written.
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
from gradwire.tf.keras.models import hdf5
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object

__all__ = ["load_model", "model_from_json", "save_model"]

_WEIGHTS = "model.weights.npz"
_THEIR_WEIGHTS = "model.weights.h5"


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
    """The model of a ``.keras`` or ``.h5`` file, compiled as it was, unless ``compile=False``.

    The code of lambda functions in it is run with ``safe_mode=False`` alone.

    Raises:
        NotImplementedError: for HDF5 where h5py is not installed, and optimizers whose state has
            another order in the file.
        ValueError: for lambda functions in safe mode, and values that do not fit.
    """
    path = Path(filepath)
    if _is_hdf5(path):
        return _from_hdf5(path, custom_objects, compile, safe_mode)
    if path.suffix == ".keras" and not path.exists():
        raise ValueError(f"there is no model at `filepath` {path}")
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise ValueError(f"File format not supported: filepath={path}. It is no `.keras` file.")
    with zipfile.ZipFile(path) as archive:
        config = json.loads(archive.read("config.json"))
        names = archive.namelist()
        weights = archive.read(_WEIGHTS if _WEIGHTS in names else _THEIR_WEIGHTS)
    compiled = config.pop("compile_config", None)
    model = deserialize_keras_object(config, custom_objects, safe_mode)
    if assets := [name for name in names if name.startswith("assets/")]:
        raise NotImplementedError(f"the vocabularies of {path} are not read: {assets}")
    if _WEIGHTS in names:
        arrays = read_arrays(io.BytesIO(weights))
        values, state = _in_order(arrays, "weight"), _in_order(arrays, "optimizer")
        if values or model.built:
            model.set_weights(values)
    else:
        with hdf5.opened(io.BytesIO(weights), str(path)) as file:
            hdf5.read_nested(model, file)
            state = hdf5.optimizer_values(file)
    if compile and compiled:
        model.compile_from_config(deserialize_keras_object(compiled, custom_objects, safe_mode))
        if state and _WEIGHTS not in names:
            _check_order(model.optimizer, path)
        _restore(model, state)
    return model


def _is_hdf5(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(hdf5.MAGIC)) == hdf5.MAGIC


def _from_hdf5(
    path: Path, custom_objects: Mapping[str, Any] | None, compile: bool, safe_mode: bool
) -> Any:
    with hdf5.opened(path, str(path)) as file:
        config = hdf5.configuration(file)
        if config is None:
            raise ValueError(f"{path} has weights alone: call `load_weights` of a model")
        model = deserialize_keras_object(config, custom_objects, safe_mode)
        hdf5.read_listed(model, file["model_weights"])
        compiled = hdf5.training(file) if compile else None
    if compiled:
        found = deserialize_keras_object(compiled, custom_objects, safe_mode)
        model.compile(**{name: value for name, value in found.items() if value is not None})
    return model


def _check_order(optimizer: Any, path: Path) -> None:
    """Refuse the state of optimizers whose slots Keras has in another order."""
    if len(optimizer._slots) > 1 and type(optimizer).__name__ not in ("Adam", "AdamW"):
        raise NotImplementedError(
            f"the state of {type(optimizer).__name__} in {path} is not read; load with "
            "compile=False, and compile the model anew"
        )


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


def load_weights(model: Any, filepath: Any, by_name: bool = False) -> None:
    """Give weights the values in a file that ``save_weights``, ``save`` or Keras wrote.

    Raises:
        NotImplementedError: for HDF5 where h5py is not installed.
        ValueError: for values that do not fit.
    """
    path = Path(filepath)
    if _is_hdf5(path):
        with hdf5.opened(path, str(path)) as file:
            group = file.get("model_weights", file)
            if hdf5.is_nested(group):
                hdf5.read_nested(model, group)
            else:
                hdf5.read_listed(model, group, by_name)
        return
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            if _WEIGHTS in archive.namelist():
                arrays = read_arrays(io.BytesIO(archive.read(_WEIGHTS)))
                model.set_weights(_in_order(arrays, "weight"))
                return
            weights = archive.read(_THEIR_WEIGHTS)
        with hdf5.opened(io.BytesIO(weights), str(path)) as file:
            hdf5.read_nested(model, file)
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


def _in_order(arrays: Mapping[str, Any], kind: str) -> list[Any]:
    count = sum(name.startswith(f"{kind}/") for name in arrays)
    return [arrays[f"{kind}/{i}"] for i in range(count)]


def _restore(model: Any, values: list[Any]) -> None:
    """Give an optimizer the state that it was saved in."""
    if len(values) > 2:  # more than a count of steps and a rate: it has seen the weights
        model.optimizer.build(model.trainable_weights)
    for variable, value in zip(model.optimizer.variables, values, strict=True):
        variable.assign(tf.constant(value, dtype=variable.dtype))
