"""Arguments and settings of TensorFlow that mean nothing here, or have one possible value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


def only(where: str, /, **arguments: tuple[Any, Any]) -> None:
    """Refuse arguments whose value, first of two, is not the one that is implemented, the second.

    Raises:
        NotImplementedError: naming the argument and the value that is possible.
    """
    for name, (value, possible) in arguments.items():
        if value is not possible and (possible is None or value != possible):
            raise NotImplementedError(
                f"{where} does not implement {name}={value!r}; {name}={possible!r} is possible"
            )


def channels_last(where: str, data_format: str | None) -> None:
    """Refuse ``data_format="channels_first"``."""
    only(where, data_format=(data_format or "channels_last", "channels_last"))


def only_philox(where: str, alg: Any) -> None:
    """Refuse generators of random numbers other than Philox, by whose name or number it is."""
    name = str(getattr(alg, "name", alg)).lower()
    if name not in ("philox", "auto_select", "1", "3", "none"):
        raise NotImplementedError(f"{where} does not implement alg={alg!r}; 'philox' is possible")


def only_int64(where: str, /, **dtypes: Any) -> None:
    """Refuse dtypes of row splits and lengths other than int64."""
    for name, dtype in dtypes.items():
        if dtype is not None and getattr(dtype, "name", dtype) != "int64":
            raise NotImplementedError(
                f"{where} does not implement {name}={dtype!r}; int64 is possible"
            )


#: Settings by name, and the classes of those that are settings themselves.
Declared = Mapping[str, "type[Settings] | None"]


class Settings:
    """Settings by name, stored without effect; those that were not set are None.

    Raises:
        AttributeError: a setting that there is not.
    """

    _settings: ClassVar[Declared] = {}

    def __init__(self, **kwargs: Any) -> None:
        for name, kind in self._settings.items():
            object.__setattr__(self, name, None if kind is None else kind())
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._settings:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)
