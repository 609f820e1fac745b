"""The tables of each kind of answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradwire.display.request_view import RequestView
from gradwire.results import Check, Derivative, Evaluation, Gradient, Hvp, Jacobian, Jvp, Result
from gradwire.trees import MISSING

#: By kind: the head of the first column, the members of the answer by column, and the member of
#: the request with their names. The first that an answer is an instance of describes it.
KINDS = (
    (Evaluation, "output", {"value": "outputs"}, "outputs"),
    (Jvp, "target", {"value": "value", "jvp": "jvp"}, "target"),
    (Hvp, "source", {"gradient": "gradients", "hvp": "hvp"}, ""),  # nested as the vectors are
    (Jacobian, "source", {"jacobian": "jacobian"}, "sources"),
    (Check, "source", {"gradient": "gradients", "difference": "differences"}, "sources"),
    (Gradient, "source", {"gradient": "gradients"}, "sources"),
)


@dataclass(frozen=True, slots=True)
class Section:
    """A table: values that are nested alike, in columns."""

    #: The head of the first column: source, target, output or variable.
    of: str
    #: Nested values by name; the first has the structure of all.
    columns: Mapping[str, Any]
    #: The request's names of the leaves.
    names: Any = MISSING
    #: The title, if it is not the first.
    title: str = ""


def sections(result: Result, request: RequestView) -> list[Section]:
    """The tables of an answer, the main one first."""
    _, of, members, names = next(kind for kind in KINDS if isinstance(result, kind[0]))
    columns = {column: getattr(result, member) for column, member in members.items()}
    shown = [Section(of, columns, request.names(names))]
    outputs = result.outputs if isinstance(result, Derivative) else None
    if outputs is not None:
        shown.append(Section("output", {"value": outputs}, request.names("outputs"), "outputs"))
    if result.updates:
        shown.append(Section("variable", {"new value": result.updates}, title="updates"))
    return shown
