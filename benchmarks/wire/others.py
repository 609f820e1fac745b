"""Other services that compute gradients over HTTP; missing ones are skipped.

A UM-Bridge model uses lists; a Tesseract has a schema, and arrays in base64 on request. Both use
the handwritten gradient here, need a second request for it after that for the value, and are
served by their own packages.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from statistics import median
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
from measure import Figures, shown, table
from peers.by_hand import Array
from peers.interpreters import environment, installed, interpreter
from servers import BARE, GRADWIRE, JSON, Server, http_request, running

from wire.forms import BINARY, LISTS, to_json
from wire.loads import CONNECTIONS, Form, Load, Question, alternate, load
from wire.sizes import points

PEERS = ("umbridge", "tesseract_core")

_API = Path(__file__).parents[1] / "peers" / "tesseract_api.py"
_BASE64 = "application/json+base64"


def report(*, quick: bool) -> list[str]:
    """Tables with one column per service and form."""
    missing = [module for module in PEERS if not installed(module)]
    small: dict[str, Load] = {}
    large: dict[str, Load] = {}
    with ExitStack() as stack:
        for name in [name for name in FORMS if name not in missing]:
            server = stack.enter_context(SERVERS[name]())
            for what, form in FORMS[name].items():
                small[what] = load(server, form, points(10, 16), 50, 160)
                large[what] = load(server, form, points(100_000, 2), 2)
        for loads in (small, large):
            alternate(3 if quick else 15, *loads.values())
    title = "Value and gradient of Rosenbrock's function by other services, one worker each"
    skipped = f"; not installed: {', '.join(missing)}" if missing else ""
    rows = [
        _row("10 numbers: median latency, us", small, lambda load: load.p50_us),
        _row("10 numbers: CPU of the server, us", small, lambda load: load.cpu_us),
        _row(f"10 numbers: {CONNECTIONS} connections, /s", small, lambda load: load.per_second),
        _row("100,000 numbers: median latency, us", large, lambda load: load.p50_us),
        _row("100,000 numbers: CPU of the server, us", large, lambda load: load.cpu_us),
    ]
    return [table(title + skipped, ["", *small], rows)]


def _row(what: str, loads: Mapping[str, Load], figures: Callable[[Load], Figures]) -> list[str]:
    return [what, *[shown(median(figures(load))) for load in loads.values()]]


def _umbridge() -> AbstractContextManager[Server]:
    model = ("-m", "peers.umbridge_model")
    return running(model, python=interpreter("umbridge"), environment=environment(), log=DEVNULL)


@contextmanager
def _tesseract() -> Iterator[Server]:
    serve = ("-m", "tesseract_core.runtime", "serve", "--port")
    python = interpreter("tesseract_core")
    with TemporaryDirectory() as logs:
        around = environment(TESSERACT_API_PATH=str(_API), TESSERACT_OUTPUT_PATH=logs)
        with running(serve, python=python, environment=around, log=DEVNULL) as server:
            yield server


def _write_umbridge(x: Array) -> Question:
    asked = {"name": "rosenbrock", "input": [x], "config": {"size": len(x)}}
    seed = {"outWrt": 0, "inWrt": 0, "sens": [1.0]}
    return [
        http_request("/Evaluate", to_json(asked)),
        http_request("/Gradient", to_json({**asked, **seed})),
    ]


def _read_umbridge(bodies: Sequence[bytes]) -> tuple[Any, Any]:
    value, gradient = [orjson.loads(body)["output"] for body in bodies]
    return value[0][0], gradient


def _tesseract_form(encode: Callable[[Array], Any], media_type: str) -> Form:
    def write(x: Array) -> Question:
        asked = {"inputs": {"x": encode(x)}}
        seed = {"vjp_inputs": ["x"], "vjp_outputs": ["value"], "cotangent_vector": {"value": 1.0}}
        return [
            http_request("/apply", to_json(asked), accept=media_type),
            http_request("/vector_jacobian_product", to_json({**asked, **seed}), accept=media_type),
        ]

    def read(bodies: Sequence[bytes]) -> tuple[Any, Any]:
        value, gradient = [orjson.loads(body) for body in bodies]
        return _decoded(value["value"]), _decoded(gradient["x"])

    return Form(write, read)


def _encoded(x: Array) -> dict[str, Any]:
    text = base64.b64encode(x.tobytes()).decode()
    array = {"object_type": "array", "shape": x.shape, "dtype": str(x.dtype)}
    return {**array, "data": {"buffer": text, "encoding": "base64"}}


def _decoded(array: Any) -> Array:
    written = array["data"]["buffer"]
    if array["data"]["encoding"] == "json":
        return np.array(written)
    return np.frombuffer(base64.b64decode(written), array["dtype"]).reshape(array["shape"])


SERVERS: dict[str, Callable[[], AbstractContextManager[Server]]] = {
    "gradwire": lambda: running(GRADWIRE),
    "bare": lambda: running(BARE),
    "umbridge": _umbridge,
    "tesseract_core": _tesseract,
}
FORMS = {
    "gradwire": {"gradwire": LISTS, "gradwire, MessagePack": BINARY},
    "bare": {"bare": LISTS},
    "umbridge": {"UM-Bridge": Form(_write_umbridge, _read_umbridge)},
    "tesseract_core": {
        "Tesseract": _tesseract_form(lambda x: x, JSON),
        "Tesseract, base64": _tesseract_form(_encoded, _BASE64),
    },
}
