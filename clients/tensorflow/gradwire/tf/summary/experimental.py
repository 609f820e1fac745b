"""``tf.summary.experimental``: the step that summaries have by default."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradwire.tf.scopes import name_scope, scoped
from gradwire.tf.summary.writers import state


def get_step() -> Any:
    """The step, None where none was set."""
    return state.step


def set_step(step: Any) -> None:
    """Set the step: a number, or a variable that is read for each summary."""
    state.step = step


@contextlib.contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A context for a summary: its tag within the scopes that are entered, and its own scope."""
    own = name or default_name
    tag = scoped(own)
    with name_scope(own) as scope:
        yield tag, scope
