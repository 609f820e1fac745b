"""Options and documents of requests for computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

from gradwire.stored import StoredProgram
from gradwire.trees import Names, Variables
from gradwire.usage import check_program
from gradwire.values import encode_variables

#: Source text, a graph, a stored program, or a reference to one.
Program: TypeAlias = "str | Mapping[str, Any] | StoredProgram"
Promotion: TypeAlias = Literal["numpy", "strict"]
UnconnectedGradients: TypeAlias = Literal["none", "zero"]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
MatrixFormat: TypeAlias = Literal["dense", "coo"]
SparseGradients: TypeAlias = Literal[False, True, "summed"]


class RecordingOptions(TypedDict, total=False):
    """Options of every run of a program; ``None`` stands for the default."""

    #: ``strict`` makes mixing dtypes an error.
    promotion: Promotion | None
    #: No rewriting that changes rounding: the same bits as the recorded operations, one by one, in
    #: NumPy.
    exact: bool | None
    #: Limit of the time on the service, queueing included.
    timeout_ms: float | None


class EvaluateOptions(RecordingOptions, total=False):
    """Options of every computation."""

    #: Values to return, in any nesting, which the answer has too; further ones beside a derivative.
    outputs: Names
    #: Names with a batch axis, by default the first: variables, ``output_gradients``, ``tangents``
    #: and ``vectors``.
    batch: Sequence[str] | Mapping[str, int] | None


class DerivativeOptions(EvaluateOptions, total=False):
    """Options of every derivative."""

    #: The differentiated value, by default the program's output; if nested, the sum of all.
    target: Names
    #: The value of a derivative that does not exist: ``None`` or zeros.
    unconnected_gradients: UnconnectedGradients | None


class SourcesOptions(DerivativeOptions, total=False):
    """Options of derivatives with respect to sources."""

    #: The sources, in any nesting, which the answer has too; by default all variables.
    sources: Names


class SeededOptions(SourcesOptions, total=False):
    """Options of gradients and checks."""

    #: Weights of the target's elements, nested as the target is; ``None`` stands for ones.
    output_gradients: Any


class GradientOptions(SeededOptions, total=False):
    """Options of gradients."""

    #: Gradients by slices, of sources that are only gathered from: repeats listed, or ``summed``.
    sparse_gradients: SparseGradients | None


class CheckOptions(SeededOptions, total=False):
    """Options of checks."""

    #: The step of differences, relative to the larger of an element's size and one.
    step: float | None
    #: Tolerance: relative to the largest element of the source, and absolute.
    rtol: float | None
    atol: float | None


class HessianOptions(SourcesOptions, total=False):
    """Options of Hessians."""

    #: ``coo`` for a ``SparseArray`` of the elements that may differ from zero.
    format: MatrixFormat | None


class JacobianOptions(HessianOptions, total=False):
    """Options of Jacobians."""

    #: By rows (reverse), by columns (forward), or by the fewer of them.
    mode: Mode | None


class TapeOptions(RecordingOptions, total=False):
    """Options of tapes."""

    #: The tape answers more than once.
    persistent: bool | None
    #: Further sources: intermediates, and variables that are not trainable.
    watch: Sequence[str] | None
    #: If False, only variables in ``watch`` are sources.
    watch_accessed_variables: bool | None


@dataclass(frozen=True, slots=True)
class ProgramAt:
    """A program at a point, or a tape of it, and its endpoints' common path."""

    path: str
    #: Members that every request has.
    document: Mapping[str, Any]
    #: Unknown of a tape that is known by its id alone.
    program: Program | None
    #: Variables whose structure the answers have.
    variables: Variables | None

    @property
    def source(self) -> str | None:
        """The program's text, for the excerpts that errors show."""
        return text_of(self.program)


def program_at(program: Program, variables: Variables | None) -> ProgramAt:
    """A program at its variables."""
    document = program_document(program)
    sent = encode_variables({} if variables is None else variables)
    return ProgramAt("/v1", {"program": document, "variables": sent}, program, variables)


def program_document(program: Program) -> str | Mapping[str, Any]:
    """The member ``program`` of a request."""
    if isinstance(program, StoredProgram):
        return program.reference
    check_program(program)
    return program


def text_of(program: Program | None) -> str | None:
    """A program's text, if it is known here."""
    if isinstance(program, StoredProgram):
        return program.text
    return program if isinstance(program, str) else None


def document_of(subject: ProgramAt, options: Mapping[str, object]) -> dict[str, Any]:
    """A request's body; options that are ``None`` are left out."""
    return {
        **subject.document,
        **{name: option for name, option in options.items() if option is not None},
    }
