"""Pydantic models of the documents on the wire: for the published schema only, not for requests."""

from gradwire_service.documents.operations import (
    OPERATIONS,
    TAPE_OPERATIONS,
    component_schemas,
    problems,
)
from gradwire_service.documents.requests import REQUESTS, TAPE_KINDS, TAPE_REQUESTS, TapeRequest
from gradwire_service.documents.resource_operations import (
    PROGRAM_OPERATIONS,
    TENANT_OPERATIONS,
    TENSOR_OPERATIONS,
)
from gradwire_service.documents.resources import (
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TensorDocument,
)
from gradwire_service.documents.responses import RESPONSES, Problem, TapeDocument, TapeResponse
from gradwire_service.documents.tenants import TenantsDocument
from gradwire_service.documents.values import Whole
from gradwire_service.documents.whole import complete

__all__ = [
    "OPERATIONS",
    "PROGRAM_OPERATIONS",
    "REQUESTS",
    "RESPONSES",
    "TAPE_KINDS",
    "TAPE_OPERATIONS",
    "TAPE_REQUESTS",
    "TENANT_OPERATIONS",
    "TENSOR_OPERATIONS",
    "Problem",
    "ProgramDocument",
    "ProgramPage",
    "RegisterRequest",
    "TapeDocument",
    "TapeRequest",
    "TapeResponse",
    "TenantsDocument",
    "TensorDocument",
    "Whole",
    "complete",
    "component_schemas",
    "problems",
]
