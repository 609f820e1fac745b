"""``/v1/check`` over the wire."""

import pytest


async def check(client, status=200, **request):
    response = await client.post("/v1/check", json=request)
    assert response.status_code == status, response.text
    return response.json()


async def test_the_gradient_is_compared_with_finite_differences(client):
    answer = await check(client, program="y = sum(x**2) * w", variables={"x": [1, 2], "w": 3})
    assert answer["value"] == 15.0
    assert answer["gradients"] == {"x": [6.0, 12.0], "w": 5.0}
    assert answer["differences"]["x"] == pytest.approx([6.0, 12.0])
    assert answer["ok"] is True
    assert answer["checks"].keys() == {"x", "w"}
    assert answer["checks"]["x"]["at"] in ([0], [1])
    assert answer["checks"]["x"]["error"] < 1e-10


async def test_a_source_with_a_wrong_gradient_is_reported(client):
    program = "custom_gradient(lambda x: x, lambda z_bar, z, x: 2 * z_bar)(x)"
    answer = await check(client, program=program, variables={"x": 3})
    assert answer["ok"] is False
    found = {"ok": False, "decided": True, "error": pytest.approx(1), "at": []}
    assert answer["checks"] == {"x": found}


async def test_at_a_kink_nothing_is_decided(client):
    variables = {"a": [2, 1], "b": [1, 1]}
    answer = await check(client, program="maximum(a, b)", variables=variables, sources=["a"])
    assert answer["ok"] is False
    found = {"ok": False, "decided": False, "error": pytest.approx(0.5), "at": [1]}
    assert answer["checks"] == {"a": found}


@pytest.mark.parametrize("encoding", ["list", "base64"])
async def test_nonfinite_values_are_strings(client, encoding):
    answer = await check(client, program="log(x)", variables={"x": 0}, encoding=encoding)
    assert answer["ok"] is False
    assert answer["checks"]["x"]["error"] == "Infinity"
    assert answer["nonfinite"]["backward"]["op"] == "log"


@pytest.mark.parametrize(
    ("field", "value"),
    [("step", 0), ("step", "1"), ("rtol", -1), ("atol", True), ("batch", []), ("mode", "auto")],
)
async def test_invalid_fields_are_refused(client, field, value):
    problem = await check(client, 422, program="x", variables={"x": 1}, **{field: value})
    assert problem["code"] == "invalid_request"
    assert problem["pointer"] == f"/{field}"


async def test_each_example_of_a_batch_is_checked(client):
    variables = {"x": [[3, 1], [2, 1], [0, 5]], "w": 2}
    answer = await check(client, program="w * maximum(x, 2)", variables=variables, batch=["x"])
    assert answer["ok"] is False
    assert answer["checks"]["x"] == {
        "ok": False,
        "decided": False,
        "error": pytest.approx(1),
        "at": [1, 0],
    }
    assert answer["checks"]["w"]["ok"] is True
    assert len(answer["checks"]["w"]["at"]) == 1
    assert answer["differences"]["w"] == pytest.approx([5, 4, 7])


async def test_a_check_without_differentiable_sources_succeeds(client):
    answer = await check(client, program="x", variables={"x": {"value": 1, "dtype": "int64"}})
    assert answer["ok"] is True
    assert answer["checks"] == {}
    assert answer["gradients"] == answer["differences"] == {"x": None}
