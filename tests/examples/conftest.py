"""Examples are run as their users run them, and then asked what they have learned."""

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(service_url, monkeypatch, tmp_path) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Run an example against the service of this test run; all its names."""
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    picture = tmp_path / "picture.png"

    def run(name: str) -> dict[str, Any]:
        path = EXAMPLES / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
        with matplotlib.rc_context({"backend": "Agg"}):
            learned = runpy.run_path(str(path), run_name="__main__")
        assert picture.read_bytes().startswith(b"\x89PNG")
        return learned

    yield run
    pyplot.close("all")
