"""The objective of an optimisation: a program at its start, and how its answer is nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradwire.optimization.parameters import Parameter
from gradwire.optimization.results import Read
from gradwire.tracing.traced import TracedProgram


@dataclass(frozen=True)
class Objective:
    """A program at its start, and how the parts of an answer are nested."""

    #: The members of the request that say what is optimised.
    document: Mapping[str, Any]
    parameters: Sequence[Parameter]
    #: Read the solution, and the values of which a root is searched.
    x: Read
    values: Read
    #: The recording, or the program's text if it is known, for the places that errors name.
    program: TracedProgram | str | None
    #: The variables of the program by the function's names for them.
    names: Mapping[str, str] = field(default_factory=dict)


def dotted(path: str) -> str:
    """A path with dots alone: ``layers.0.w``."""
    return path.replace("['", ".").replace("']", "").replace("[", ".").replace("]", "").strip(".")
