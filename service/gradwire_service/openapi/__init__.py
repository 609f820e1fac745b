"""The OpenAPI document: pydantic models for the published schema; requests never pass them."""

from gradwire_service.openapi.build import complete, component_schemas
from gradwire_service.openapi.requests import (
    REQUESTS,
    TAPE_REQUESTS,
    ExplainRequest,
    TapeRequest,
)
from gradwire_service.openapi.resources import (
    GpuDocument,
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TensorDocument,
)
from gradwire_service.openapi.responses import (
    RESPONSES,
    ExplainResponse,
    Problem,
    TapeDocument,
    TapeResponse,
)
from gradwire_service.openapi.solving import SOLVE_REQUESTS, SOLVE_RESPONSES
from gradwire_service.openapi.values import Whole

__all__ = [
    "REQUESTS",
    "RESPONSES",
    "SOLVE_REQUESTS",
    "SOLVE_RESPONSES",
    "TAPE_REQUESTS",
    "ExplainRequest",
    "ExplainResponse",
    "GpuDocument",
    "Problem",
    "ProgramDocument",
    "ProgramPage",
    "RegisterRequest",
    "TapeDocument",
    "TapeRequest",
    "TapeResponse",
    "TensorDocument",
    "Whole",
    "complete",
    "component_schemas",
]
