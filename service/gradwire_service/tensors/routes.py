"""``/v1/tensors``: stored arrays, which requests refer to."""

from __future__ import annotations

from typing import Any

from gradwire_service.openapi.operations import (
    UNCHANGED,
    already_stored,
    body,
    content,
    resource_operation,
)
from gradwire_service.openapi.resources import TensorDocument
from gradwire_service.openapi.values import RawBytes, RawData, Tensor
from gradwire_service.routes.task_routes import TaskRoute
from gradwire_service.wire import npy

_FILE = {npy.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
#: A tensor in each encoding.
_FORMS = content(RawBytes) | {
    media_type: form for media_type, form in content(RawData).items() if "msgpack" in media_type
}


def _put(path: str, name: str, summary: str, description: str) -> TaskRoute:
    operation = resource_operation(
        name,
        summary,
        description,
        status=201,
        response=TensorDocument,
        responses=already_stored(TensorDocument),
        requestBody=body(Tensor, **_FILE),
    )
    return TaskRoute("PUT", path, "tensors.put", operation)


def _of_one(method: str, action: str, operation: dict[str, Any]) -> TaskRoute:
    return TaskRoute(method, "/v1/tensors/{ref}", f"tensors.{action}", operation)


ROUTES = (
    _put(
        "/v1/tensors",
        "store_tensor",
        "Store a tensor",
        "Store an array under the digest of its contents.",
    ),
    _put(
        "/v1/tensors/{ref}",
        "store_tensor_as",
        "Store a tensor with a known digest",
        "Refused if the tensor has another digest.",
    ),
    _of_one(
        "GET",
        "show",
        resource_operation(
            "show_tensor",
            "Show a tensor",
            "As a leaf with its bytes, or as an `.npy` file, as `Accept` says.",
            responses={200: {"description": "The tensor.", "content": _FORMS | _FILE}, **UNCHANGED},
        ),
    ),
    _of_one(
        "HEAD",
        "look",
        resource_operation(
            "look_for_tensor",
            "Check for a tensor",
            "Headers only.",
            responses={200: {"description": "It is stored."}, **UNCHANGED},
        ),
    ),
    _of_one(
        "DELETE",
        "remove",
        resource_operation(
            "remove_tensor", "Remove a tensor", "Its digest is unknown from then on.", status=204
        ),
    ),
)
