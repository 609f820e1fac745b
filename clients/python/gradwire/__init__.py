"""Gradients of programs, computed by a Gradwire service.

>>> client = gradwire.Client()
>>> answer = client.gradient("mean((tanh(x @ w) - y)**2)", {"w": w, "x": x, "y": y}, sources="w")
>>> answer.value, answer.gradients

>>> @gradwire.function
... def loss(w, x, y):
...     return np.mean((np.tanh(x @ w) - y) ** 2)
>>> gradwire.value_and_grad(loss)(w, x, y)
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any, cast

from gradwire import hooks
from gradwire.distributions import MissingDistributions

if TYPE_CHECKING:
    from gradwire.call import Reply
    from gradwire.client import AsyncClient, Client
    from gradwire.errors import (
        APIError,
        BadArgument,
        BadRequest,
        BodyTooLarge,
        Conflict,
        CrashingProgram,
        DeadlineExceeded,
        DomainError,
        Draining,
        DtypeMismatch,
        ExpectationFailed,
        Forbidden,
        GradwireError,
        HeadersTooLarge,
        InvalidProgram,
        InvalidRequest,
        MalformedBody,
        MalformedReply,
        MalformedRequest,
        MalformedTensor,
        MethodNotAllowed,
        NotAcceptable,
        NotDifferentiable,
        NotFound,
        NotInstalled,
        NotTraceable,
        OverBudget,
        Overloaded,
        ProgramSyntaxError,
        RateLimited,
        RequestTimeout,
        ServerError,
        ShapeMismatch,
        StoreUnavailable,
        TapeConsumed,
        TargetTooLong,
        TooLarge,
        TooSlow,
        TransportError,
        Unauthenticated,
        Unavailable,
        UnknownName,
        UnknownOperation,
        UnknownRef,
        UnknownTape,
        Unprocessable,
        UnsupportedMediaType,
        UsageError,
        WorkerCrashed,
    )
    from gradwire.locations import Node
    from gradwire.ragged import RaggedArray
    from gradwire.resources.catalogue import Limits, Operation
    from gradwire.resources.drawings import Drawing
    from gradwire.resources.graphs import Graph, GraphEdge, GraphGroup, GraphNode
    from gradwire.results import (
        Check,
        Derivative,
        Evaluation,
        Gradient,
        Hessian,
        Hvp,
        Instruction,
        Jacobian,
        Jvp,
        Nonfinite,
        Notice,
        Range,
        Recording,
        Result,
        SourceCheck,
        Unconnected,
    )
    from gradwire.sparse import SparseArray
    from gradwire.stored import StoredProgram, StoredTensor
    from gradwire.tapes import AsyncStoredTape, AsyncTape, StoredTape, Tape
    from gradwire.tracing.control import (
        checkpoint,
        cond,
        fori,
        scan,
        stop_gradient,
        switch,
        while_loop,
    )
    from gradwire.tracing.functions import Function, function
    from gradwire.tracing.programs import program
    from gradwire.tracing.rules import custom_gradient
    from gradwire.tracing.solvers import custom_root, odeint
    from gradwire.tracing.transforms import (
        grad,
        hessian,
        hvp,
        jacobian,
        jvp,
        value_and_grad,
        vjp,
        vmap,
    )
    from gradwire.version import __version__

# gradwire.tf and gradwire.tfe are a distribution of their own, perhaps in another folder.
__path__ = extend_path(__path__, __name__)
sys.meta_path.append(MissingDistributions())

__all__ = [
    "APIError",
    "AsyncClient",
    "AsyncStoredTape",
    "AsyncTape",
    "BadArgument",
    "BadRequest",
    "BodyTooLarge",
    "Check",
    "Client",
    "Conflict",
    "CrashingProgram",
    "DeadlineExceeded",
    "Derivative",
    "DomainError",
    "Draining",
    "Drawing",
    "DtypeMismatch",
    "Evaluation",
    "ExpectationFailed",
    "Forbidden",
    "Function",
    "Gradient",
    "GradwireError",
    "Graph",
    "GraphEdge",
    "GraphGroup",
    "GraphNode",
    "HeadersTooLarge",
    "Hessian",
    "Hvp",
    "Instruction",
    "InvalidProgram",
    "InvalidRequest",
    "Jacobian",
    "Jvp",
    "Limits",
    "MalformedBody",
    "MalformedReply",
    "MalformedRequest",
    "MalformedTensor",
    "MethodNotAllowed",
    "Node",
    "Nonfinite",
    "NotAcceptable",
    "NotDifferentiable",
    "NotFound",
    "NotInstalled",
    "NotTraceable",
    "Notice",
    "Operation",
    "OverBudget",
    "Overloaded",
    "ProgramSyntaxError",
    "RaggedArray",
    "Range",
    "RateLimited",
    "Recording",
    "Reply",
    "RequestTimeout",
    "Result",
    "ServerError",
    "ShapeMismatch",
    "SourceCheck",
    "SparseArray",
    "StoreUnavailable",
    "StoredProgram",
    "StoredTape",
    "StoredTensor",
    "Tape",
    "TapeConsumed",
    "TargetTooLong",
    "TooLarge",
    "TooSlow",
    "TransportError",
    "Unauthenticated",
    "Unavailable",
    "Unconnected",
    "UnknownName",
    "UnknownOperation",
    "UnknownRef",
    "UnknownTape",
    "Unprocessable",
    "UnsupportedMediaType",
    "UsageError",
    "WorkerCrashed",
    "__version__",
    "checkpoint",
    "cond",
    "custom_gradient",
    "custom_root",
    "fori",
    "function",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "odeint",
    "program",
    "scan",
    "stop_gradient",
    "switch",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]

#: The public names of each module, which is imported when one of them is first used.
_NAMES: dict[str, str] = {
    "call": "Reply",
    "client": "AsyncClient Client",
    "errors": (
        "APIError BadArgument BadRequest BodyTooLarge Conflict CrashingProgram DeadlineExceeded "
        "DomainError Draining DtypeMismatch ExpectationFailed Forbidden GradwireError "
        "HeadersTooLarge InvalidProgram InvalidRequest MalformedBody MalformedReply "
        "MalformedRequest MalformedTensor MethodNotAllowed NotAcceptable NotDifferentiable "
        "NotFound NotInstalled NotTraceable OverBudget Overloaded ProgramSyntaxError RateLimited "
        "RequestTimeout ServerError ShapeMismatch StoreUnavailable TapeConsumed TargetTooLong "
        "TooLarge TooSlow TransportError Unauthenticated Unavailable UnknownName UnknownOperation "
        "UnknownRef UnknownTape Unprocessable UnsupportedMediaType UsageError WorkerCrashed"
    ),
    "locations": "Node",
    "resources.catalogue": "Limits Operation",
    "resources.drawings": "Drawing",
    "resources.graphs": "Graph GraphEdge GraphGroup GraphNode",
    "ragged": "RaggedArray",
    "results": (
        "Check Derivative Evaluation Gradient Hessian Hvp Instruction Jacobian Jvp Nonfinite "
        "Notice Range Recording Result SourceCheck Unconnected"
    ),
    "sparse": "SparseArray",
    "stored": "StoredProgram StoredTensor",
    "tapes": "AsyncStoredTape AsyncTape StoredTape Tape",
    "tracing.control": "checkpoint cond fori scan stop_gradient switch while_loop",
    "tracing.functions": "Function function",
    "tracing.programs": "program",
    "tracing.rules": "custom_gradient",
    "tracing.solvers": "custom_root odeint",
    "tracing.transforms": "grad hessian hvp jacobian jvp value_and_grad vjp vmap",
    "version": "__version__",
}
_MODULES: dict[str, str] = {
    name: module for module, names in _NAMES.items() for name in names.split()
}


def _display() -> hooks.Display:
    return cast("hooks.Display", import_module("gradwire.display.facade"))


def _default_client() -> Client:
    client: Client = import_module("gradwire.defaults").default_client()
    return client


hooks.display = _display
hooks.default_client = _default_client

if not TYPE_CHECKING:  # for type checkers, what is imported above is all that there is

    def __getattr__(name: str) -> Any:
        """Import a public name, or a module with public names, on first use."""
        if name in _MODULES:
            value = getattr(import_module(f"gradwire.{_MODULES[name]}"), name)
        elif name in _NAMES:
            value = import_module(f"gradwire.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
