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
    from gradwire.call import Reply as Reply
    from gradwire.chunked import ChunkedArray as ChunkedArray
    from gradwire.client import AsyncClient as AsyncClient
    from gradwire.client import Client as Client
    from gradwire.errors import *
    from gradwire.explanations import ArraySummary as ArraySummary
    from gradwire.explanations import ExplainedInstruction as ExplainedInstruction
    from gradwire.explanations import ExplainedNode as ExplainedNode
    from gradwire.explanations import Explanation as Explanation
    from gradwire.locations import Node as Node
    from gradwire.optimization.functions import least_squares as least_squares
    from gradwire.optimization.functions import minimize as minimize
    from gradwire.optimization.functions import root as root
    from gradwire.optimization.handles import JobProgress as JobProgress
    from gradwire.optimization.jobs import AsyncJob as AsyncJob
    from gradwire.optimization.jobs import Job as Job
    from gradwire.optimization.results import OptimizeResult as OptimizeResult
    from gradwire.ragged import RaggedArray as RaggedArray
    from gradwire.resources.catalogue import Gpu as Gpu
    from gradwire.resources.catalogue import Limits as Limits
    from gradwire.resources.catalogue import Operation as Operation
    from gradwire.resources.graphs import Drawing as Drawing
    from gradwire.resources.graphs import Graph as Graph
    from gradwire.resources.graphs import GraphEdge as GraphEdge
    from gradwire.resources.graphs import GraphGroup as GraphGroup
    from gradwire.resources.graphs import GraphNode as GraphNode
    from gradwire.results import Check as Check
    from gradwire.results import Derivative as Derivative
    from gradwire.results import Evaluation as Evaluation
    from gradwire.results import Gradient as Gradient
    from gradwire.results import Hessian as Hessian
    from gradwire.results import Hvp as Hvp
    from gradwire.results import Instruction as Instruction
    from gradwire.results import Jacobian as Jacobian
    from gradwire.results import Jvp as Jvp
    from gradwire.results import Nonfinite as Nonfinite
    from gradwire.results import Notice as Notice
    from gradwire.results import Range as Range
    from gradwire.results import Recording as Recording
    from gradwire.results import Result as Result
    from gradwire.results import SourceCheck as SourceCheck
    from gradwire.results import Unconnected as Unconnected
    from gradwire.sparse import SparseArray as SparseArray
    from gradwire.stored import StoredProgram as StoredProgram
    from gradwire.stored import StoredTensor as StoredTensor
    from gradwire.tapes import AsyncStoredTape as AsyncStoredTape
    from gradwire.tapes import AsyncTape as AsyncTape
    from gradwire.tapes import StoredTape as StoredTape
    from gradwire.tapes import Tape as Tape
    from gradwire.tracing.control import checkpoint as checkpoint
    from gradwire.tracing.control import cond as cond
    from gradwire.tracing.control import fori as fori
    from gradwire.tracing.control import scan as scan
    from gradwire.tracing.control import stop_gradient as stop_gradient
    from gradwire.tracing.control import switch as switch
    from gradwire.tracing.control import while_loop as while_loop
    from gradwire.tracing.functions import Function as Function
    from gradwire.tracing.functions import function as function
    from gradwire.tracing.programs import program as program
    from gradwire.tracing.rules import custom_gradient as custom_gradient
    from gradwire.tracing.solvers import custom_root as custom_root
    from gradwire.tracing.solvers import odeint as odeint
    from gradwire.tracing.transforms import grad as grad
    from gradwire.tracing.transforms import hessian as hessian
    from gradwire.tracing.transforms import hvp as hvp
    from gradwire.tracing.transforms import jacobian as jacobian
    from gradwire.tracing.transforms import jvp as jvp
    from gradwire.tracing.transforms import value_and_grad as value_and_grad
    from gradwire.tracing.transforms import vjp as vjp
    from gradwire.tracing.transforms import vmap as vmap
    from gradwire.version import __version__ as __version__

# gradwire.tf and gradwire.tfe are a distribution of their own, perhaps in another folder.
__path__ = extend_path(__path__, __name__)
sys.meta_path.append(MissingDistributions())

#: The public names of each module, which is imported when one of them is first used.
_NAMES: dict[str, str] = {
    "call": "Reply",
    "chunked": "ChunkedArray",
    "client": "AsyncClient Client",
    "errors": (
        "APIError BadArgument BadRequest BodyTooLarge ClusterUnavailable Conflict "
        "CrashingProgram DeadlineExceeded DomainError Draining DtypeMismatch "
        "ExpectationFailed Forbidden GradwireError HeadersTooLarge IdempotencyConflict "
        "InvalidProgram InvalidRequest JobCancelled MalformedBody MalformedReply "
        "MalformedRequest MalformedTensor MethodNotAllowed NotASum NotAcceptable "
        "NotDifferentiable NotFound NotInstalled NotTraceable OutOfGpuMemory OverBudget "
        "Overloaded ProgramSyntaxError RateLimited RecordingWarning RequestTimeout ServerError "
        "ShapeMismatch "
        "Starting StoreUnavailable TapeConsumed TargetTooLong TooLarge TooSlow TransportError "
        "Unauthenticated Unavailable UnknownJob UnknownName UnknownOperation UnknownRef "
        "UnknownTape Unprocessable UnsupportedMediaType UsageError WorkerCrashed"
    ),
    "explanations": "ArraySummary ExplainedInstruction ExplainedNode Explanation",
    "locations": "Node",
    "optimization.functions": "least_squares minimize root",
    "optimization.handles": "JobProgress",
    "optimization.jobs": "AsyncJob Job",
    "optimization.results": "OptimizeResult",
    "resources.catalogue": "Gpu Limits Operation",
    "resources.graphs": "Drawing Graph GraphEdge GraphGroup GraphNode",
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
    __all__ = [*sorted(_MODULES)]  # noqa: PLE0604 - names

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
    return sorted({*globals(), *_MODULES})
