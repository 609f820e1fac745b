"""The examples of the published schema."""

from __future__ import annotations

from typing import Any

from gradwire_service import examples
from gradwire_service.documents.requests import TAPE_KINDS
from gradwire_service.wire.codec import JSON

_BODIES: dict[str, Any] = {
    **{str(kind): shown for kind, shown in examples.REQUESTS.items()},
    **{f"tape_{kind}": examples.TAPE_REQUESTS[kind] for kind in TAPE_KINDS},
    "record_tape": examples.TAPE,
    "register_program": examples.PROGRAM,
    "store_tensor": examples.TENSOR,
    "store_tensor_as": examples.TENSOR,
}


def add_examples(schema: dict[str, Any]) -> None:
    """Show in the OpenAPI document what its operations may be asked, in JSON, or else answer."""
    for parameter in schema["components"]["parameters"].values():
        parameter["example"] = examples.PARAMETERS[parameter["name"]]
    for path in schema["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if "$ref" not in parameter:
                    parameter["example"] = examples.PARAMETERS[parameter["name"]]
            shown = _BODIES.get(operation["operationId"])
            if shown is not None:
                body = operation["requestBody"]["content"][JSON.media_types[0]]
                body["examples"] = shown
            answer = examples.ANSWERS.get(operation["operationId"])
            if answer is not None:
                for body in operation["responses"]["200"]["content"].values():
                    body["example"] = answer
