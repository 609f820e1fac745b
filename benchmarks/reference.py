"""A minimal gradient service for comparison: Rosenbrock's gradient by hand behind a route.

``python reference.py 8001`` serves it as ``gradwire-server serve`` would.
"""

from __future__ import annotations

import sys
from typing import TypeAlias

import numpy as np
import orjson
import uvicorn
from numpy.typing import NDArray
from peers.by_hand import rosenbrock
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Array: TypeAlias = NDArray[np.float64]


async def answer(request: Request) -> Response:
    """Read the variables, ignore the program; write value and gradient."""
    document = orjson.loads(await request.body())
    value, gradient = rosenbrock(np.array(document["variables"]["x"], np.float64))
    body = {"value": value, "gradients": {"x": gradient}}
    return Response(
        orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json"
    )


async def answer_octets(request: Request) -> Response:
    """Read only raw float64 numbers; write the value, then the gradient."""
    value, gradient = rosenbrock(np.frombuffer(await request.body(), np.float64))
    return Response(b"".join([value, gradient.data]), media_type="application/octet-stream")


def serve(port: int) -> None:
    """Serve with the same uvicorn options as Gradwire."""
    routes = [
        Route("/v1/gradient", answer, methods=["POST"]),
        Route("/v1/gradient/octets", answer_octets, methods=["POST"]),
    ]
    uvicorn.run(
        Starlette(routes=routes),
        host="127.0.0.1",
        port=port,
        workers=1,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=75,
        ws="none",
    )


if __name__ == "__main__":
    serve(int(sys.argv[1]))
