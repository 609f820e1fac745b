"""Jobs: how many run and are stored, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from gradwire_service.settings.derived import derived
from gradwire_service.settings.memory import Same, StoreBytes, TenantShare
from gradwire_service.settings.units import CENTURY_SECONDS, Size

_DAY_SECONDS = 86_400.0


def _a_day(data: Mapping[str, Any]) -> float:
    """`86400`, or `GRADWIRE_JOB_SECONDS` if that is more."""
    return max(_DAY_SECONDS, float(data["job_seconds"]))


class JobSettings(BaseModel):
    """Jobs: how many run and are stored, and for how long."""

    job_processes: int = Field(
        default_factory=Same("cores"),
        ge=1,
        le=1024,
        description="Worker processes of optimisations, beside those of other requests and at a "
        "lower priority, started when there is one: so many run at once, others wait. One more is "
        "started for those that take less than two seconds, which do not wait for longer ones. "
        "With API keys and two or more, one is reserved for tenants of which none runs. Without "
        "worker processes, these are threads.",
    )
    job_queue: int = derived(
        default=256, ge=0, description="Optimisations that may wait on a replica; others are a 503."
    )
    job_wait_ms: int = derived(
        default=5000,
        ge=0,
        le=600_000,
        description="How long an optimisation may take before it is answered as a job, unless the "
        "request says so by `wait_ms`, and the most that requests may say.",
    )
    job_seconds: float = Field(
        default=_DAY_SECONDS,
        gt=0,
        le=CENTURY_SECONDS,
        description="The longest time from the creation of a job to its end.",
    )
    job_ttl_seconds: float = derived(
        "job_seconds",
        default_factory=_a_day,
        gt=0,
        le=CENTURY_SECONDS,
        description="How long a job and its result are stored after their last use.",
    )
    max_jobs: int = derived(default=10_000, ge=0, description="Most stored jobs.")
    max_jobs_bytes: Size = derived(
        "store_bytes",
        default_factory=StoreBytes("max_jobs_bytes"),
        ge=0,
        description="Most bytes of the requests, checkpoints and results of jobs.",
    )
    max_jobs_per_tenant: int = derived(
        "tenants",
        default_factory=TenantShare("max_jobs", 100),
        ge=0,
        description="Most jobs of a tenant that run or wait. Twice as many are stored: those that "
        "have ended make room for others. Without keys, of an Authorization header.",
    )
    max_jobs_bytes_per_tenant: Size = derived(
        "tenants",
        default_factory=TenantShare("max_jobs_bytes"),
        ge=0,
        description="The same for the bytes of a tenant's jobs.",
    )
