"""Authentication over HTTP, through the whole application."""

import asyncio
import itertools
import logging
from datetime import UTC, datetime

import orjson
import pytest
from gradwire_service.access import keys_file
from gradwire_service.access.entries import write_entries
from gradwire_service.access.tokens import new_token

from tests.service.held import Held

EVALUATION = {"program": "1 + 1"}
PUBLIC = "/healthz", "/readyz", "/docs", "/docs/docs.js", "/openapi.json", "/v1/ops", "/v1/limits"
MARKER = "MARKER-c0ffee"


async def evaluate(client, headers):
    return await client.post("/v1/evaluate", json=EVALUATION, headers=headers)


def challenge_of(response):
    return response.headers["www-authenticate"]


async def test_only_a_valid_key_gives_access(admitting, issue, bearer):
    token, entry = issue()
    async with admitting(entry) as client:
        answer = await evaluate(client, bearer(token))
        assert answer.status_code == 200
        for scheme in "bearer", "BEARER":
            assert (await evaluate(client, {"authorization": f"{scheme} {token}"})).is_success
        refused = await evaluate(client, {})
        assert refused.status_code == 401
        assert refused.json()["code"] == "unauthenticated"
        assert challenge_of(refused) == 'Bearer realm="gradwire"'


async def test_all_invalid_keys_get_the_same_response(admitting, issue, bearer):
    """The answer does not reveal whether an id is unknown, revoked or expired."""
    token, entry = issue()
    over, old = issue(expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    id = token.split("_")[1]
    wrong = [
        over,
        new_token(),
        f"gw_{id}_{new_token().split('_')[2]}",
        token[:-1],
        token + "A",
        token.upper(),
        f"{token},{token}",
        "gw_",
        "",
        "é" * 20,
        "x" * 10_000,
    ]
    async with admitting(entry, old) as client:
        told = []
        for text in wrong:
            headers = {b"authorization": f"Bearer {text}".encode()}
            refused = await evaluate(client, headers)
            assert refused.status_code == 401, text
            document = refused.json()
            del document["instance"]
            told.append((document, challenge_of(refused)))
        assert all(one == told[0] for one in told[1:])
        assert told[0][1] == 'Bearer realm="gradwire", error="invalid_token"'


async def test_a_request_must_have_one_key_in_one_header(admitting, issue, bearer):
    (one, first), (two, second) = issue(), issue()
    elsewhere = [
        {"x-api-key": one},
        {"authorization": one},
        {"authorization": f"Basic {one}"},
        {"cookie": f"authorization=Bearer {one}"},
    ]
    async with admitting(first, second) as client:
        for headers in elsewhere:
            assert (await evaluate(client, headers)).status_code == 401
        for other in one, two:
            twice = [("authorization", f"Bearer {one}"), ("authorization", f"Bearer {other}")]
            assert (await evaluate(client, twice)).status_code == 401
        assert (await client.get("/metrics", params={"access_token": one})).status_code == 401


async def test_public_paths_need_no_key(admitting):
    async with admitting() as client:
        for path in PUBLIC:
            assert (await client.get(path)).status_code == 200, path
        assert (await client.head("/healthz")).status_code == 200
        assert (await client.post("/healthz")).status_code == 405


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"])
async def test_unknown_paths_look_like_protected_ones(admitting, app, method):
    """Without a key, existing and unknown paths have the same answer."""
    paths = set(app.openapi()["paths"]) - {*PUBLIC}
    paths |= {"/nothing", "/v1", "/v1/nothing", "/metrics/", "//healthz"}
    async with admitting() as client:
        told = set()
        for path in paths:
            refused = await client.request(method, f"http://service{path}")
            assert refused.status_code == 401, path
            document = orjson.loads(refused.content) if refused.content else {}
            document.pop("instance", None)
            told.add((orjson.dumps(document), challenge_of(refused)))
        assert len(told) == 1


ASKS = {
    "compute": [
        ("POST", "/v1/gradient"),
        ("POST", "/v1/tapes"),
        ("GET", "/v1/tapes/none"),
        ("POST", "/v1/tapes/none/gradient"),
        ("DELETE", "/v1/tapes/none"),
        ("GET", "/v1/programs"),
        ("GET", "/v1/programs/none/graph.svg"),
        ("GET", "/v1/tensors/none"),
        ("HEAD", "/v1/tensors/none"),
        ("GET", "/nothing"),
    ],
    "write": [
        ("POST", "/v1/programs"),
        ("DELETE", "/v1/programs/none"),
        ("PUT", "/v1/tensors"),
        ("PUT", "/v1/tensors/none"),
        ("DELETE", "/v1/tensors/none"),
    ],
    "admin": [("GET", "/metrics"), ("GET", "/v1/tenants"), ("GET", "/v1/tenants/acme")],
}


@pytest.mark.parametrize(("scope", "other"), [*itertools.product(ASKS, ASKS)])
async def test_a_key_may_do_only_what_its_scopes_allow(admitting, issue, bearer, scope, other):
    token, entry = issue(scopes=[scope])
    async with admitting(entry) as client:
        for method, path in ASKS[other]:
            answer = await client.request(method, path, headers=bearer(token))
            if scope == other:
                assert answer.status_code not in (401, 403), (method, path)
                continue
            assert answer.status_code == 403, (method, path)
            assert f'error="insufficient_scope", scope="{other}"' in challenge_of(answer)
            if method != "HEAD":
                assert answer.json()["code"] == "forbidden"
                assert other in answer.json()["detail"]


async def test_unauthorized_requests_are_refused_before_reading_the_body(admitting, issue, bearer):
    token, entry = issue(scopes=["write"])

    read = []

    async def body():
        read.append(True)
        yield b""

    async with admitting(entry) as client:
        for headers, status in ({}, 401), (bearer(token), 403):
            refused = await client.post("/v1/gradient", content=body(), headers=headers)
            assert refused.status_code == status
    assert not read


async def test_all_keys_of_a_tenant_share_its_records(admitting, issue, bearer):
    both = ["compute", "write"]
    (one, first), (two, second), (three, third) = (
        issue(both),
        issue(both, name="other"),
        issue(both, tenant="umbrella"),
    )
    async with admitting(first, second, third) as client:
        registered = {"program": "y = x", "name": "it"}
        made = await client.post("/v1/programs", json=registered, headers=bearer(one))
        assert made.status_code == 201
        assert (await client.get("/v1/programs/it", headers=bearer(two))).is_success
        assert (await client.get("/v1/programs/it", headers=bearer(three))).status_code == 404


async def test_a_key_is_limited_to_its_rate(admitting, issue, bearer, clock):
    (slow, first), (fast, second) = issue(requests_per_second=0.25, burst=3), issue()
    async with admitting(first, second, clock=clock) as client:
        answers = [await evaluate(client, bearer(slow)) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        limited = answers[-1]
        assert limited.json()["code"] == "rate_limited"
        assert int(limited.headers["retry-after"]) == 4
        assert limited.json()["hint"]
        assert (await evaluate(client, bearer(fast))).is_success
        assert (await client.get("/healthz", headers=bearer(slow))).is_success
        clock.advance(4)
        assert [(await evaluate(client, bearer(slow))).status_code for _ in range(2)] == [200, 429]


async def test_a_key_is_limited_in_concurrent_requests(admitting, issue, bearer):
    """A request that ends, fails or is abandoned makes room for another."""
    token, entry = issue(concurrent=1)
    failing = {"program": "1 +"}
    async with admitting(entry) as client:
        for document, status in [(EVALUATION, 200), (failing, 422), (EVALUATION, None)]:
            async with Held(client, "/v1/evaluate", document, bearer(token)) as first:
                limited = await evaluate(client, bearer(token))
                assert limited.status_code == 429
                assert limited.headers["retry-after"] == "1"
                if status is not None:
                    assert (await first.go()).status_code == status
            assert (await evaluate(client, bearer(token))).is_success


async def test_settings_limit_the_rate_of_keys_without_a_rate(admitting, issue, bearer, clock):
    token, entry = issue()
    figures = {"key_requests_per_second": 0.1, "key_burst": 2}
    async with admitting(entry, **figures, clock=clock) as client:
        statuses = [(await evaluate(client, bearer(token))).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


async def test_allowed_origins_can_read_preflights_and_errors(admitting, issue, bearer):
    """Browsers send a preflight without the key; errors are visible to the page too."""
    token, entry = issue()
    page = {"origin": "https://page.example"}
    before = page | {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    async with admitting(entry, cors_origins=["https://page.example"]) as client:
        asked = await client.options("/v1/gradient", headers=before)
        assert asked.status_code == 200
        assert "authorization" in asked.headers["access-control-allow-headers"].lower()
        refused = await evaluate(client, page)
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "https://page.example"
        assert (await evaluate(client, page | bearer(token))).is_success


async def test_without_keys_no_authentication_is_needed(served):
    async with served() as client:
        for headers in {}, {"authorization": "Bearer anything"}, {"authorization": "Basic x"}:
            assert (await evaluate(client, headers)).is_success
        assert (await client.get("/metrics")).is_success
        assert (await client.get("/nothing")).status_code == 404


async def test_metrics_report_an_unreadable_key_file(served, issue, bearer, tmp_path, monkeypatch):
    monkeypatch.setattr(keys_file, "POLL_SECONDS", 0.05)
    token, entry = issue(["admin"])
    file = tmp_path / "keys.json"
    file.write_text(write_entries([entry]))
    async with served(keys_file=str(file)) as client:

        async def told():
            return (await client.get("/metrics", headers=bearer(token))).text.splitlines()

        assert {"gradwire_keys 1.0", "gradwire_keys_stale 0.0"} <= {*await told()}
        file.write_text("[")
        while "gradwire_keys_stale 1.0" not in await told():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_no_key_appears_in_responses_or_logs(admitting, issue, bearer, caplog):
    """Neither valid keys, nor invalid ones, nor credentials of other schemes."""
    caplog.set_level(logging.DEBUG)
    good, entry = issue(concurrent=1)
    weak, other = issue(scopes=["write"])
    wrong = new_token()
    sent = [bearer(good), bearer(weak), bearer(wrong), {"authorization": f"Basic {MARKER}"}]
    secrets = [good.split("_")[2], weak.split("_", 2)[2], wrong.split("_", 2)[2], MARKER]
    asks = [
        ("POST", "/v1/evaluate", {"program": "1 +"}),
        ("POST", "/v1/evaluate", EVALUATION),
        ("GET", "/v1/programs/none", None),
        ("GET", "/metrics", None),
        ("PUT", "/v1/tensors", {"dtype": "no"}),
        ("BREW", "/nothing", None),
    ]
    async with admitting(entry, other) as client:
        told = []
        for headers, (method, path, document) in itertools.product(sent, asks):
            answer = await client.request(method, path, json=document, headers=headers)
            told.append(f"{answer.headers}{answer.text}")
        told.append((await client.get("/openapi.json")).text)
    for secret in secrets:
        assert not any(secret in one for one in told)
        assert secret not in caplog.text
