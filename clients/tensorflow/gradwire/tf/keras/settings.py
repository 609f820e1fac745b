"""Keras's settings: the dtype of what is given none, the small number, where channels are."""

from __future__ import annotations

from typing import Any

_FLOATS = ("bfloat16", "float16", "float32", "float64")
_FORMATS = ("channels_last", "channels_first")
_SET: dict[str, Any] = {
    "floatx": "float32",
    "epsilon": 1e-7,
    "image_data_format": "channels_last",
    "policy": None,
}


def policy_name() -> str:
    """The policy of layers that are given none: what ``floatx`` was when one was first made."""
    _SET["policy"] = _SET["policy"] or floatx()
    name: str = _SET["policy"]
    return name


def set_policy_name(name: str) -> None:
    """Set the policy of layers that are given none."""
    _SET["policy"] = name


def forget_policy() -> None:
    """Take ``floatx`` for the policy of layers from now on."""
    _SET["policy"] = None


def floatx() -> str:
    """The name of the dtype of losses, metrics and inputs that are given none."""
    name: str = _SET["floatx"]
    return name


def set_floatx(value: str) -> None:
    """Set the dtype of losses, metrics and inputs that are given none, by its name.

    Layers have it too, unless one was made before: ``clear_session`` lets it apply to them.
    """
    if value not in _FLOATS:
        raise ValueError(f"floatx is 'bfloat16', 'float16', 'float32' or 'float64', not {value!r}")
    _SET["floatx"] = value


def epsilon() -> float:
    """The small number that keeps divisions and logarithms finite."""
    number: float = _SET["epsilon"]
    return number


def set_epsilon(value: float) -> None:
    """Set the small number that keeps divisions and logarithms finite."""
    _SET["epsilon"] = value


def image_data_format() -> str:
    """The place of the channels among the axes of images, for layers that do not set it."""
    name: str = _SET["image_data_format"]
    return name


def set_image_data_format(data_format: str) -> None:
    """Set which axis of images has the channels: ``"channels_last"`` alone can be computed with.

    Raises:
        NotImplementedError: for ``"channels_first"``.
    """
    name = str(data_format).lower()
    if name not in _FORMATS:
        raise ValueError(
            f"`data_format` is 'channels_last' or 'channels_first', not {data_format!r}"
        )
    if name == "channels_first":
        raise NotImplementedError(
            "keras.backend does not implement data_format='channels_first'; 'channels_last' is "
            "possible"
        )
    _SET["image_data_format"] = name
