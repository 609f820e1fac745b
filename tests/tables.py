"""Cases of tests that are data: what is given, and the answer that is known or was recorded.

``test_x.toml`` beside ``test_x.py`` has a table for each test that has ``@cases``, by its name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradwire_engine import errors

#: The column that names classes of errors.
ERROR = "error"


@cache
def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = _made(tomllib.loads(path.read_text(encoding="utf-8")))
    return read


def _made(read: Any) -> Any:
    """Complex numbers have a real and an imaginary part."""
    if isinstance(read, list):
        return [_made(item) for item in read]
    if isinstance(read, dict):
        if read.keys() == {"real", "imag"}:
            return np.asarray(read["real"]) + 1j * np.asarray(read["imag"])
        return {key: _made(item) for key, item in read.items()}
    return read


def cases(names: str) -> Callable[[Any], Any]:
    """Run a test with each row of its table as these arguments."""
    columns = names.split(", ")

    def marked(test: Any) -> Any:
        path = Path(test.__globals__["__file__"]).with_suffix(".toml")
        rows = [dict(zip(columns, row, strict=True)) for row in _read(path)[test.__name__]]
        for row in rows:
            if ERROR in row:
                row[ERROR] = getattr(errors, row[ERROR])
        return pytest.mark.parametrize(columns, [[*row.values()] for row in rows])(test)

    return marked


def table(file: str, name: str) -> Any:
    """The table of this name beside a file."""
    return _read(Path(file).with_suffix(".toml"))[name]
