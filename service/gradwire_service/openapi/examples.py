"""The examples of the published schema."""

from __future__ import annotations

from typing import Any

from gradwire_service import examples
from gradwire_service.openapi.requests import TAPE_KINDS
from gradwire_service.wire.codec import JSON

_JSON = JSON.media_types[0]
_BODIES: dict[str, Any] = {
    **{str(kind): shown for kind, shown in examples.REQUESTS.items()},
    **{f"tape_{kind}": examples.TAPE_REQUESTS[kind] for kind in TAPE_KINDS},
    **{str(kind): shown for kind, shown in examples.SOLVE.items()},
    "explain": examples.EXPLAIN,
    "record_tape": examples.TAPE,
    "register_program": examples.PROGRAM,
    "store_tensor": examples.TENSOR,
    "store_tensor_as": examples.TENSOR,
}


def add_examples(schema: dict[str, Any]) -> None:
    """Add examples of requests and their answers, in JSON.

    Optional parameters have examples in their schemas only: documentation pages fill in those of
    the parameters themselves.
    """
    answers = examples.answers()
    for parameter in schema["components"]["parameters"].values():
        _show(parameter)
    for path in schema["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if "$ref" not in parameter:
                    _show(parameter)
            name = operation["operationId"]
            asked = _BODIES.get(name, {})
            if asked:
                operation["requestBody"]["content"][_JSON]["examples"] = asked
            if name in answers:
                _answer(operation["responses"], asked, answers[name])


def _show(parameter: dict[str, Any]) -> None:
    shown = examples.PARAMETERS[parameter["name"]]
    if parameter.get("required"):
        parameter["example"] = shown
    else:
        parameter["schema"] = parameter["schema"] | {"examples": [shown]}


def _answer(responses: dict[str, Any], asked: dict[str, Any], answers: dict[str, Any]) -> None:
    content = responses["201" if "201" in responses else "200"]["content"]
    body = content[_JSON if _JSON in content else next(iter(content))]
    body["examples"] = {
        name: {"summary": asked.get(name, {}).get("summary", "The answer"), "value": value}
        for name, value in answers.items()
    }
