"""``tf.compat.v1.logging``: messages through ``tf.get_logger()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire.tf.stubs import get_logger
from gradwire.tf.variants import variant

DEBUG: int = 10
INFO: int = 20
WARN: int = 30
ERROR: int = 40
FATAL: int = 50


def get_verbosity() -> int:
    """The level from which on messages are written."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Write messages from a level on, which is a number or a name."""
    get_logger().setLevel(v)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def _written(msg: str, *args: Any, **kwargs: Any) -> Callable[..., None]:
    return lambda level: get_logger().log(level, msg, *args, **kwargs)


@variant(_written, DEBUG)
def debug() -> None:
    """Write a message for debugging."""


@variant(_written, INFO)
def info() -> None:
    """Write a message."""


@variant(_written, WARN)
def warning() -> None:
    """Write a warning."""


@variant(_written, ERROR)
def error() -> None:
    """Write an error."""


@variant(_written, FATAL)
def fatal() -> None:
    """Write what ends the program."""


warn = warning
