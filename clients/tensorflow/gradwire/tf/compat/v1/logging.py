"""``tf.compat.v1.logging``: messages through ``tf.get_logger()``."""

from __future__ import annotations

from typing import Any

from gradwire.tf.stubs import get_logger

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


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message for debugging."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a warning."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write an error."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write what ends the program."""
    get_logger().fatal(msg, *args, **kwargs)


warn = warning
