"""The routes that list operations and limits."""


async def test_operations_are_listed(client):
    response = await client.get("/v1/ops")
    assert response.headers["content-type"] == "application/json"
    operations = {entry["name"]: entry for entry in response.json()["ops"]}
    for name in "add", "matmul", "tanh":
        entry = operations[name]
        assert entry["doc"]
        assert entry["signature"]
        assert entry["differentiable"] is True
        assert isinstance(entry["aliases"], list)


async def test_limits_are_listed(client, settings):
    limits = (await client.get("/v1/limits")).json()
    assert limits["body_bytes"] == settings.max_body_bytes
    assert limits["timeout_ms"] == settings.max_timeout_ms
