"""Tapes over HTTP: expiry, owners and replays."""

import asyncio
import re

import numpy as np
import pytest
from gradwire_service import openapi
from pydantic import TypeAdapter

from tests.clock import Clock

PROGRAM = {"program": "h = x * w\ny = sum(h**2)", "variables": {"x": [1.0, 2.0], "w": 3.0}}


async def record(client, **fields):
    document = {**PROGRAM, **fields}
    TypeAdapter(openapi.TapeRequest).validate_python(document)
    response = await client.post("/v1/tapes", json=document)
    assert response.status_code == 201, response.text
    TypeAdapter(openapi.TapeResponse).validate_json(response.content)
    return f"/v1/tapes/{response.json()['tape']}"


async def gradient(client, tape, status=200, **fields):
    response = await client.post(f"{tape}/gradient", json=fields)
    assert response.status_code == status, response.text
    return response


def metric(text, name):
    return float(re.findall(rf"^{re.escape(name)} (.+)$", text, re.MULTILINE)[0])


def shared(tmp_path):
    """Settings for processes that share a store."""
    return {"store": f"sqlite:{tmp_path / 'tapes.db'}"}


@pytest.mark.thorough
async def test_tokens_are_unguessable(client):
    tokens = set()
    for _ in range(100):
        tape = await record(client)
        tokens.add(tape.removeprefix("/v1/tapes/"))
        assert (await client.delete(tape)).status_code == 204
    assert len(tokens) == 100
    assert all(len(token) >= 32 for token in tokens)


async def test_a_new_tape_has_a_location(client):
    made = await client.post("/v1/tapes", json=PROGRAM)
    assert made.headers["location"] == f"/v1/tapes/{made.json()['tape']}"
    assert (await client.get(made.headers["location"])).status_code == 200


async def test_a_loop_is_shown_with_its_body(client):
    text = "y = x\nwhile sum(y) < 50:\n  y = y * w\nsum(y)"
    tape = await record(client, program=text)
    shown = TypeAdapter(openapi.TapeDocument).validate_json((await client.get(tape)).content)
    (loop,) = [row for row in shown.instructions if row.op == "loop"]
    assert loop.body is not None
    assert {row.op for row in loop.body} == {"input", "constant", "sum", "less", "multiply"}
    assert {row.node.line for row in loop.body if row.op == "multiply"} == {3}
    assert all(row.body is None for row in shown.instructions if row.op != "loop")


async def test_a_tape_is_described(client):
    tape = await record(client, persistent=True)
    response = await client.get(tape)
    shown = TypeAdapter(openapi.TapeDocument).validate_json(response.content)
    assert [row.op for row in shown.instructions] == [
        "input",
        "input",
        "multiply",
        "constant",
        "power",
        "sum",
    ]
    assert [row.node.id for row in shown.instructions][:3] == ["x", "w", "h"]
    assert shown.length == 6
    assert shown.memory_bytes == 8 * (2 + 1 + 2 + 2 + 1)
    assert shown.watched == ["x", "w"]


async def test_unknown_expired_and_deleted_tapes_look_the_same(tmp_path, served):
    now = Clock()
    async with served(**shared(tmp_path), now=now, tape_ttl_seconds=600) as client:
        expired, deleted = await record(client), await record(client)
        assert (await client.delete(deleted)).status_code == 204
        now.advance(601)
        seen = set()
        for tape in expired, deleted, "/v1/tapes/never", "/v1/tapes/%00":
            for method, path in ("POST", f"{tape}/gradient"), ("GET", tape), ("DELETE", tape):
                response = await client.request(method, path, json={} if method == "POST" else None)
                document = response.json()
                assert document.pop("instance")
                seen.add((response.status_code, str(document)))
        assert len(seen) == 1
        assert "unknown_tape" in seen.pop()[1]


async def test_only_one_of_many_concurrent_requests_consumes_a_tape(client):
    tape = await record(client)
    asked = [client.post(f"{tape}/gradient", json={}) for _ in range(8)]
    statuses = sorted([response.status_code for response in await asyncio.gather(*asked)])
    assert statuses == [200] + [409] * 7


async def test_any_process_that_shares_the_store_can_answer(tmp_path, served):
    async with served(**shared(tmp_path)) as one, served(**shared(tmp_path)) as other:
        tape = await record(one, persistent=True, watch=["h"])
        answers = [
            (await gradient(client, tape, sources=["x", "h"])).json() for client in (one, other)
        ]
        assert answers[0] == answers[1]
        text = (await other.get("/metrics")).text
        assert metric(text, 'gradwire_tape_values_total{outcome="remade"}') == 1
        await gradient(other, tape)
        text = (await other.get("/metrics")).text
        assert metric(text, 'gradwire_tape_values_total{outcome="kept"}') == 1
        once = await record(one)
        await gradient(other, once)
        await gradient(one, once, 409)
        await other.delete(tape)
        await gradient(one, tape, 404)


async def test_a_tape_rebuilt_by_another_process_is_cached_there(tmp_path, served):
    async with served(**shared(tmp_path)) as one, served(**shared(tmp_path)) as other:
        tape = await record(one, persistent=True)
        await other.get(tape)
        await gradient(other, tape)
        text = (await other.get("/metrics")).text
        assert metric(text, 'gradwire_tape_values_total{outcome="kept"}') == 1


@pytest.mark.parametrize("size", [1, 10_000])
async def test_short_requests_do_not_wait_for_an_endless_program(size, served):
    async with served(cores=1) as client:
        tape = await record(client)
        endless = {"program": "while True: pass\nx", "variables": {"x": 1.0}}
        running = asyncio.create_task(client.post("/v1/evaluate", json=endless))
        queued = 0.0
        while not queued:
            queued = metric((await client.get("/metrics")).text, "gradwire_queued")
        large = {**PROGRAM, "variables": {"x": [0.5] * size, "w": 1.0}}
        asked = client.post(tape + "/gradient", json={}), client.post("/v1/tapes", json=large)
        assert [answer.status_code for answer in await asyncio.gather(*asked)] == [200, 201]
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_second_and_later_gradients_skip_the_forward_pass(new_client):
    rng = np.random.default_rng(0)
    program = "h = x\nfor i in range(20):\n    h = tanh(h @ w)\nk = sum(h)\ny = k * c"
    variables = {"x": rng.normal(size=(300, 300)).tolist(), "c": 2.0}
    variables["w"] = (rng.normal(size=(300, 300)) / 17).tolist()
    response = await new_client.post(
        "/v1/tapes", json={"program": program, "variables": variables, "persistent": True}
    )
    forward = replay_ms(response)
    tape = f"/v1/tapes/{response.json()['tape']}"
    later = [replay_ms(await gradient(new_client, tape, sources="c")) for _ in range(5)]
    assert min(later) < forward / 4
    text = (await new_client.get("/metrics")).text
    assert metric(text, 'gradwire_tape_values_total{outcome="kept"}') == 5


def replay_ms(response):
    return float(re.findall(r"replay;dur=([\d.]+)", response.headers["server-timing"])[0])


async def test_values_that_are_not_cached_are_recomputed(served):
    async with served(tape_values_bytes=0) as client:
        tape = await record(client, persistent=True)
        for _ in range(2):
            assert (await gradient(client, tape, sources="w")).json()["gradients"] == 30.0
        text = (await client.get("/metrics")).text
        assert metric(text, 'gradwire_tape_values_total{outcome="remade"}') == 2


async def test_nonfinite_responses_are_counted(new_client):
    tape = await record(new_client, program="sqrt(x)", variables={"x": 0.0})
    assert "backward" in (await gradient(new_client, tape)).json()["nonfinite"]
    text = (await new_client.get("/metrics")).text
    assert metric(text, 'gradwire_nonfinite_total{direction="backward"}') == 1


async def test_tapes_are_limited_in_number_and_bytes(served):
    async with served(max_tapes=2) as client:
        kept = [await record(client) for _ in range(2)]
        await refused(client)
        await gradient(client, kept[0])
        await record(client)
    async with served(max_tapes_bytes=10) as client:
        await refused(client)


async def refused(client):
    response = await client.post("/v1/tapes", json=PROGRAM)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (413, "over_budget")
    assert "expire" in problem["hint"]


async def test_each_owner_has_a_quota_and_sees_only_its_own_tapes(tmp_path, served):
    async with served(**shared(tmp_path), max_tapes_per_tenant=1) as client:
        tapes = {}
        for key in "one", "two", None:
            client.headers.pop("authorization", None)
            if key is not None:
                client.headers["authorization"] = f"Bearer {key}"
            tapes[key] = await record(client)
            await refused(client)
        for key in "one", "two":
            problem = (await gradient(client, tapes[key], 404)).json()
            unknown = (await gradient(client, "/v1/tapes/never", 404)).json()
            assert problem.pop("instance") != unknown.pop("instance")
            assert problem == unknown
            assert (await client.delete(tapes[key])).status_code == 404
        await gradient(client, tapes[None])
        client.headers["authorization"] = "Bearer one"
        await gradient(client, tapes["one"])
        await gradient(client, tapes["one"], 409)
        await gradient(client, tapes[None], 404)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"persistent": 1}, "/persistent"),
        ({"watch_accessed_variables": "no"}, "/watch_accessed_variables"),
        ({"sources": "x"}, "/sources"),
        ({"variables": []}, "/variables"),
        ({"program": None}, "/program"),
    ],
)
async def test_invalid_fields_are_refused_with_their_place(client, fields, pointer):
    response = await client.post("/v1/tapes", json={**PROGRAM, **fields})
    assert (response.status_code, response.json()["pointer"]) == (422, pointer)


@pytest.mark.parametrize("field", ["program", "variables", "promotion", "exact", "persistent"])
async def test_fields_fixed_by_the_recording_are_refused(client, field):
    tape = await record(client)
    response = await client.post(f"{tape}/gradient", json={field: None})
    assert (response.status_code, response.json()["pointer"]) == (422, f"/{field}")


async def test_exact_tapes_equal_numpy_bit_for_bit(client):
    for x in np.linspace(0.1, 2, 12):
        point = {"program": "sum(tanh(x) * 1.0)", "variables": {"x": x}, "exact": True}
        slope = float(1 - np.tanh(x) * np.tanh(x))
        for _ in range(3):
            tape = await record(client, persistent=True, **point)
            answers = [(await gradient(client, tape)).json() for _ in range(2)]
            assert [answer["value"] for answer in answers] == [float(np.tanh(x))] * 2
            assert [answer["gradients"]["x"] for answer in answers] == [slope] * 2


async def test_an_endless_program_makes_no_tape(client):
    endless = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 200}
    response = await client.post("/v1/tapes", json=endless)
    assert response.json()["code"] == "deadline_exceeded"


async def test_arrays_may_be_base64(client):
    tape = await record(client)
    answer = (await gradient(client, tape, sources="x", encoding="base64")).json()
    assert answer["gradients"]["dtype"] == "float64"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("gradient", {"target": "y", "sources": {"h": "h", "w": "w"}}),
        ("jacobian", {"target": "h", "sources": ["x", "w"], "mode": "forward"}),
        ("jacobian", {"target": "h", "sources": "x", "format": "coo"}),
        ("hessian", {"target": "y", "sources": ["x", "w"]}),
        ("jvp", {"target": "h", "tangents": {"x": [1.0, -1.0]}}),
        ("hvp", {"vectors": {"x": [1.0, -1.0], "w": 2.0}, "outputs": {"h": "h"}}),
        ("check", {"sources": ["x"], "rtol": 1e-3}),
        (
            "gradient",
            {"target": "h", "output_gradients": [[1, 0], [0, 2]], "batch": ["output_gradients"]},
        ),
        ("jvp", {"tangents": {"x": [[1, 2, 3], [4, 5, 6]]}, "batch": {"tangents.x": 1}}),
    ],
)
async def test_a_tape_answers_as_the_stateless_request_does(client, kind, fields):
    tape = await record(client, persistent=True)
    TypeAdapter(openapi.TAPE_REQUESTS[kind]).validate_python(fields)
    found = await client.post(f"{tape}/{kind}", json=fields)
    assert found.status_code == 200, found.text
    expected = await client.post(f"/v1/{kind}", json={**PROGRAM, **fields})
    assert found.json() == expected.json()
    TypeAdapter(openapi.RESPONSES[kind]).validate_json(found.content)


async def test_a_tape_has_no_batch(client):
    tape = await record(client)
    for kind, fields in ("gradient", {}), ("jacobian", {}), ("hvp", {"vectors": {"x": [1.0, 2.0]}}):
        response = await client.post(f"{tape}/{kind}", json={"batch": ["x"], **fields})
        problem = response.json()
        assert (problem["code"], problem["pointer"]) == ("invalid_request", "/batch")


async def test_one_jacobian_consumes_a_tape(client):
    tape = await record(client)
    assert (await client.post(f"{tape}/jacobian", json={"target": "h"})).status_code == 200
    response = await client.post(f"{tape}/hessian", json={"target": "y"})
    assert (response.status_code, response.json()["code"]) == (409, "tape_consumed")


async def test_a_request_may_be_retried_with_its_idempotency_key(client):
    """As a load balancer does when a replica is lost before it answers."""
    tape = await record(client)
    first = await asked(client, tape, "one")
    assert first.json()["gradients"] == {"x": [18.0, 36.0], "w": 30.0}
    again = await asked(client, tape, "one")
    assert again.json() == first.json()
    for key, fields in ("two", {}), ("one", {"sources": ["x"]}), (None, {}):
        refused = await asked(client, tape, key, status=409, **fields)
        assert refused.json()["code"] == "tape_consumed"
    assert (await client.get(tape)).status_code == 409


async def test_an_idempotency_key_belongs_to_one_kind_of_request(client):
    tape = await record(client)
    await asked(client, tape, "one", kind="gradient", target="y")
    await asked(client, tape, "one", 409, kind="hessian", target="y")


async def test_another_process_can_answer_a_retry(served, tmp_path):
    async with served(**shared(tmp_path)) as first, served(**shared(tmp_path)) as second:
        tape = await record(first)
        answered = await asked(first, tape, "one")
        assert (await asked(second, tape, "one")).json() == answered.json()
        await asked(second, tape, "two", status=409)


async def test_a_persistent_tape_needs_no_idempotency_key(client):
    tape = await record(client, persistent=True)
    answers = [await asked(client, tape, key) for key in ("one", "two", None)]
    assert len({answer.text for answer in answers}) == 1


async def test_recording_twice_makes_two_tapes(client):
    """A retried request leaves a tape that no client knows, which expires."""
    headers = {"idempotency-key": "one"}
    made = [await client.post("/v1/tapes", json=PROGRAM, headers=headers) for _ in range(2)]
    assert [response.status_code for response in made] == [201, 201]
    assert made[0].json()["tape"] != made[1].json()["tape"]
    assert made[0].json()["outputs"] == made[1].json()["outputs"]


async def asked(client, tape, key, status=200, kind="gradient", **fields):
    headers = {} if key is None else {"idempotency-key": key}
    response = await client.post(f"{tape}/{kind}", json=fields, headers=headers)
    assert response.status_code == status, response.text
    return response
