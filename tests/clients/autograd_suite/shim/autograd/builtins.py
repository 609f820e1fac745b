"""Python's containers: recorded functions take and return them as they are."""

from __future__ import annotations

from builtins import dict, isinstance, list, tuple, type  # noqa: A004, F401
