"""Requests as their tasks see them."""

import gzip
import json

import pytest
from gradwire_service.settings import Settings
from gradwire_service.tasks import request as module
from gradwire_service.tasks.request import Request
from gradwire_service.wire import peek

SETTINGS = Settings(default_timeout_ms=50, max_timeout_ms=60_000)
BODY = json.dumps({"program": "x", "variables": {"x": 0.5}, "timeout_ms": 10_000}).encode()


@pytest.mark.parametrize("most_scanned_bytes", [10, peek.MAX_SCANNED_BYTES])
@pytest.mark.parametrize("coding", [b"", b"gzip"])
@pytest.mark.parametrize(("header", "allowed_ms"), [(None, 10_000), (b"7000", 7000)])
def test_the_body_may_extend_the_timeout_up_to_that_of_the_header(
    monkeypatch, most_scanned_bytes, coding, header, allowed_ms
):
    monkeypatch.setattr(module, "MAX_SCANNED_BYTES", most_scanned_bytes)
    headers = {b"content-type": b"application/json", b"content-encoding": coding}
    if header is not None:
        headers[b"gradwire-timeout-ms"] = header
    request = Request(headers, "", SETTINGS)
    request.body = gzip.compress(BODY) if coding else BODY
    told: list[float] = []
    request.on_timeout = told.append
    assert request.deadline.allowed_ms == (7000 if header else 50)
    assert request.document["program"] == "x"
    assert request.deadline.allowed_ms == allowed_ms
    assert set(told) == {allowed_ms}
