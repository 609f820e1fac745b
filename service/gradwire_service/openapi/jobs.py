"""The documents of jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from gradwire_solvers import SolveKind
from pydantic import Field

from gradwire_service.openapi.json_schema import Described
from gradwire_service.openapi.responses import Problem
from gradwire_service.openapi.solving import MinimumResponse, RootResponse
from gradwire_service.openapi.values import Word


class JobProgress(Described):
    """Where a run is."""

    iteration: int
    value: float | Word | None
    gradient_norm: float | Word | None
    seconds: float = Field(description="Since the run began, without interruptions.")
    rate: float | None = Field(description="Iterations per second.")
    seconds_left: float | None = Field(
        description="Until the method's most iterations, or `max_seconds`; null if not known."
    )


class JobSummary(Described):
    """A job, without its result."""

    id: str
    kind: SolveKind
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime = Field(description="Extended by each use.")
    resumed: int = Field(description="How often it went on after its replica had stopped.")
    progress: JobProgress | None
    problem: Problem | None = Field(description="Why it has failed.")


class JobDocument(JobSummary):
    """A job, with its result once it has succeeded."""

    result: MinimumResponse | RootResponse | None


class JobPage(Described):
    """Jobs of one tenant, by their ids."""

    jobs: list[JobSummary]
    after: str | None = Field(None, description="Start of the next page, if there is one.")
