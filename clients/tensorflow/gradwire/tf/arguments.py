"""Arguments of TensorFlow and Keras that are possible with one value only."""

from __future__ import annotations

from typing import Any


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
