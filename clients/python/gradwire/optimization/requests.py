"""The requests of optimisations: their options, and the steps from the start to the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from gradwire import hooks
from gradwire.call import Call, Reply, Steps
from gradwire.endpoints import LeastSquaresOptions, MinimizeOptions, RootOptions
from gradwire.errors import GradwireError, UsageError
from gradwire.optimization.following import cancelled, completed, deleted, deletion, followed
from gradwire.optimization.handles import JobDocument, JobHandle, JobProgress, text_of
from gradwire.optimization.objectives import Objective
from gradwire.optimization.parameters import bounds_document, ends_document
from gradwire.optimization.programs import of_program
from gradwire.optimization.recorded import of_function
from gradwire.optimization.results import Kind, OptimizeResult, result_of
from gradwire.tracing.traced import TracedProgram, with_source_notes
from gradwire.tracing.writing import Written
from gradwire.usage import check_function, used

#: How long the first answer may take; what takes longer is a job, and shows its progress.
WAIT_MS: Final = 1000.0
#: Options that the request has as they are.
PLAIN: Final = ("tol", "max_seconds", "promotion", "exact")
#: Arguments of ``scipy.optimize.least_squares`` that are options of the method here.
OF_LEAST_SQUARES: Final = (
    *("loss", "f_scale", "x_scale", "ftol", "xtol", "gtol", "max_nfev", "tr_solver"),
)
#: Arguments of SciPy's functions that nobody needs here.
DERIVATIVES: Final = frozenset({"jac", "hess", "hessp"})
#: The HTTP status of an answer that is a job.
ACCEPTED: Final = 202

#: Makes a client's handle of a job from its description, and what reads its result.
Handle: TypeAlias = Callable[..., JobHandle[Any]]
#: A display of progress, as a context whose value is called with each.
Show: TypeAlias = AbstractContextManager[Callable[[JobProgress], Any]]


OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "minimize": frozenset(MinimizeOptions.__annotations__),
    "least_squares": frozenset(LeastSquaresOptions.__annotations__),
    "root": frozenset(RootOptions.__annotations__),
}


class Stopped(Exception):
    """A callback has ended the optimisation."""


def optimized(
    kind: Kind,
    handle: Handle,
    f: Any,
    x0: Any,
    args: Any,
    method: str | None,
    given: Mapping[str, Any],
    background: bool = False,
    show: Show | None = None,
) -> Steps[Any]:
    """The steps to a result, or in the background to the job that computes it."""
    unknown = sorted(given.keys() - OPTIONS[kind])
    if unknown:
        known = f"it has {', '.join(sorted(OPTIONS[kind]))}"
        hint = "derivatives are exact: leave them out" if DERIVATIVES & {*unknown} else known
        raise UsageError(f"{kind} has no option {', '.join(unknown)}", hint=hint)
    return _optimized(kind, handle, f, x0, args, method, dict(given), background, show)


def _optimized(
    kind: Kind,
    handle: Handle,
    f: Any,
    x0: Any,
    args: Any,
    method: str | None,
    given: dict[str, Any],
    background: bool,
    show: Show | None,
) -> Steps[Any]:
    key = given.get("idempotency_key")
    if key is not None and not isinstance(key, str):
        raise UsageError(f"idempotency_key needs a string, got {type(key).__name__}")
    if given.get("callback") is not None:
        check_function(given["callback"])
    objective = yield from _objective(f, x0, args, given)
    with used("the options"):
        document = _document(kind, objective, method, given)
    callback, program = given.get("callback"), _places(objective.program)
    if background:
        document["background"] = True
    else:
        wait = 0.0 if callback is not None else WAIT_MS
        document["wait_ms"] = wait if given.get("wait_ms") is None else given["wait_ms"]

    result = partial(result_of, kind, x=objective.x, values=objective.values)

    def read(reply: Reply) -> Any:
        if reply.response.status_code != ACCEPTED:
            return result(reply.document)
        return handle(JobDocument.read(reply.document), result, program)

    # Without a key, what a short run is asked for is stored nowhere.
    key = key or (None if background else "")
    asked = Call(
        "POST", f"/v1/{kind}", document, read, text_of(program), key=key, prefers_job=background
    )
    with with_source_notes(program) if isinstance(program, Written) else nullcontext():
        found = yield from asked
    if background:
        return found
    if not isinstance(found, OptimizeResult):
        if show is None:
            total = (document.get("options") or {}).get("maxiter")
            show = hooks.display().following(kind, total, given.get("progress"))
        found = yield from _awaited(found, show, callback, stays=bool(key))
    if callback is not None:
        with suppress(StopIteration):
            callback(found)
    return found


def _places(program: TracedProgram | str | None) -> Written | str | None:
    """A program for errors to show; of a recording its text and places, without its arrays."""
    if isinstance(program, TracedProgram):
        return replace(program.written, leaves={}, names={})
    return program


def _objective(f: Any, x0: Any, args: Any, given: Mapping[str, Any]) -> Steps[Objective]:
    """The objective of an optimisation."""
    constraints = given.get("constraints")
    of = {name: given.get(name) for name in ("variables", "sources", "target")}
    if callable(f):
        if any(value is not None for value in of.values()):
            names = ", ".join(name for name, value in of.items() if value is not None)
            raise UsageError(
                f"{names} go with a program, not with a Python function",
                hint="args are the function's further arguments, which do not move",
            )
        return (yield from of_function(f, x0, args, constraints))
    if args is not None and not (isinstance(args, tuple) and not args):
        raise UsageError("args go with a Python function", hint="a program has variables")
    with used("the program and its variables"):
        return of_program(f, x0, constraints=constraints, **of)


def _document(
    kind: Kind, objective: Objective, method: str | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The request, but for how long its answer may take."""
    options = dict(_mapping(given, "options") or {})
    for name in OF_LEAST_SQUARES:
        if given.get(name) is not None:
            options[name] = given[name]
    bounds_of = ends_document if kind == "least_squares" else bounds_document
    further = {
        **{name: given.get(name) for name in PLAIN},
        "method": method,
        "minibatch": _minibatch(_mapping(given, "minibatch"), objective),
        "options": _plain(options) or None,
        "bounds": bounds_of(given.get("bounds"), objective.parameters),
    }
    return {
        **objective.document,
        **{name: value for name, value in further.items() if value is not None},
    }


def _mapping(given: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The values of an option whose members have names."""
    found = given.get(name)
    if found is not None and not isinstance(found, Mapping):
        raise UsageError(f"{name} needs values by name, got a {type(found).__name__}")
    return found


def _minibatch(given: Mapping[str, Any] | None, objective: Objective) -> Any:
    """A minibatch, its variables by their names in the program."""
    if given is None:
        return None
    named = given.get("variables", ())
    with used("variables of minibatch"):
        several = [named] if isinstance(named, str) else list(named)
        names = [objective.names.get(name, name) for name in several]
    return _plain({**given, "variables": names})


def _plain(option: Any) -> Any:
    """An option as JSON has it, with Python's numbers in place of NumPy's."""
    if isinstance(option, Mapping):
        return {name: _plain(value) for name, value in option.items()}
    if isinstance(option, (list, tuple)):
        return [_plain(value) for value in option]
    return option.tolist() if isinstance(option, (np.generic, np.ndarray)) else option


def _awaited(
    job: JobHandle[Any],
    show: Show,
    callback: Callable[[OptimizeResult], Any] | None,
    *,
    stays: bool,
) -> Steps[OptimizeResult]:
    """The result of a job, or its error; what interrupts the waiting cancels the job.

    Unless it ``stays`` for others with its key, the job is deleted.
    """
    ended = cancelled if stays else deleted
    with show as shown:

        def report(progress: JobProgress) -> None:
            shown(progress)
            if callback is not None:
                with _stopping():
                    callback(_intermediate(progress))

        try:
            yield from followed(job, report)
            yield from completed(job)
        except (GradwireError, GeneratorExit):
            raise
        except Stopped:
            yield from cancelled(job)
        except BaseException:
            with suppress(GradwireError):  # the interruption is what the caller sees
                yield from ended(job)
            raise
    if not stays:
        with suppress(GradwireError):  # the service deletes it later
            yield from deletion(job.id)
    return job.answer()


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except StopIteration as end:
        raise Stopped from end


def _intermediate(progress: JobProgress) -> OptimizeResult:
    found = OptimizeResult(fun=progress.value, nit=progress.iteration)
    found.update(gradient_norm=progress.gradient_norm, seconds=progress.seconds)
    return found
