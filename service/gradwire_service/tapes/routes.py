"""``/v1/tapes``: programs recorded once, then differentiated by any number of queries."""

from __future__ import annotations

from gradwire_engine.answer import Kind

from gradwire_service.computations.operations import OPERATIONS
from gradwire_service.openapi.operations import body, resource_operation
from gradwire_service.openapi.requests import TAPE_KINDS, TAPE_REQUESTS, TapeRequest
from gradwire_service.openapi.responses import RESPONSES, TapeDocument, TapeResponse
from gradwire_service.routes.task_routes import TaskRoute


def _asks(kind: Kind) -> TaskRoute:
    operation = resource_operation(
        f"tape_{kind}",
        f"{OPERATIONS[kind]['summary']}, on a tape",
        f"As `/v1/{kind}`. A tape that is not persistent answers once.",
        409,
        response=RESPONSES[kind],
        requestBody=body(TAPE_REQUESTS[kind]),
    )
    return TaskRoute("POST", f"/v1/tapes/{{tape}}/{kind}", "tapes.ask", operation, lambda _: [kind])


ROUTES = (
    TaskRoute(
        "POST",
        "/v1/tapes",
        "tapes.create",
        resource_operation(
            "record_tape",
            "Record a tape",
            "Run a program and store it with its values, for gradients of them.",
            status=201,
            response=TapeResponse,
            requestBody=body(TapeRequest),
        ),
    ),
    *map(_asks, TAPE_KINDS),
    TaskRoute(
        "GET",
        "/v1/tapes/{tape}",
        "tapes.show",
        resource_operation(
            "show_tape",
            "Show a tape",
            "Its instructions, the watched variables, and the memory it takes.",
            409,
            response=TapeDocument,
        ),
    ),
    TaskRoute(
        "DELETE",
        "/v1/tapes/{tape}",
        "tapes.remove",
        resource_operation(
            "remove_tape", "Remove a tape", "Its id is unknown from then on.", status=204
        ),
    ),
)
