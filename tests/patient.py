"""Settings of services that tests ask: they wait, on a busy machine, as long as it takes."""

from typing import Any

from fastapi import FastAPI
from gradwire_service.app import create_app
from gradwire_service.settings import Settings

#: An hour for all that a test is not about; the store's is its maximum.
PATIENT: dict[str, Any] = {
    "default_timeout_ms": 3_600_000,
    "max_timeout_ms": 3_600_000,
    "queue_seconds": 3600,
    "job_wait_ms": 600_000,
    "store_connect_seconds": 10,
    "store_timeout_seconds": 10,
}


def patient_app(**settings: Any) -> FastAPI:
    """An application with these settings that is otherwise patient."""
    return create_app(Settings(**{**PATIENT, **settings}))
