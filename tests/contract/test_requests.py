"""The request that is printed where a test of the engine fails asks a service the same."""

import httpx
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query

from tests.engine.requests import LastRequest
from tests.patient import patient_app

X = np.array([0.5, np.nan, -2.0])
QUERIES = [
    ("y = sum(x * x)", {"x": X}, Query("gradient"), None),
    (
        "y = x * w\nz = y + 1",
        {"x": X, "w": np.float32(2)},
        Query("gradient", target="y"),
        [np.full(3, 2.0)],
    ),
    ("n * z", {"n": np.int32(3), "z": np.complex128(1 + 2j)}, Query("evaluate", exact=True), None),
    ({"nodes": [], "outputs": "p.w"}, {"p": {"w": X}}, Query("evaluate"), None),
]


@pytest.mark.parametrize(("program", "values", "query", "vectors"), QUERIES)
async def test_a_service_answers_as_the_engine_did(monkeypatch, program, values, query, vectors):
    monkeypatch.setattr(Engine, "parse", Engine.parse)  # put back what is listened to
    monkeypatch.setattr(Engine, "call", Engine.call)
    last = LastRequest()
    last.listen()
    engine = Engine()
    leaves = {
        name: {key: Leaf(item) for key, item in value.items()}
        if isinstance(value, dict)
        else Leaf(np.asarray(value))
        for name, value in values.items()
    }
    answer = engine.call(engine.parse(program), leaves, query, vectors).replay(lambda: None)
    asked = last.document()
    assert asked is not None
    path, body = asked
    app = patient_app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        response = await client.post(path, json=body)
    app.state.executors.shut()
    assert response.status_code == 200, response.text
    assert f"curl -s 127.0.0.1:8000{path}" in str(last)
    found = response.json()
    if query.kind == "evaluate":
        found, expected = found["outputs"], answer.value
    else:
        found, expected = found["gradients"]["x"], answer.gradients["x"]
    if isinstance(found, dict):
        found = found["re"] + 1j * found["im"]
    np.testing.assert_allclose(np.array(found, expected.dtype), expected)
