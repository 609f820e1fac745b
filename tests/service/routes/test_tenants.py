"""Reports on tenants: their storage, and the requests of their keys."""

from datetime import UTC, datetime

import pytest
from gradwire_service.access.entries import write_entries
from jsonschema import Draft202012Validator

from tests.service.access.conftest import issued
from tests.service.held import Held


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.mark.thorough
async def test_operators_see_storage_and_requests_of_tenants(served, kept, clock):
    end = datetime(2040, 1, 1, tzinfo=UTC)
    operator, admin = issued(["admin"], tenant="house", expires_at=end)
    token, entry = issued(["compute", "write"], burst=4, requests_per_second=0.001)
    other, another = issued(name="other")
    entries = write_entries([admin, entry, another])
    async with served(keys=entries, clock=clock, **kept) as client:

        async def told():
            answer = await client.get("/v1/tenants", headers=bearer(operator))
            assert answer.status_code == 200
            assert not {token, other, operator} & set(answer.text.split('"'))
            return {one["tenant"]: one for one in answer.json()["tenants"]}

        assert list(await told()) == ["acme", "house"]
        program = {"program": "y = x", "name": "it"}
        for method, path, document in (
            ("POST", "/v1/programs", program),
            ("PUT", "/v1/tensors", [1.0, 2.0]),
            ("POST", "/v1/tapes", {"program": "x", "variables": {"x": 1}}),
            ("POST", "/v1/tapes", {"program": "x", "variables": {"x": 2}}),
            ("POST", "/v1/evaluate", {"program": "1"}),
        ):
            await client.request(method, path, json=document, headers=bearer(token))
        async with Held(client, "/v1/evaluate", {"program": "1"}, bearer(other)):
            acme = (await told())["acme"]
    assert {kind: held["records"] for kind, held in acme["holds"].items()} == {
        "programs": 1,
        "names": 1,
        "tensors": 1,
        "results": 0,
        "tapes": 2,
        "jobs": 0,
        "job_parts": 0,
    }
    assert all((held["nbytes"] > 0) == (held["records"] > 0) for held in acme["holds"].values())
    first, second = acme["keys"]
    assert (first["id"], first["name"], first["scopes"]) == (entry.id, "ci", ["compute", "write"])
    assert (first["requests"], first["limited"], first["in_flight"]) == (4, 1, 0)
    assert (second["requests"], second["limited"], second["in_flight"]) == (1, 0, 1)


async def test_the_response_matches_its_schema(served):
    operator, admin = issued(["admin"], expires_at=datetime(2040, 1, 1, tzinfo=UTC))
    _, entry = issued(tenant="other")
    async with served(keys=write_entries([admin, entry])) as client:
        document = (await client.get("/openapi.json")).json()
        described = document["paths"]["/v1/tenants"]["get"]
        assert described["security"] == [{"key": ["admin"]}]
        answer = await client.get("/v1/tenants", headers=bearer(operator))
        schema = described["responses"]["200"]["content"]["application/json"]["schema"]
        components = {"components": document["components"]}
        Draft202012Validator(schema | components).validate(answer.json())
        expiries = [key["expires_at"] for one in answer.json()["tenants"] for key in one["keys"]]
        assert expiries == ["2040-01-01T00:00:00Z", None]


async def test_without_keys_there_are_no_tenants(served):
    async with served() as client:
        assert (await client.get("/v1/tenants")).status_code == 404
        assert "/v1/tenants" not in (await client.get("/openapi.json")).json()["paths"]
