"""The error for an adapter whose library is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradwire.errors import NotInstalled


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import libraries of an extra of this distribution; an error names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"gradwire.adapters.{extra} needs {error.name}, which is not installed: "
            f'pip install "gradwire[{extra}]"',
            name=error.name,
        ) from error
