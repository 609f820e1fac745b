"""What requests for computation say, and their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from gradwire import codec
from gradwire.trees import Names, Variables
from gradwire.values import encode_variables

#: Source text, a graph, or a reference to a registered program.
Program: TypeAlias = "str | Mapping[str, Any]"
Promotion: TypeAlias = Literal["numpy", "strict"]
UnconnectedGradients: TypeAlias = Literal["none", "zero"]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
MatrixFormat: TypeAlias = Literal["dense", "coo"]
SparseGradients: TypeAlias = Literal[False, True, "summed"]


class Options(TypedDict, total=False):
    """What every computation may be told; ``None`` is as good as nothing."""

    #: What to return, nested as the answer shall be; beside a derivative, further values.
    outputs: Names
    #: Variables with an axis of examples: the first, or the one that is given.
    batch: Sequence[str] | Mapping[str, int] | None
    #: ``strict`` makes mixing dtypes an error.
    promotion: Promotion | None
    #: Time for the work on the service's side, queueing included.
    timeout_ms: float | None


class DerivativeOptions(Options, total=False):
    """What everything that differentiates may be told."""

    #: What is differentiated, by default the program's output; the sum of all where it is nested.
    target: Names
    #: What a derivative that does not exist is given as: ``None``, or zeros.
    unconnected_gradients: UnconnectedGradients | None


def document_of(
    program: Program, variables: Variables | None, options: Mapping[str, object], **fields: Any
) -> dict[str, Any]:
    """A request's body: what was left out is not sent."""
    given = {**fields, **options}
    return {
        "program": program,
        "variables": encode_variables({} if variables is None else variables),
        "encoding": codec.ARRAY_ENCODING,
        **{name: field for name, field in given.items() if field is not None},
    }
