"""``tf.autograph``: functions are executed as they are, so that nothing need be converted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from gradwire.tf import autograph_experimental as experimental

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]

F = TypeVar("F", bound=Callable[..., Any])


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Do nothing: there is nothing to log."""


def to_graph(entity: F, recursive: bool = True, experimental_optional_features: Any = None) -> F:
    """The function itself."""
    return entity


def to_code(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The function's own code."""
    return inspect.getsource(entity)


def trace(*args: Any) -> None:
    """Nothing."""
