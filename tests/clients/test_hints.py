"""The errors that new users meet first say what to do."""

import gradwire
import httpx
import pytest
from gradwire.local import LocalTransport
from gradwire_service.access.entries import write_entries

from tests.clients.test_client import answer
from tests.service.access.conftest import issued


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("localhost:8000", "write http://localhost:8000"),
        ("127.0.0.1", "write http://127.0.0.1"),
        ("ftp://here", "not an address of the form http://host:port"),
        ("http://", "not an address of the form http://host:port"),
        ("http://here:99999", "not an address of the form http://host:port"),
        ("http://here:port", "Invalid port"),
        ("http://\ud800", "http://"),
    ],
)
def test_an_invalid_address_is_explained(address, told):
    with pytest.raises(gradwire.UsageError) as caught:
        gradwire.Client(address)
    assert told in f"{caught.value}"


def test_an_unreachable_service_error_says_how_to_start_one():
    with (
        gradwire.Client("http://127.0.0.1:1", max_retries=0) as client,
        pytest.raises(gradwire.TransportError) as caught,
    ):
        client.evaluate("1")
    told = f"{caught.value}"
    assert told.startswith("no Gradwire service at http://127.0.0.1:1 (")
    assert all(way in told for way in ("`make serve`", "GRADWIRE_URL", "Client.local()"))


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/gradient"])
def test_an_address_with_an_api_path_gets_the_base_address_as_hint(service_url, path):
    with (
        gradwire.Client(service_url + path) as client,
        pytest.raises(gradwire.NotFound, match=f"{service_url} is the address"),
    ):
        client.evaluate("1")


@pytest.mark.parametrize("status", [200, 404, 405])
def test_another_kind_of_service_is_reported(script, status):
    page = answer(status, "<html>Welcome</html>", Content_Type="text/html")
    with (
        gradwire.Client(script(page).url) as client,
        pytest.raises(gradwire.GradwireError, match="GRADWIRE_URL, or base_url, leads to"),
    ):
        client.evaluate("1")


@pytest.mark.parametrize("key", [None, "another-key"])
def test_authentication_errors_say_where_keys_come_from(key, monkeypatch):
    monkeypatch.delenv("GRADWIRE_API_KEY", raising=False)
    _, entry = issued()
    transport = LocalTransport(keys=write_entries([entry]))
    with (
        httpx.Client(transport=transport, base_url="http://service") as http,
        gradwire.Client(http_client=http, api_key=key) as client,
        pytest.raises(gradwire.Unauthenticated, match="set GRADWIRE_API_KEY"),
    ):
        client.evaluate("1")


def test_a_too_large_body_error_says_who_sets_the_limit():
    with (
        gradwire.Client.local(max_body_bytes=1000) as client,
        pytest.raises(gradwire.BodyTooLarge, match="GRADWIRE_MAX_BODY_BYTES"),
    ):
        client.evaluate("sum(x)", {"x": [0.5] * 1000})


@pytest.mark.parametrize("key", ["of two\nlines", "schlüssel", " ", 3, b"key"])
def test_keys_invalid_in_a_header_are_refused(key):
    with pytest.raises(gradwire.UsageError, match="GRADWIRE_API_KEY"):
        gradwire.Client(api_key=key)


@pytest.mark.parametrize("timeout", ["3", -1, 0, float("nan"), 1e300])
def test_invalid_timeouts_are_refused(timeout):
    with pytest.raises(gradwire.UsageError, match="timeout needs a positive number of seconds"):
        gradwire.Client(timeout=timeout)


def test_using_a_closed_client_is_reported(service_url):
    client = gradwire.Client(service_url)
    client.close()
    with pytest.raises(gradwire.UsageError, match="closed"):
        client.evaluate("1")


def test_errors_of_httpx_become_errors_of_the_sdk():
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.TooManyRedirects("in a circle", request=request)

    with (
        httpx.Client(transport=httpx.MockTransport(broken)) as http,
        gradwire.Client("http://service", http_client=http) as client,
        pytest.raises(gradwire.TransportError, match="in a circle"),
    ):
        client.evaluate("1")
