"""All tasks, by name, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from gradwire_engine.backends.base import Backend
from gradwire_engine.native import native_backend
from gradwire_gpu import GpuLost
from gradwire_solvers import METHODS

from gradwire_service.cluster.cluster import Cluster, open_cluster
from gradwire_service.computations.explain import ExplainHandlers
from gradwire_service.computations.handlers import ComputeHandlers
from gradwire_service.computations.redirects import Redirects
from gradwire_service.engines import Engines, open_engines
from gradwire_service.jobs.handlers import JobHandlers
from gradwire_service.jobs.solve_handlers import SolveHandlers
from gradwire_service.machine_code.compilation import Codes, Compiler, CompilingProcess
from gradwire_service.problems import problem_of
from gradwire_service.programs.handlers import ProgramHandlers
from gradwire_service.programs.pictures import FORMS, PictureHandlers
from gradwire_service.references import ReferenceResolver
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.tapes.handlers import TapeHandlers
from gradwire_service.tapes.stored import Tapes
from gradwire_service.tasks.messages import Task, TaskDone, TaskFailed
from gradwire_service.tasks.request import Listener, Outcome, Request
from gradwire_service.telemetry import stack_of
from gradwire_service.tensors.handlers import TensorHandlers
from gradwire_service.wire.codec import DOCUMENTS, DOWNLOADS, UPLOADS, Offer
from gradwire_service.wire.envelope import FIELDS
from gradwire_service.wire.shared import Body, to_bytes, to_shared

#: Answers a request with the parameters of its path; returns the pieces of the body.
Handler: TypeAlias = Callable[..., list[Body]]

#: Formats of tasks that exchange more than documents.
_OFFERS: Mapping[str, Offer] = {
    "tensors.put": UPLOADS,
    "tensors.show": DOWNLOADS,
    "tensors.look": DOWNLOADS,
    **{f"pictures.{name}": form.offer for name, form in FORMS.items()},
}


#: Settings that limit what is cached between requests.
_CACHE_SETTINGS = ("cache_bytes", "local_cache_bytes", "tape_values_bytes")


def offer_of(task: str) -> Offer:
    """The formats that a task reads and writes."""
    return _OFFERS.get(task, DOCUMENTS)


class Tasks:
    """The handlers of all tasks, with their caches."""

    def __init__(
        self,
        engines: Engines,
        resolver: ReferenceResolver,
        tapes: Tapes,
        cluster: Cluster,
        redirects: Redirects,
    ) -> None:
        self._cluster = cluster
        tape_handlers = TapeHandlers(tapes, resolver)
        programs = ProgramHandlers(resolver)
        tensors = TensorHandlers(resolver)
        pictures = PictureHandlers(resolver, engines.limits)
        compute = ComputeHandlers(engines, resolver, cluster, redirects)
        jobs = JobHandlers(resolver.store)
        solve = SolveHandlers(engines, resolver, cluster).solve
        self._handlers: dict[str, Handler] = {
            **{kind: partial(compute.compute, kind) for kind in FIELDS},
            **{kind: partial(solve, kind) for kind in METHODS},
            "explain": ExplainHandlers(engines, resolver).explain,
            **{f"pictures.{name}": partial(pictures.draw, form) for name, form in FORMS.items()},
            "tapes.create": tape_handlers.create,
            "tapes.ask": tape_handlers.ask,
            "tapes.show": tape_handlers.show,
            "tapes.remove": tape_handlers.remove,
            "jobs.all": jobs.all,
            "jobs.show": jobs.show,
            "jobs.answer": jobs.answer,
            "jobs.digest": jobs.digest,
            "jobs.waiting": jobs.waiting,
            "programs.register": programs.register,
            "programs.all": programs.all,
            "programs.show": programs.show,
            "programs.remove": programs.remove,
            "tensors.put": tensors.put,
            "tensors.show": tensors.show,
            "tensors.look": tensors.look,
            "tensors.remove": tensors.remove,
        }

    def run(self, task: str, request: Request, arguments: tuple[str, ...]) -> list[Body]:
        """Run a task: returns the pieces of the answer's body, and fills ``request.outcome``."""
        return self._handlers[task](request, *arguments)

    def close(self) -> None:
        """Close the connection to a cluster, if there is one."""
        self._cluster.close()


def execute(
    task: Task,
    tasks: Tasks,
    settings: Settings,
    on_timeout: Callable[[float], None],
    on_progress: Listener,
) -> TaskDone | TaskFailed:
    """Run a task; ``on_timeout`` receives the timeout in its body, ``on_progress`` its progress.

    Raises: ``GpuLost``, after which no other task can run.
    """
    outcome = Outcome()
    try:
        request = Request(task.headers, task.owner, settings, offer_of(task.name))
        outcome = request.outcome
        request.deadline = task.deadline
        request.on_timeout, request.on_progress = on_timeout, on_progress
        request.checkpoint, request.device = task.checkpoint, task.device
        request.body = to_bytes(task.body)
        return TaskDone(to_shared(tasks.run(task.name, request, task.arguments)), outcome)
    except GpuLost:
        raise
    except Exception as error:  # noqa: BLE001 - every error is reported
        problem = problem_of(error)
        trace = (
            None if problem.expected else stack_of(error, messages=settings.log_level == "debug")
        )
        return TaskFailed(problem, trace, outcome)


def open_tasks(
    settings: Settings,
    store: Store,
    codes: Codes,
    *,
    isolated: bool,
    backend: Backend | None = None,
    compiling: CompilingProcess | None = None,
) -> Tasks:
    """All tasks on a store and machine code, with their own engines and resolver.

    They compute with ``backend``, by default on the CPU, where ``compiling`` makes machine code.
    """
    if backend is None and compiling is not None:
        backend = native_backend(Compiler(codes, compiling.compile))
    engines = open_engines(settings, isolated=isolated, backend=backend)
    resolver = ReferenceResolver(engines, store, settings.local_cache_bytes)
    tapes = Tapes(engines, store, resolver, settings.tape_values_bytes)
    cluster, redirects = open_cluster(settings, engines), Redirects(settings)
    return Tasks(engines, resolver, tapes, cluster, redirects)


def divide_caches(settings: Settings, count: int) -> Settings:
    """The settings of each of ``count`` processes that divide the caches."""
    shares = {name: max(getattr(settings, name) // count, 1) for name in _CACHE_SETTINGS}
    return settings.model_copy(update=shares)


def max_cache_bytes(settings: Settings) -> int:
    """The maximum bytes that are cached between requests."""
    return sum(getattr(settings, name) for name in _CACHE_SETTINGS)
