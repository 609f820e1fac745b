"""The warnings that the SDK gives by Python's own `warnings`, at the caller's line."""

from __future__ import annotations


class RecordingWarning(UserWarning):
    """A Python function is recorded at each call, since its recordings would not stay right."""


class DerivativeWarning(UserWarning):
    """A derivative does not exist, or is not what was meant: the answer has 0, or a choice.

    ``code`` is that of the service's warning, such as ``singular``; ``place`` is your line.
    """

    def __init__(self, detail: str, code: str = "", place: object | None = None) -> None:
        super().__init__(detail if place is None else f"{detail}\n  at {place}")
        self.code = code
        self.place = place
