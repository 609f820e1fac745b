"""Examples are run as their users run them, and then asked what they have learned."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(service_url, monkeypatch, tmp_path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Run an example against the service of this test run, with other constants; all its names."""
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    picture = tmp_path / "picture.png"

    def run(name: str, **constants: int) -> dict[str, Any]:
        path = EXAMPLES / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
        source = path.read_text()
        for constant, value in constants.items():
            source, times = re.subn(rf"(?m)^{constant} = .*", f"{constant} = {value}", source)
            assert times == 1
        learned: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
        with matplotlib.rc_context({"backend": "Agg"}):
            exec(compile(source, path, "exec"), learned)
        assert picture.read_bytes().startswith(b"\x89PNG")
        return learned

    yield run
    pyplot.close("all")
