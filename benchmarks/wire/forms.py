"""The forms of requests for Rosenbrock's function to Gradwire and to the bare endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import count, cycle
from typing import Any

import numpy as np
import orjson
from gradwire_service.wire.packing import pack
from gradwire_service.wire.unpacking import unpack
from peers.by_hand import Array
from peers.workloads import ROSENBROCK
from servers import Server, http_request

from wire.loads import Form, Question, ask

MESSAGEPACK = "application/msgpack"
_OCTETS = "application/octet-stream"


def to_json(document: Mapping[str, Any]) -> bytes:
    """A document whose arrays are lists."""
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def to_messagepack(document: Mapping[str, Any]) -> bytes:
    """A document whose arrays are raw bytes."""
    return b"".join(pack(document))


def from_leaf(leaf: Any) -> Array:
    """The array of ``{"dtype", "shape", "data"}`` in a MessagePack reply, or its number."""
    if isinstance(leaf, dict):
        return np.frombuffer(leaf["data"], leaf["dtype"]).reshape(leaf["shape"])
    return np.asarray(leaf)


def in_json(program: Any) -> Form:
    """The program as text or by reference, numbers as lists."""
    return Form(lambda x: [_post(program, x)], _read_json)


def new_programs(points: Sequence[Array]) -> Iterator[Question]:
    """Requests for programs that differ in a constant's last digits, each sent once."""
    for number, x in zip(count(), cycle(points)):
        yield [_post(ROSENBROCK.replace("100.0", f"{100 + number * 1e-12:.12f}"), x)]


def _post(program: Any, x: Array) -> bytes:
    return http_request("/v1/gradient", to_json({"program": program, "variables": {"x": x}}))


def _read_json(bodies: Sequence[bytes]) -> tuple[Any, Any]:
    document = orjson.loads(bodies[0])
    return document["value"], document["gradients"]["x"]


def _write_messagepack(x: Array) -> Question:
    body = to_messagepack({"program": ROSENBROCK, "variables": {"x": x}})
    return [http_request("/v1/gradient", body, media_type=MESSAGEPACK)]


def _read_messagepack(bodies: Sequence[bytes]) -> tuple[Any, Any]:
    document = unpack(bodies[0])
    return from_leaf(document["value"]), from_leaf(document["gradients"]["x"])


def _write_octets(x: Array) -> Question:
    return [http_request("/v1/gradient/octets", x.tobytes(), media_type=_OCTETS)]


def _read_octets(bodies: Sequence[bytes]) -> tuple[Any, Any]:
    numbers = np.frombuffer(bodies[0])
    return numbers[0], numbers[1:]


#: The program as text, numbers as lists; the bare endpoint also accepts this.
LISTS = in_json(ROSENBROCK)
#: Numbers as raw bytes in both directions.
BINARY = Form(_write_messagepack, _read_messagepack)
#: For the bare endpoint: only numbers; the reply has the value, then the gradient.
OCTETS = Form(_write_octets, _read_octets)


def registered(server: Server, text: str) -> dict[str, str]:
    """Register a program and return its reference."""
    (body,) = ask(server, [http_request("/v1/programs", to_json({"program": text}))])
    return {"ref": orjson.loads(body)["id"]}


def stored(server: Server, array: Array) -> dict[str, str]:
    """Store a tensor and return its reference."""
    file = BytesIO()
    np.save(file, array)
    request = http_request(
        "/v1/tensors", file.getvalue(), method="PUT", media_type="application/x-npy"
    )
    (body,) = ask(server, [request])
    return {"ref": orjson.loads(body)["ref"]}
