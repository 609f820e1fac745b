"""Hooks of lower layers into higher ones: the display of answers, and the default client.

A layer imports only layers below it. ``gradwire/__init__.py`` is above all and says here where the
two are; both are imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas


class Display(Protocol):
    """Answers and functions, as they are displayed."""

    def text(self, shown: Any, /) -> str:
        """An answer for a terminal."""

    def card(self, shown: Any, /) -> str:
        """An answer or a recorded function as HTML."""

    def curl(self, response: Any, /) -> str:
        """A request as a command for a shell."""

    def following(
        self, kind: str, total: int | None, wanted: bool | None, /
    ) -> AbstractContextManager[Callable[[Any], None]]:
        """A progress display of a job, as a context whose value is told each progress."""

    def frame(self, shown: Any, /) -> pandas.DataFrame:
        """An answer as a data frame."""


#: Set by ``gradwire/__init__.py``.
display: Callable[[], Display]
default_client: Callable[[], Any]
