"""Checkpoints: the point that a run has reached, from which another process goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine.answer import Array

#: The most entries of the history in a brief checkpoint.
BRIEF_ENTRIES = 64


@dataclass
class Evaluations:
    """The number of evaluations of values, gradients (or Jacobians) and Hessians (or products)."""

    value: int = 0
    gradient: int = 0
    hessian: int = 0


class Checkpoint(NamedTuple):
    """A point, what led to it, and the method's own state: arrays and numbers by name."""

    x: Array
    iterations: int
    evaluations: Evaluations
    seconds: float
    history: Mapping[str, Array]
    state: Mapping[str, Any] = {}

    def __bytes__(self) -> bytes:
        """An archive of NumPy's, ``.npz``, in which nothing is pickled."""
        return self._archive(np.savez)

    def brief(self) -> bytes:
        """The same in fewer bytes: compressed, with at most ``BRIEF_ENTRIES`` of the history."""
        history, distance = dict(self.history), int(self.history["distance"])
        while len(history["iteration"]) > BRIEF_ENTRIES:
            distance *= 2
            kept = history["iteration"] % distance == 0
            history = {n: values[kept] if values.ndim else values for n, values in history.items()}
        shorter = self._replace(history=history | {"distance": np.array(distance)})
        return shorter._archive(np.savez_compressed)

    def _archive(self, save: Callable[..., None]) -> bytes:
        counts = self.evaluations
        arrays: dict[str, Any] = {
            "x": self.x,
            "counts": [self.iterations, counts.value, counts.gradient, counts.hessian],
            "seconds": self.seconds,
        }
        arrays |= {f"history.{name}": values for name, values in self.history.items()}
        arrays |= {f"state.{name}": value for name, value in self.state.items()}
        file = BytesIO()
        save(file, **arrays)
        return file.getvalue()

    @classmethod
    def read(cls, archive: bytes) -> Checkpoint:
        """The checkpoint of these bytes."""
        with np.load(BytesIO(archive), allow_pickle=False) as arrays:
            iterations, *counts = arrays["counts"].tolist()
            return cls(
                arrays["x"],
                iterations,
                Evaluations(*counts[:3]),
                float(arrays["seconds"]),
                _below("history.", arrays),
                _below("state.", arrays),
            )


def _below(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
