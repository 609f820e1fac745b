"""Whole scripts in the manner of TensorFlow's users, and TensorFlow's results for each.

``scripts/NAME.py`` is a script as it would be published: it imports TensorFlow, is seeded, and ends
with a dict ``results`` of numbers. ``scripts.json`` has TensorFlow's results by name, which
``record_scripts.py`` writes.
"""

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "scripts"


def names() -> list[str]:
    """The scripts' names."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def recorded() -> dict[str, Any]:
    """TensorFlow's results and their sensitivity, by the scripts' names."""
    found: dict[str, Any] = json.loads((FOLDER.parent / "scripts.json").read_text())
    return found


def results_of(path: Path) -> Any:
    """What a script leaves as ``results``, in the form that JSON gives it."""
    results = runpy.run_path(str(path), run_name="script")["results"]
    return json.loads(json.dumps(results, allow_nan=False))


def difference(got: Any, want: Any, at: str = "results") -> float:
    """The largest difference of two results' floats, relative to their list's largest.

    Raises:
        AssertionError: The results differ in structure, or in what is no float.
    """
    if isinstance(want, dict):
        assert isinstance(got, dict), at
        assert list(got) == list(want), at
        return max((difference(got[key], want[key], f"{at}.{key}") for key in want), default=0.0)
    if isinstance(want, list) and any(isinstance(part, list | dict | str) for part in want):
        assert isinstance(got, list), at
        assert len(got) == len(want), at
        pairs = enumerate(zip(got, want, strict=True))
        return max(difference(a, b, f"{at}[{i}]") for i, (a, b) in pairs)
    if isinstance(want, float) or (
        isinstance(want, list) and any(isinstance(part, float) for part in want)
    ):
        assert np.shape(got) == np.shape(want), f"{at}: {got} is not {want}"
        scale = max(np.max(np.abs(want)), 1e-3)
        return float(np.max(np.abs(np.subtract(got, want))) / scale)
    assert got == want, f"{at}: {got} is not {want}"
    return 0.0
