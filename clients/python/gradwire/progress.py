"""Bars of tqdm, which is optional."""

from __future__ import annotations

from typing import Any

from gradwire.errors import NotInstalled


def bar(wanted: bool | None, **options: Any) -> Any:
    """A bar if ``wanted``, or on a terminal; ``None`` without tqdm, and if it is not wanted."""
    if wanted is False:
        return None
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - tqdm is optional
    except ModuleNotFoundError:
        if wanted:
            hint = "pip install 'gradwire[progress]'"
            raise NotInstalled("progress is shown by tqdm", hint=hint, name="tqdm") from None
        return None
    return tqdm(disable=False if wanted else None, **options)


def ignore(_: Any) -> None:
    """Progress that is not shown."""
