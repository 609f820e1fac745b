"""The compute routes, from bytes to bytes."""

import asyncio
import re
import threading
from time import perf_counter

import httpx
import numpy as np
import pytest
from gradwire_service.app import create_app
from gradwire_service.settings import Settings
from gradwire_service.wire.codec import JsonCodec


async def ask(client, path="/v1/gradient", **request):
    response = await client.post(path, json=request)
    assert response.status_code == 200, response.text
    return response.json()


async def test_gradient_response(client):
    answer = await ask(client, program="x * y + sin(x)", variables={"x": 2.0, "y": [1.0, 3.0]})
    assert set(answer) == {"value", "gradients", "program"}
    np.testing.assert_allclose(answer["value"], 2 * np.array([1, 3]) + np.sin(2))
    np.testing.assert_allclose(answer["gradients"]["x"], 4 + 2 * np.cos(2))
    assert answer["gradients"]["y"] == [2.0, 2.0]
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", answer["program"])


async def test_evaluate_response(client):
    program = "a = x + 1\nb = a * 2"
    answer = await ask(client, "/v1/evaluate", program=program, variables={"x": 1})
    assert set(answer) == {"outputs", "program"}
    assert answer["outputs"] == 4.0
    nested = {"first": ["a"], "second": {"b": "b"}}
    answer = await ask(client, "/v1/evaluate", program=program, variables={"x": 1}, outputs=nested)
    assert answer["outputs"] == {"first": [2.0], "second": {"b": 4.0}}


async def test_gradients_have_the_structure_of_the_sources(client):
    variables = {"layers": [{"w": [1.0, 2.0], "b": 0.5}], "n": {"value": 3, "dtype": "int64"}}
    program = "h = layers[0].w * 2 + layers[0].b\ny = sum(h * n)"
    answer = await ask(client, program=program, variables=variables)
    assert answer["gradients"] == {"layers": [{"w": [6.0, 6.0], "b": 6.0}], "n": None}
    assert answer["unconnected"]["n"]["reason"] == "integer_dtype"
    sources = {"all": ["layers.0.w", None, {"h": "h"}], "one": "layers.0.b"}
    answer = await ask(client, program=program, variables=variables, sources=sources)
    assert answer["gradients"] == {"all": [[6.0, 6.0], None, {"h": [3.0, 3.0]}], "one": 6.0}
    assert "unconnected" not in answer
    answer = await ask(client, program=program, variables=variables, sources="layers.0.b")
    assert answer["gradients"] == 6.0


async def test_dotted_names_are_nested_variables(client):
    answer = await ask(
        client,
        program="sum(layers[0].w * layers[0].value)",
        variables={"layers.0.w": [1.0, 2.0], "layers.0.value": 3.0},
        sources=["layers.0.w", "layers.0.value"],
    )
    assert answer["gradients"] == [[3.0, 3.0], 3.0]


async def test_unconnected_gradients_have_a_reason(client):
    request = {
        "program": "x * stop_gradient(z)",
        "variables": {
            "x": 1.0,
            "y": [1.0, 2.0],
            "z": 2.0,
            "c": {"value": 1.0, "trainable": False},
            "s": "a word",
        },
    }
    answer = await ask(client, **request)
    assert answer["gradients"] == {"x": 2.0, "y": None, "z": None, "c": None, "s": None}
    reasons = {path: why["reason"] for path, why in answer["unconnected"].items()}
    assert reasons == {
        "y": "no_path",
        "z": "stop_gradient",
        "c": "not_trainable",
        "s": "string_dtype",
    }
    answer = await ask(client, **request, unconnected_gradients="zero")
    assert answer["gradients"] == {"x": 2.0, "y": [0.0, 0.0], "z": 0.0, "c": 0.0, "s": None}


async def test_output_gradients_and_targets_may_be_given(client):
    request = {"program": "a = x * x\nb = 3 * x", "variables": {"x": [1.0, 2.0]}}
    answer = await ask(client, **request, target="a", output_gradients=[1, 10])
    assert answer["gradients"]["x"] == [2.0, 40.0]
    nested = {"target": {"a": "a", "b": ["b"]}, "output_gradients": {"a": None, "b": [[5, 0]]}}
    answer = await ask(client, **request, **nested)
    assert answer["value"] == {"a": [1.0, 4.0], "b": [[3.0, 6.0]]}
    assert answer["gradients"]["x"] == [2.0 + 15.0, 4.0]


async def test_gradient_may_return_further_outputs(client):
    request = {"program": "a = x * x\nb = 3 * a", "variables": {"x": 2.0}}
    answer = await ask(client, **request, outputs=["a", "b"])
    assert answer["outputs"] == [4.0, 12.0]
    assert answer["gradients"] == {"x": 12.0}


async def test_assigned_variables_are_returned_as_updates(client):
    program = "y = w * x\nw.assign_sub(0.5)\ny"
    answer = await ask(client, program=program, variables={"w": 2.0, "x": 3.0})
    assert answer["updates"] == {"w": 1.5}
    assert answer["gradients"] == {"w": 3.0, "x": 2.0}


async def test_nonfinite_values_are_reported_with_operation_and_line(client):
    answer = await ask(client, program="a = x + 1\ny = log(a)", variables={"x": -1.0})
    assert answer["value"] == "-Infinity"
    assert answer["gradients"] == {"x": "Infinity"}
    assert answer["nonfinite"]["forward"]["op"] == "log"
    assert answer["nonfinite"]["forward"]["line"] == 2


async def test_arrays_may_be_base64(client):
    variables = {"x": {"dtype": "float32", "shape": [2], "base64": "AACAPwAAAEA="}}
    answer = await ask(client, program="x * x", variables=variables, encoding="base64")
    assert answer["value"] == {"dtype": "float32", "shape": [2], "base64": "AACAPwAAgEA="}
    assert answer["gradients"]["x"] == {"dtype": "float32", "shape": [2], "base64": "AAAAQAAAgEA="}


async def test_dtypes_are_kept(client):
    for dtype in "float16", "float32", "complex64":
        variables = {"x": {"value": [0.1, 0.2], "dtype": dtype}}
        answer = await ask(client, program="x + 0", variables=variables, encoding="base64")
        assert answer["gradients"]["x"]["dtype"] == dtype


@pytest.mark.parametrize("count", [1, 3000, 100_000])
@pytest.mark.parametrize("path", ["evaluate", "gradient", "explain", "tapes", "minimize"])
async def test_the_times_add_up_to_the_total(client, path, count):
    request = {"program": "sum((x - 1)**2)", "variables": {"x": [0.5] * count}}
    start = perf_counter()
    response = await client.post(f"/v1/{path}", json=request)
    elapsed = 1e3 * (perf_counter() - start)
    assert response.status_code < 300, response.text
    found = re.findall(r"(\w+);dur=([\d.]+)", response.headers["server-timing"])
    times = {name: float(number) for name, number in found}
    total = times.pop("total")
    assert sum(times.values()) == pytest.approx(total, abs=0.01)
    assert total <= elapsed


async def test_the_phases_are_timed(client):
    response = await client.post("/v1/evaluate", json={"program": "1 + 1"})
    names = "parse compile replay encode queue other total".split()
    pattern = ", ".join(rf"{name};dur=\d+\.\d+" for name in names)
    assert re.fullmatch(pattern, response.headers["server-timing"])
    assert response.headers["content-type"] == "application/json"


async def test_responses_are_the_same_from_event_loop_and_thread(client):
    values = np.random.default_rng(7).normal(size=20_000)
    for size in 10, 20_000:
        request = {"program": "sum(x * x)", "variables": {"x": values[:size].tolist()}}
        first = await ask(client, **request)
        assert await ask(client, **request) == first
        assert first["gradients"]["x"] == (2 * values[:size]).tolist()


async def gone(request):
    """Disconnect before the response."""
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)


ENDLESS = {"program": "while True: pass\nx", "variables": {"x": 1.0}}


async def test_endless_programs_time_out_and_do_not_block_health_checks(client):
    endless = [asyncio.create_task(client.post("/v1/gradient", json=ENDLESS)) for _ in range(2)]
    late = await client.post("/v1/gradient", json={**ENDLESS, "timeout_ms": 100})
    assert (late.status_code, late.json()["code"]) == (504, "deadline_exceeded")
    for _ in range(4):
        assert (await client.get("/healthz")).status_code == 200
        await asyncio.sleep(0.02)
    assert not any(task.done() for task in endless)
    for task in endless:
        await gone(task)


async def test_a_loop_that_grows_longer_than_predicted_leaves_the_event_loop(client):
    program = "y = x\nwhile y < n: y = y + 1.0\ny"
    short = {"program": program, "variables": {"x": 0.0, "n": 3.0}}
    for _ in range(2):
        assert (await ask(client, **short))["value"] == 3.0
    long = {"program": program, "variables": {"x": 0.0, "n": 1e12}}
    running = asyncio.create_task(client.post("/v1/gradient", json=long))
    for _ in range(4):
        assert (await client.get("/healthz")).status_code == 200
        await asyncio.sleep(0.02)
    assert not running.done()
    await gone(running)
    assert (await ask(client, **short))["value"] == 3.0


async def test_a_full_queue_refuses_requests():
    app = create_app(Settings(cores=1, queue_requests=0, max_timeout_ms=3_600_000))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://service"
    ) as client:
        request = {**ENDLESS, "timeout_ms": 3_600_000}
        first = asyncio.create_task(client.post("/v1/gradient", json=request))
        while not app.state.capacity.queue.load.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        refused = await client.post("/v1/gradient", json=request)
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert int(refused.headers["retry-after"]) >= 1
        await gone(first)
    app.state.executors.shut()


async def test_timeouts_are_limited_to_the_maximum():
    app = create_app(Settings(default_timeout_ms=100, max_timeout_ms=200))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://service"
    ) as client:
        for asked, allowed in ((None, "100 ms"), (10**9, "200 ms")):
            response = await client.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": asked})
            assert response.status_code == 504
            assert allowed in response.json()["detail"]
    app.state.executors.shut()


@pytest.mark.parametrize("path", ["/v1/evaluate", "/v1/gradient"])
async def test_a_disconnected_client_leaves_nothing_in_flight(app, path):
    sent = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "root_path": ""}
    await app(scope, receive, send)
    assert not sent
    assert app.state.capacity.in_flight == 0


async def test_jacobian_response(client):
    program = "stack([r * cos(a), r * sin(a)])"
    variables = {"r": 2.0, "a": 0.5}
    answer = await ask(client, "/v1/jacobian", program=program, variables=variables)
    assert set(answer) == {"value", "jacobian", "program"}
    np.testing.assert_allclose(answer["jacobian"]["r"], [np.cos(0.5), np.sin(0.5)])
    np.testing.assert_allclose(answer["jacobian"]["a"], [-2 * np.sin(0.5), 2 * np.cos(0.5)])
    for mode in ("forward", "reverse"):
        same = await ask(client, "/v1/jacobian", program=program, variables=variables, mode=mode)
        assert same == answer


async def test_hessian_response(client):
    program, variables = "(1 - x)**2 + 100 * (y - x**2)**2", {"x": -1.2, "y": 1.0}
    answer = await ask(client, "/v1/hessian", program=program, variables=variables)
    assert set(answer) == {"value", "gradients", "hessian", "program"}
    expected = {"x": {"x": 2 - 400 + 1200 * 1.44, "y": 480}, "y": {"x": 480, "y": 200}}
    assert answer["hessian"] == {row: pytest.approx(expected[row]) for row in expected}


async def test_products_follow_the_structure_of_their_vectors(client):
    program = "h = layer.w**3 * x\ny = sum(h) * z"
    variables = {"layer": {"w": [1.0, 2.0]}, "x": 2.0, "z": [1.0]}
    tangents = {"layer": {"w": [1.0, 10.0]}, "z": [0.5]}
    answer = await ask(
        client, "/v1/jvp", program=program, variables=variables, tangents=tangents, target=["h"]
    )
    assert answer["jvp"] == [[6.0, 240.0]]
    assert answer["unconnected"]["z"]["reason"] == "no_path"
    answer = await ask(client, "/v1/hvp", program=program, variables=variables, vectors=tangents)
    assert answer["gradients"] == {"layer": {"w": [6.0, 24.0]}, "z": [18.0]}
    assert answer["hvp"] == {"layer": {"w": [12 + 3.0, 240 + 12.0]}, "z": [246.0]}


@pytest.mark.parametrize(
    ("path", "request_", "pointer"),
    [
        ("/v1/jvp", {}, "/tangents"),
        ("/v1/hvp", {"vectors": [1.0]}, "/vectors"),
        ("/v1/hvp", {"vectors": {"x": "one"}}, "/vectors/x"),
        ("/v1/jvp", {"tangents": {"x": [1.0, 2.0]}}, "/tangents"),
        ("/v1/jvp", {"tangents": {"nothing": 1.0}}, "/tangents/nothing"),
        ("/v1/jacobian", {"mode": "sideways"}, "/mode"),
        ("/v1/jacobian", {"target": ["x", "y"]}, "/target"),
        ("/v1/gradient", {"mode": "forward"}, "/mode"),
    ],
)
async def test_invalid_vectors_are_refused_with_their_place(client, path, request_, pointer):
    asked = {"program": "y = x*x", "variables": {"x": 3.0}, **request_}
    response = await client.post(path, json=asked)
    assert response.status_code in (400, 422), response.text
    assert response.json()["pointer"] == pointer


async def test_every_route_accepts_a_batch(client):
    program = "y = w * x**2 if x > 0 else x"
    asked = {"program": program, "variables": {"x": [1, -2, 3], "w": 2}, "batch": ["x"]}
    answer = await ask(client, "/v1/evaluate", **asked)
    assert answer["outputs"] == [2.0, -2.0, 18.0]
    answer = await ask(client, "/v1/gradient", **asked)
    assert answer["gradients"] == {"x": [4.0, 1.0, 12.0], "w": [1.0, 0.0, 9.0]}
    answer = await ask(client, "/v1/jacobian", **asked, sources="x")
    assert answer["jacobian"] == [4.0, 1.0, 12.0]
    answer = await ask(client, "/v1/hessian", **asked, sources="x", target="y")
    assert answer["hessian"] == [4.0, 0.0, 4.0]
    answer = await ask(client, "/v1/jvp", **asked, tangents={"w": 1})
    assert answer["jvp"] == [1.0, 0.0, 9.0]
    answer = await ask(client, "/v1/hvp", **asked, vectors={"x": 1})
    assert answer["hvp"] == {"x": [4.0, 0.0, 4.0]}


async def test_a_batch_may_be_along_another_axis(client):
    variables = {"p": {"x": [[1, 2, 3], [4, 5, 6]]}}
    answer = await ask(
        client, "/v1/evaluate", program="sum(p.x)", variables=variables, batch={"p.x": -1}
    )
    assert answer["outputs"] == [5.0, 7.0, 9.0]


async def test_exact_results_equal_numpys_bit_for_bit_every_time(client):
    for x in np.linspace(0.1, 2, 12):
        asked = {"program": "tanh(x)", "variables": {"x": x}, "exact": True}
        answers = [await ask(client, "/v1/evaluate", **asked) for _ in range(3)]
        assert [answer["outputs"] for answer in answers] == [float(np.tanh(x))] * 3


async def test_large_responses_are_serialized_in_a_thread(served, monkeypatch):
    """Even if the replay is short: here most of it is cached for a tensor."""
    written = []

    write = JsonCodec.write

    def recorded(codec, document, encoding):
        written.append(threading.current_thread().name)
        return write(codec, document, encoding)

    monkeypatch.setattr(JsonCodec, "write", recorded)
    async with served(inline_body_bytes=8000) as client:
        ref = (await client.put("/v1/tensors", json=[0.5] * 2000)).json()["ref"]
        written.clear()
        for program in "x * 2.0", "sum(x * 2.0)":
            request = {"program": program, "variables": {"x": {"ref": ref}}}
            for _ in range(5):
                response = await client.post("/v1/evaluate", json=request)
                assert response.status_code == 200
    assert {name.startswith("gradwire") for name in written[:5]} == {True}
    assert "MainThread" in written[5:]
