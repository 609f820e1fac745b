"""The files of checkpoints, and which is the latest of a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradwire.tf.archives import read_arrays
from gradwire.tf.errors import NotFoundError
from gradwire.tf.gfile import local

_PATHS = ".paths"
#: A field of the file ``checkpoint``, and its value.
_LINE = re.compile(r'^(\w+): "?(.*?)"?$', re.MULTILINE)


class State(NamedTuple):
    """The checkpoints of a folder, the latest one named first."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float]
    last_preserved_timestamp: float

    def write(self, folder: Path, filename: str = "checkpoint") -> None:
        """Write the file, with paths relative to the folder."""
        lines = [f'model_checkpoint_path: "{_relative(self.model_checkpoint_path, folder)}"']
        lines += [
            f'all_model_checkpoint_paths: "{_relative(path, folder)}"'
            for path in self.all_model_checkpoint_paths
        ]
        lines += [
            f"all_model_checkpoint_timestamps: {at}" for at in self.all_model_checkpoint_timestamps
        ]
        lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp}")
        (folder / filename).write_text("\n".join(lines) + "\n", encoding="utf-8")


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> State | None:
    """The content of a folder's file ``checkpoint``, None if there is none."""
    folder = Path(local(checkpoint_dir))
    file = folder / (latest_filename or "checkpoint")
    if not file.exists():
        return None
    fields: dict[str, list[str]] = {}
    for name, value in _LINE.findall(file.read_text(encoding="utf-8")):
        fields.setdefault(name, []).append(value)

    def paths(name: str) -> list[str]:
        return [str(folder / each) for each in fields.get(name, [])]

    return State(
        paths("model_checkpoint_path")[0],
        paths("all_model_checkpoint_paths"),
        [float(each) for each in fields.get("all_model_checkpoint_timestamps", [])],
        float(fields.get("last_preserved_timestamp", ["0"])[0]),
    )


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the checkpoint that was saved last in a folder."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not Path(f"{state.model_checkpoint_path}.npz").exists():
        return None
    return state.model_checkpoint_path


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the arrays in a checkpoint, or in the latest of a folder."""
    values = _arrays(_file(ckpt_dir_or_file))
    return [(name, list(values[name].shape)) for name in sorted(values) if name != _PATHS]


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray[Any, Any]:
    """An array of a checkpoint, or of the latest of a folder.

    Raises:
        NotFoundError: there is none of that name.
    """
    values = _arrays(_file(ckpt_dir_or_file))
    if name not in values:
        raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
    return values[name]


def write_values(path: str, values: Mapping[str, Any], others: Mapping[str, str]) -> None:
    """Write arrays by name, and by their names the other paths to them."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    paths = np.frombuffer(json.dumps(others).encode(), np.uint8)
    with Path(f"{path}.npz").open("wb") as file:
        np.savez(file, **{**values, _PATHS: paths})


def _file(ckpt_dir_or_file: Any) -> str:
    path = local(ckpt_dir_or_file)
    if not Path(path).is_dir():
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise ValueError(f"the directory {path} has no checkpoint")
    return latest


def _arrays(path: str) -> dict[str, np.ndarray[Any, Any]]:
    file = Path(f"{path}.npz")
    if Path(f"{path}.index").exists():
        raise NotImplementedError(f"{path} is a checkpoint of TensorFlow, which is not read")
    if not file.exists():
        raise NotFoundError(None, None, f"there is no checkpoint at {path}")
    return read_arrays(file)


def read_values(save_path: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a checkpoint by all paths to their variables."""
    values = _arrays(local(save_path))
    others = json.loads(values.pop(_PATHS).tobytes()) if _PATHS in values else {}
    return values | {path: values[name] for path, name in others.items()}


def _relative(path: str, folder: Path) -> str:
    return str(Path(path).relative_to(folder))
