"""What requests for computation say, and their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

from gradwire.trees import Names, Variables
from gradwire.usage import check_program
from gradwire.values import encode_variables

#: Source text, a graph, or a reference to a registered program.
Program: TypeAlias = "str | Mapping[str, Any]"
Promotion: TypeAlias = Literal["numpy", "strict"]
UnconnectedGradients: TypeAlias = Literal["none", "zero"]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
MatrixFormat: TypeAlias = Literal["dense", "coo"]
SparseGradients: TypeAlias = Literal[False, True, "summed"]


class RecordingOptions(TypedDict, total=False):
    """What every run of a program may be told; ``None`` is as good as nothing."""

    #: ``strict`` makes mixing dtypes an error.
    promotion: Promotion | None
    #: No rewriting that changes rounding: bit for bit what the recorded operations give one by one
    #: in NumPy.
    exact: bool | None
    #: Time for the work on the service's side, queueing included.
    timeout_ms: float | None


class EvaluateOptions(RecordingOptions, total=False):
    """What every computation may be told."""

    #: What to return, nested as the answer shall be; beside a derivative, further values.
    outputs: Names
    #: What has an axis of examples, the first or the one that is given: variables, and
    #: ``output_gradients``, ``tangents`` or ``vectors``.
    batch: Sequence[str] | Mapping[str, int] | None


class DerivativeOptions(EvaluateOptions, total=False):
    """What everything that differentiates may be told."""

    #: What is differentiated, by default the program's output; the sum of all where it is nested.
    target: Names
    #: What a derivative that does not exist is given as: ``None``, or zeros.
    unconnected_gradients: UnconnectedGradients | None


class SourcesOptions(DerivativeOptions, total=False):
    """What differentiates in sources may be told."""

    #: In what, nested as the answer shall be; by default in all variables.
    sources: Names


class SeededOptions(SourcesOptions, total=False):
    """What a gradient may be told, also where it is checked."""

    #: Weights of the target's elements, nested as the target is; ``None`` stands for ones.
    output_gradients: Any


class GradientOptions(SeededOptions, total=False):
    """What a gradient alone may be told."""

    #: By slices in what is only gathered from: repeats listed, or ``summed``.
    sparse_gradients: SparseGradients | None


class CheckOptions(SeededOptions, total=False):
    """What a check may be told."""

    #: How far elements are moved, times their size or one.
    step: float | None
    #: Difference that is allowed, of the largest in its source and beside.
    rtol: float | None
    atol: float | None


class HessianOptions(SourcesOptions, total=False):
    """What a Hessian may be told."""

    #: ``coo`` for what may differ from zero only, as a ``SparseArray``.
    format: MatrixFormat | None


class JacobianOptions(HessianOptions, total=False):
    """What a Jacobian may be told."""

    #: By rows, by columns, or by whichever are fewer.
    mode: Mode | None


class TapeOptions(RecordingOptions, total=False):
    """What a tape may be told."""

    #: Whether it answers more than once.
    persistent: bool | None
    #: Variables and intermediates that are sources, too, also such as are not trainable.
    watch: Sequence[str] | None
    #: False: of the variables, only those in ``watch`` are sources.
    watch_accessed_variables: bool | None


@dataclass(frozen=True, slots=True)
class ProgramAt:
    """What questions are about: a program at a point, or a tape of it."""

    path: str
    #: What each question says of it.
    document: Mapping[str, Any]
    program: Program
    #: Whose structure the answers have.
    variables: Variables | None

    @property
    def source(self) -> str | None:
        """The program's text, for the excerpts that errors show."""
        return self.program if isinstance(self.program, str) else None


def program_at(program: Program, variables: Variables | None) -> ProgramAt:
    """A program at its variables."""
    check_program(program)
    sent = encode_variables({} if variables is None else variables)
    return ProgramAt("/v1", {"program": program, "variables": sent}, program, variables)


def document_of(subject: ProgramAt, options: Mapping[str, object]) -> dict[str, Any]:
    """A request's body: what was left out is not sent."""
    return {
        **subject.document,
        **{name: option for name, option in options.items() if option is not None},
    }
