"""Arguments of Keras that mean nothing here unless they have Keras's default."""

from __future__ import annotations

from typing import Any


def only(where: str, /, **arguments: tuple[Any, Any]) -> None:
    """Refuse arguments whose value, first of two, is not the one that is implemented, the second.

    Raises:
        NotImplementedError: naming the argument and the value that is possible.
    """
    for name, (value, possible) in arguments.items():
        if value is not possible and value != possible:
            raise NotImplementedError(
                f"{where} does not implement {name}={value!r}; {name}={possible!r} is possible"
            )


def channels_last(where: str, data_format: str | None) -> None:
    """Refuse ``data_format="channels_first"``."""
    only(where, data_format=(data_format or "channels_last", "channels_last"))
