"""The programs of the twelve evaluations, and their variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

NAMES = "hello gmm ba lstm ht kmeans ode llsq lse det particle saddle".split()
_FOLDER = Path(__file__).parent / "programs"
#: The evaluations whose programs begin with descent.txt.
_DESCENTS = {"particle", "saddle"}
#: Members of inputs that are counts or indices; all other numbers are real.
_INTEGERS = set("n m p d k s ell parents correspondences triangles".split())
#: Members that no program reads: the numbers of runs and the names of bones.
_UNREAD = {"min_runs", "min_seconds", "bone_names"}


def program(evaluation: str, function: str, settings: str = "") -> str:
    """The program text whose result is that of ``function`` of an evaluation.

    Each program defines functions of no arguments, with GradBench's names; their free names are
    the members of the input. ``settings`` are assignments that replace a program's own.
    """
    files = ["descent", evaluation] if evaluation in _DESCENTS else [evaluation]
    texts = [(_FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in files]
    return "\n\n".join([*texts, settings, f"{function}()"])


def variables(given: Any) -> dict[str, Any]:
    """An evaluation's input as the program's variables, each list of numbers one array.

    An input that is a number is called ``x``.
    """
    members = given if isinstance(given, Mapping) else {"x": given}
    return {name: _value(name, value) for name, value in members.items() if name not in _UNREAD}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return variables(value)
    if isinstance(value, bool):
        return value
    return np.asarray(value, np.int64 if name in _INTEGERS else np.float64)
