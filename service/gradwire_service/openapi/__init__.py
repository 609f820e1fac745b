"""The OpenAPI document: pydantic models for the published schema; requests never pass them."""

from gradwire_service.openapi.build import complete
from gradwire_service.openapi.operations import (
    EXPLAIN_OPERATION,
    OPERATIONS,
    SOLVE_OPERATIONS,
    TAPE_OPERATIONS,
    component_schemas,
)
from gradwire_service.openapi.requests import (
    REQUESTS,
    TAPE_KINDS,
    TAPE_REQUESTS,
    ExplainRequest,
    TapeRequest,
)
from gradwire_service.openapi.resource_operations import (
    GRAPH_OPERATIONS,
    JOB_OPERATIONS,
    PROGRAM_OPERATIONS,
    TENANT_OPERATIONS,
    TENSOR_OPERATIONS,
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
    "EXPLAIN_OPERATION",
    "GRAPH_OPERATIONS",
    "JOB_OPERATIONS",
    "OPERATIONS",
    "PROGRAM_OPERATIONS",
    "REQUESTS",
    "RESPONSES",
    "SOLVE_OPERATIONS",
    "SOLVE_REQUESTS",
    "SOLVE_RESPONSES",
    "TAPE_KINDS",
    "TAPE_OPERATIONS",
    "TAPE_REQUESTS",
    "TENANT_OPERATIONS",
    "TENSOR_OPERATIONS",
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
