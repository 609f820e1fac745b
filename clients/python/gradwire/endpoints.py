"""Requests for computation: their options, and a function for each endpoint.

Each of these functions returns a call, which builds the request and reads the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from gradwire.call import Call, Reply
from gradwire.explanations import Explanation, explanation
from gradwire.results import (
    Check,
    Derivative,
    Evaluation,
    Gradient,
    Hessian,
    Hvp,
    Jacobian,
    Jvp,
    shared_fields,
    source_checks,
    unconnected_sources,
)
from gradwire.stored import StoredProgram
from gradwire.trees import Names, Variables, template
from gradwire.usage import check_program
from gradwire.values import decode, decode_rows, encode_seeds, encode_variables

if TYPE_CHECKING:
    from gradwire.optimization.results import OptimizeResult

D = TypeVar("D", bound=Derivative)

#: Source text, a graph, a stored program, or a reference to one.
Program: TypeAlias = "str | Mapping[str, Any] | StoredProgram"
#: What a query is of: a program, or a Python function, recorded at arguments by name.
Computed: TypeAlias = "Program | Callable[..., Any]"
Promotion: TypeAlias = Literal["numpy", "strict"]
UnconnectedGradients: TypeAlias = Literal["none", "zero"]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
MatrixFormat: TypeAlias = Literal["dense", "coo"]
ExplainedQuery: TypeAlias = Literal["gradient", "evaluate", "jacobian", "hessian"]
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
    #: Members of the answer, by path (``"outputs.0"``, ``"gradients"``), whose arrays stay with the
    #: service: each comes as a ``StoredTensor``, unless it is small or there is no room for it.
    keep: Sequence[str] | None
    #: The refs of arrays that stayed with the service and are not needed any more, nor here.
    release: Sequence[str] | None
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


class ExplainOptions(RecordingOptions, total=False):
    """Options of explanations: of each query its own, as those of the method of its name."""

    #: The query that is explained: a gradient by default.
    query: ExplainedQuery | None
    #: Measure each instruction.
    time: bool | None
    outputs: Names
    target: Names
    sources: Names
    output_gradients: Any
    unconnected_gradients: UnconnectedGradients | None
    sparse_gradients: SparseGradients | None
    format: MatrixFormat | None
    mode: Mode | None


class TapeOptions(RecordingOptions, total=False):
    """Options of tapes."""

    #: The tape answers more than once.
    persistent: bool | None
    #: Further sources: intermediates, and variables that are not trainable.
    watch: Sequence[str] | None
    #: If False, only variables in ``watch`` are sources.
    watch_accessed_variables: bool | None


class RootOptions(TypedDict, total=False):
    """Options of ``root``; ``None`` stands for the default."""

    #: Of a program: what does not move, and which variables do, by default all that are trainable.
    variables: Variables | None
    sources: Names
    #: Of a program: what is optimised, by default its output.
    target: Names
    #: The tolerance of the method's own test for its end.
    tol: float | None
    #: Options of the method, as SciPy's.
    options: Mapping[str, Any] | None
    #: Ends with the best point after so many seconds, without success.
    max_seconds: float | None
    #: How long the first answer may take: what takes longer is a job. A second by default.
    wait_ms: float | None
    promotion: Promotion | None
    #: Evaluates as NumPy does, operation by operation: all runs of one request have the same bits.
    exact: bool | None
    #: Called some times a second with an ``OptimizeResult`` that has ``fun`` and ``nit`` but not
    #: ``x``, and in the end with the result. If it raises ``StopIteration``, the job is cancelled.
    callback: Callable[[OptimizeResult], Any] | None
    #: Show the progress of what takes long; by default in notebooks, and on terminals with tqdm.
    progress: bool | None
    #: A second call with this key is answered by the job of the first.
    idempotency_key: str | None


class MinimizeOptions(RootOptions, total=False):
    """Options of ``minimize``."""

    #: Pairs ``(low, high)`` for all elements in a row or by path, or ``scipy.optimize.Bounds``.
    bounds: Any
    #: SciPy's ``NonlinearConstraint``, ``LinearConstraint`` and dictionaries, one or several.
    constraints: Any
    #: Of first-order methods: ``{"size": 64, "variables": ["X", "y"], "seed": 0}``.
    minibatch: Mapping[str, Any] | None


class LeastSquaresOptions(RootOptions, total=False):
    """Options of ``least_squares``."""

    #: A pair of all lower and all upper ends, ``scipy.optimize.Bounds``, or pairs by path.
    bounds: Any
    loss: str | None
    f_scale: float | None
    x_scale: float | Literal["jac"] | None
    ftol: float | None
    xtol: float | None
    gtol: float | None
    max_nfev: int | None
    tr_solver: str | None


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


def evaluation(of: ProgramAt, options: EvaluateOptions) -> Call[Evaluation]:
    """The values of outputs."""

    def read(reply: Reply) -> Evaluation:
        values = decode(reply.document["outputs"], options.get("outputs"))
        return Evaluation(outputs=values, **shared_fields(reply))

    return Call("POST", f"{of.path}/evaluate", document_of(of, options), read, of.source)


def gradient(of: ProgramAt, options: GradientOptions) -> Call[Gradient]:
    """A target's value, and its gradient at every source."""
    return _derivative(Gradient, of, "gradient", _seeded(options), gradients=_sources(of, options))


def check(of: ProgramAt, options: CheckOptions) -> Call[Check]:
    """The gradient beside differences."""
    like = _sources(of, options)

    def rest(document: Mapping[str, Any]) -> dict[str, Any]:
        return {"ok": document["ok"], "checks": source_checks(document)}

    asked = _seeded(options)
    return _derivative(Check, of, "check", asked, rest, gradients=like, differences=like)


def explained(of: ProgramAt, options: ExplainOptions) -> Call[Explanation]:
    """The call that explains how the service computes a query."""
    document = document_of(of, _seeded(options))
    return Call("POST", f"{of.path}/explain", document, explanation, of.source)


def jacobian(of: ProgramAt, options: JacobianOptions) -> Call[Jacobian]:
    """The derivative of each element of a target in each element of the sources."""
    return _derivative(Jacobian, of, "jacobian", options, jacobian=_sources(of, options))


def hessian(of: ProgramAt, options: HessianOptions) -> Call[Hessian]:
    """A target's second derivatives in each pair of sources, and its gradients."""
    like = _sources(of, options)

    def rest(document: Mapping[str, Any]) -> dict[str, Any]:
        return {"hessian": decode_rows(document["hessian"], document["gradients"], like)}

    return _derivative(Hessian, of, "hessian", options, rest, gradients=like)


def jvp(of: ProgramAt, tangents: Variables, options: DerivativeOptions) -> Call[Jvp]:
    """A target's derivative along tangents."""
    asked = {**options, "tangents": encode_variables(tangents, "tangents")}
    return _derivative(Jvp, of, "jvp", asked, jvp=options.get("target"))


def hvp(of: ProgramAt, vectors: Variables, options: DerivativeOptions) -> Call[Hvp]:
    """The Hessian times vectors, and the gradients."""
    asked = {**options, "vectors": encode_variables(vectors, "vectors")}
    return _derivative(Hvp, of, "hvp", asked, gradients=vectors, hvp=vectors)


def _sources(of: ProgramAt, options: SourcesOptions) -> Any:
    """A template with the structure of the sources."""
    return template(options.get("sources"), of.variables)


def _seeded(options: SeededOptions | ExplainOptions) -> Mapping[str, object]:
    seeds = encode_seeds(options.get("output_gradients"), options.get("target"))
    return {**options, "output_gradients": seeds}


def _derivative(
    kind: type[D],
    of: ProgramAt,
    name: str,
    options: Mapping[str, object],
    rest: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _: {},
    **parts: Any,
) -> Call[D]:
    """A call whose answer has a value, parts that are nested as given ones, and the rest."""
    document = document_of(of, options)

    def read(reply: Reply) -> D:
        answer = reply.document
        return kind(
            value=decode(answer["value"], document.get("target")),
            outputs=decode(answer.get("outputs"), document.get("outputs")),
            unconnected=unconnected_sources(answer),
            **{part: decode(answer[part], like) for part, like in parts.items()},
            **rest(answer),
            **shared_fields(reply),
        )

    return Call("POST", f"{of.path}/{name}", document, read, of.source)
