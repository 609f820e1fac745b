"""One function per endpoint: each returns a call, which builds the request and reads the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gradwire.call import Call, Reply
from gradwire.requests import (
    CheckOptions,
    DerivativeOptions,
    EvaluateOptions,
    GradientOptions,
    HessianOptions,
    JacobianOptions,
    ProgramAt,
    SeededOptions,
    SourcesOptions,
    document_of,
)
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
from gradwire.trees import Variables, template
from gradwire.values import decode, decode_rows, encode_seeds, encode_variables

D = TypeVar("D", bound=Derivative)


def evaluation(of: ProgramAt, options: EvaluateOptions) -> Call[Evaluation]:
    """The values of outputs."""

    def read(reply: Reply) -> Evaluation:
        values = decode(reply.document["outputs"], options.get("outputs"))
        return Evaluation(outputs=values, **shared_fields(reply))

    return Call("POST", f"{of.path}/evaluate", document_of(of, options), read, of.source)


def gradient(of: ProgramAt, options: GradientOptions) -> Call[Gradient]:
    """A target's value, and its gradient at every source."""
    like = _sources(of, options)
    return _derivative(
        Gradient,
        of,
        "gradient",
        _seeded(options),
        lambda document: {"gradients": decode(document["gradients"], like)},
    )


def check(of: ProgramAt, options: CheckOptions) -> Call[Check]:
    """The gradient beside differences."""
    like = _sources(of, options)
    return _derivative(
        Check,
        of,
        "check",
        _seeded(options),
        lambda document: {
            "ok": document["ok"],
            "checks": source_checks(document),
            **{part: decode(document[part], like) for part in ("gradients", "differences")},
        },
    )


def jacobian(of: ProgramAt, options: JacobianOptions) -> Call[Jacobian]:
    """The derivative of each element of a target in each element of the sources."""
    like = _sources(of, options)
    return _derivative(
        Jacobian,
        of,
        "jacobian",
        options,
        lambda document: {"jacobian": decode(document["jacobian"], like)},
    )


def hessian(of: ProgramAt, options: HessianOptions) -> Call[Hessian]:
    """A target's second derivatives in each pair of sources, and its gradients."""
    like = _sources(of, options)
    return _derivative(
        Hessian,
        of,
        "hessian",
        options,
        lambda document: {
            "gradients": decode(document["gradients"], like),
            "hessian": decode_rows(document["hessian"], document["gradients"], like),
        },
    )


def jvp(of: ProgramAt, tangents: Variables, options: DerivativeOptions) -> Call[Jvp]:
    """A target's derivative along tangents."""
    target = options.get("target")
    return _derivative(
        Jvp,
        of,
        "jvp",
        {**options, "tangents": encode_variables(tangents, "tangents")},
        lambda document: {"jvp": decode(document["jvp"], target)},
    )


def hvp(of: ProgramAt, vectors: Variables, options: DerivativeOptions) -> Call[Hvp]:
    """The Hessian times vectors, and the gradients."""
    return _derivative(
        Hvp,
        of,
        "hvp",
        {**options, "vectors": encode_variables(vectors, "vectors")},
        lambda document: {part: decode(document[part], vectors) for part in ("gradients", "hvp")},
    )


def _sources(of: ProgramAt, options: SourcesOptions) -> Any:
    """A template with the structure of the sources."""
    return template(options.get("sources"), of.variables)


def _seeded(options: SeededOptions) -> Mapping[str, object]:
    seeds = encode_seeds(options.get("output_gradients"), options.get("target"))
    return {**options, "output_gradients": seeds}


def _derivative(
    kind: type[D],
    of: ProgramAt,
    name: str,
    options: Mapping[str, object],
    parts: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> Call[D]:
    """A call whose answer has a value and, beside it, the parts that are read from the reply."""
    document = document_of(of, options)

    def read(reply: Reply) -> D:
        return kind(
            value=decode(reply.document["value"], document.get("target")),
            outputs=decode(reply.document.get("outputs"), document.get("outputs")),
            unconnected=unconnected_sources(reply.document),
            **parts(reply.document),
            **shared_fields(reply),
        )

    return Call("POST", f"{of.path}/{name}", document, read, of.source)
