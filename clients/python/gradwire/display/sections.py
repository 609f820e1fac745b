"""The tables of each kind of answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradwire.display.request_view import RequestView
from gradwire.results import Check, Derivative, Evaluation, Gradient, Hvp, Jacobian, Jvp, Result
from gradwire.trees import MISSING


@dataclass(frozen=True, slots=True)
class Section:
    """A table: values that are nested alike, in columns."""

    #: The head of the first column: source, output or variable.
    of: str
    #: Nested values by name; the first has the structure of all.
    columns: Mapping[str, Any]
    #: The title, if it is not the first.
    title: str = ""
    #: The request's names of the leaves.
    names: Any = MISSING
    #: The columns with norms.
    normed: tuple[str, ...] = ()
    #: True if rows are sources, shown with values and reasons for missing derivatives.
    of_sources: bool = False


def sections(result: Result, asked: RequestView) -> list[Section]:
    """The tables of an answer, the main one first."""
    shown = [_main(result, asked)]
    outputs = result.outputs if isinstance(result, Derivative) else None
    if outputs is not None:
        shown.append(Section("output", {"value": outputs}, "outputs", asked.names("outputs")))
    if result.updates:
        shown.append(Section("variable", {"new value": result.updates}, "updates"))
    return shown


def _main(result: Result, asked: RequestView) -> Section:
    if isinstance(result, Evaluation):
        return Section("output", {"value": result.outputs}, names=asked.names("outputs"))
    if isinstance(result, Jvp):
        columns = {"value": result.value, "jvp": result.jvp}
        return Section("target", columns, names=asked.names("target"), normed=("jvp",))
    if isinstance(result, Hvp):
        columns = {"gradient": result.gradients, "hvp": result.hvp}
        return Section("source", columns, normed=("gradient", "hvp"), of_sources=True)
    sources = asked.names("sources")
    if isinstance(result, Jacobian):
        columns = {"jacobian": result.jacobian}
        return Section("source", columns, "", sources, ("jacobian",), True)
    if isinstance(result, Check):
        columns = {"gradient": result.gradients, "difference": result.differences}
        return Section("source", columns, "", sources, of_sources=True)
    if isinstance(result, Gradient):
        columns = {"gradient": result.gradients}
        return Section("source", columns, "", sources, ("gradient",), True)
    raise TypeError(f"{type(result).__name__} is not an answer that can be shown")
