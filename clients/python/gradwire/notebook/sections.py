"""What there is to show of each kind of answer: a table of leaves, or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradwire.notebook.request_view import RequestView
from gradwire.results import Check, Derivative, Evaluation, Gradient, Hvp, Jacobian, Jvp, Result
from gradwire.trees import MISSING


@dataclass(frozen=True, slots=True)
class Section:
    """A table: values that are nested alike, in columns."""

    #: What a row is: a source, an output, a variable.
    of: str
    #: By name; the first says how they are nested.
    columns: Mapping[str, Any]
    #: What it is called, where it is not the first.
    title: str = ""
    #: The names that they were asked for by.
    names: Any = MISSING
    #: The columns of whose leaves the norms are told.
    normed: tuple[str, ...] = ()
    #: Whether the values at each source, and why it has no derivative, are told.
    of_sources: bool = False


def sections(result: Result, asked: RequestView) -> list[Section]:
    """The tables of an answer, the one that it was asked for first."""
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
    raise TypeError(f"{type(result).__name__} is no answer that can be shown")
