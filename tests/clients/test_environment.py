"""Proxies and certificates of the environment: used as curl uses them, or refused by name."""

import asyncio
import itertools
import os
import socket
import ssl

import gradwire
import httpx
import pytest
from click.testing import CliRunner
from gradwire.connections import KeptConnections, connections
from gradwire.environment import proxy_of, route, variable
from gradwire_command.application import application

PROXIES = [
    name
    for kind in ("http", "https", "all", "no")
    for name in (f"{kind}_proxy", f"{kind}_proxy".upper())
]
CERTIFICATES = ["SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"]
OWN = ["GRADWIRE_URL", "GRADWIRE_API_KEY", "GRADWIRE_PLACEMENT"]
LIMITS = httpx.Limits(max_keepalive_connections=2)
BLANKS = ("", " ", " \t\n")
FULL = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture(autouse=True)
def _unset(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a log of TLS keys is written wherever it is to be
    for name in (*PROXIES, *CERTIFICATES, *OWN, "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def places(tmp_path):
    """Files and folders that are no certificates."""
    (tmp_path / "rubbish.pem").write_bytes(b"-----BEGIN CERTIFICATE-----\n\xff\x00rubbish\n")
    (tmp_path / "empty.pem").touch()
    (tmp_path / "with a space.pem").write_text("no certificate")
    (tmp_path / "folder").mkdir()
    return tmp_path


BYPASSED = [
    ("*", "http://anything.example"),
    ("127.0.0.1", "http://127.0.0.1:8000"),
    ("[::1]", "http://[::1]:8000"),
    ("::1", "http://[::1]:8000"),
    ("[::1]:8000", "http://[::1]:8000"),
    ("::0001", "http://[0:0::1]"),
    ("fd00::/8", "http://[fd12::1]"),
    ("[fd00::]/8", "http://[fd12::1]"),
    ("[fd00::/8]", "http://[fd12::1]"),
    ("10.0.0.0/8", "http://10.1.2.3"),
    ("10.0.0.7/8", "http://10.1.2.3"),
    ("10.0.0.0/255.0.0.0", "http://10.1.2.3"),
    ("10.0.0.0/8", "http://[::ffff:10.1.2.3]"),
    ("localhost", "http://localhost:8000"),
    ("LOCALHOST", "http://localhost"),
    ("example.com", "https://example.com"),
    ("example.com", "https://a.b.example.com"),
    (".example.com", "https://a.example.com"),
    (".example.com", "https://example.com"),
    ("*.example.com", "https://a.example.com"),
    ("example.com.", "https://example.com"),
    ("example.com", "https://Example.COM."),
    ("example.com:443", "https://example.com"),
    ("example.com:80", "http://example.com"),
    ("https://example.com", "https://example.com"),
    ("all://example.com", "https://example.com"),
    ("bücher.example", "http://bücher.example"),
    ("xn--bcher-kva.example", "http://bücher.example"),
    ("a.example, b.example", "http://b.example"),
    ("a.example b.example", "http://b.example"),
    (" ,, a.example ,\tb.example,", "http://b.example"),
]
ASKED_BY_A_PROXY = [
    ("", "http://example.com"),
    (" ", "http://example.com"),
    (",", "http://example.com"),
    ("ample.com", "http://example.com"),
    ("a.example.com", "http://example.com"),
    ("example.com:8080", "http://example.com"),
    ("http://example.com", "https://example.com"),
    ("0.0.1", "http://127.0.0.1"),
    ("127.0.0.1", "http://127.0.0.11"),
    ("10.0.0.0/8", "http://11.1.2.3"),
    ("10.0.0.0/33", "http://10.1.2.3"),
    ("fd00::/8", "http://10.1.2.3"),
    ("fd00::/8", "http://[fe00::1]"),
    ("[::1", "http://[::2]"),
    ("[]", "http://example.com"),
    ("[::1]:80", "http://[::1]:8000"),
    (".", "http://example.com"),
    ("\udcff", "http://example.com"),
    ("a b\x7f", "http://example.com"),
]


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
@pytest.mark.parametrize(("entries", "address"), BYPASSED)
def test_what_no_proxy_has_is_asked_directly(monkeypatch, name, entries, address):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv(name, entries)
    assert route(address).proxy is None
    assert proxy_of(address) is None


@pytest.mark.parametrize(("entries", "address"), ASKED_BY_A_PROXY)
def test_all_else_is_asked_by_the_proxy(monkeypatch, entries, address):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", entries)
    found = route(address).proxy
    assert found is not None
    assert found.url == "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("given", "address", "expected"),
    [
        ({"http_proxy": "p:1"}, "http://a.example", "http://p:1"),
        ({"http_proxy": "p:1"}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://a.example", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "http_proxy": "q:2"}, "http://a.example", "http://q:2"),
        ({"http_proxy": "p:1", "HTTP_PROXY": "q:2"}, "http://a.example", "http://p:1"),
        ({"http_proxy": "", "HTTP_PROXY": "q:2"}, "http://a.example", "http://q:2"),
        ({"http_proxy": " ", "ALL_PROXY": "q:2"}, "http://a.example", "http://q:2"),
        ({"HTTP_PROXY": "q:2", "REQUEST_METHOD": "GET"}, "http://a.example", None),
        ({"all_proxy": " http://p:1 "}, "http://a.example", "http://p:1"),
        ({"all_proxy": "[::1]:3128"}, "http://a.example", "http://[::1]:3128"),
        ({"all_proxy": "http://bücher.example:1"}, "http://a.example", "http://bücher.example:1"),
    ],
)
def test_proxies_are_chosen_by_scheme(monkeypatch, given, address, expected):
    for name, text in given.items():
        monkeypatch.setenv(name, text)
    found = route(address).proxy
    assert (found and str(found.url)) == (expected and str(httpx.URL(expected)))


def test_a_proxy_may_have_a_user_and_a_password(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://ann:p%40ss%C3%BC@proxy.example:3128")
    found = route("http://a.example").proxy
    assert found is not None
    assert found.raw_auth == (b"ann", "p@ssü".encode())


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_requests_go_where_the_environment_says(script, monkeypatch, kind):
    def ask(url):
        if kind == "sync":
            with gradwire.Client(url) as client:
                return client.request("GET", "/v1/limits")

        async def asked():
            async with gradwire.AsyncClient(url) as client:
                return await client.request("GET", "/v1/limits")

        return asyncio.run(asked())

    service, proxy = script(FULL), script(FULL)
    monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://ann:secret@"))
    ask(service.url)
    assert proxy.requests[0].startswith(f"GET {service.url}/v1/limits HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic" in proxy.requests[0]
    monkeypatch.setenv("NO_PROXY", "fd00::/8,[::1],127.0.0.0/8")
    monkeypatch.setenv("ALL_PROXY", "socks4://nowhere")
    ask(service.url)
    assert service.requests[0].startswith(b"GET /v1/limits HTTP/1.1\r\n")


def test_a_service_that_is_asked_directly_has_plain_connections(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert isinstance(connections("http://127.0.0.1:8000", LIMITS), KeptConnections)
    assert isinstance(connections("http://10.0.0.1:8000", LIMITS), httpx.HTTPTransport)


REFUSED_PROXIES = {
    "another scheme": "ftp://proxy.example:21",
    "SOCKS 4": "socks4://proxy.example:1080",
    "a scheme of letters": "whatever://p",
    "a port beyond all": "http://proxy.example:65536",
    "port 0": "http://proxy.example:0",
    "a negative port": "http://proxy.example:-1",
    "a port of letters": "http://proxy.example:eighty",
    "no host": "http://",
    "a port alone": "http://:3128",
    "an open bracket": "http://[::1",
    "a colon": "::1:3128",
    "a line break": "http://proxy\nexample",
    "bytes": "http://\udcff.example",
    "bytes as a user": "http://\udcff@proxy.example",
    "an empty label": "http://xn--.example",
}


@pytest.mark.parametrize("text", REFUSED_PROXIES.values(), ids=REFUSED_PROXIES)
@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_what_is_no_proxy_is_refused_by_name(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    for kind in (gradwire.Client, gradwire.AsyncClient):
        with pytest.raises(gradwire.UsageError, match=f"^{name}=.* is not the address of a proxy"):
            kind("http://service.example")
    monkeypatch.setenv("NO_PROXY", "service.example")
    for kind in (gradwire.Client, gradwire.AsyncClient):
        kind("http://service.example")


def test_errors_do_not_show_a_password(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "http://ann:SECRET@proxy.example:99999")
    with pytest.raises(gradwire.UsageError) as told:
        gradwire.Client("http://service.example")
    assert "SECRET" not in str(told.value)
    assert "ALL_PROXY=http://proxy.example:99999" in str(told.value)


def test_a_socks_proxy_needs_a_library(monkeypatch):
    monkeypatch.setattr("gradwire.environment.find_spec", lambda _: None)
    monkeypatch.setenv("ALL_PROXY", "socks5h://proxy.example:1080")
    with pytest.raises(gradwire.NotInstalled, match=r"ALL_PROXY=socks5h.*socksio") as told:
        gradwire.Client("http://127.0.0.1:8000")
    assert "pip install 'httpx[socks]'" in told.value.hint
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    gradwire.Client("http://127.0.0.1:8000")


def test_a_proxy_that_does_not_answer_is_named(script, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://ann:SECRET@127.0.0.1:9")
    with (
        gradwire.Client("http://service.example", max_retries=0) as client,
        pytest.raises(gradwire.TransportError, match=r"through http_proxy=http://127.0.0.1:9") as e,
    ):
        client.request("GET", "/v1/limits")
    assert "SECRET" not in str(e.value)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("SSL_CERT_FILE", "absent"),
        ("SSL_CERT_FILE", "folder"),
        ("SSL_CERT_FILE", "rubbish.pem"),
        ("SSL_CERT_FILE", "empty.pem"),
        ("SSL_CERT_FILE", "with a space.pem"),
        ("SSL_CERT_FILE", "ünïcode\udcff"),
        ("SSL_CERT_DIR", "absent"),
        ("SSL_CERT_DIR", "rubbish.pem"),
        ("SSL_CERT_DIR", "ünïcode\udcff"),
        ("SSLKEYLOGFILE", "folder"),
        ("SSLKEYLOGFILE", "absent/keys"),
    ],
)
def test_certificates_that_cannot_be_read_are_refused_by_name(monkeypatch, places, name, place):
    monkeypatch.setenv(name, str(places / place))
    for kind in (gradwire.Client, gradwire.AsyncClient):
        with pytest.raises(gradwire.UsageError, match=f"^{name}=.* cannot be read") as told:
            kind("https://service.example")
        assert name in told.value.hint
        kind("http://127.0.0.1")  # which needs none


def test_a_path_below_a_file_is_named(monkeypatch, places):
    monkeypatch.setenv("SSL_CERT_FILE", str(places / "empty.pem" / "below"))
    with pytest.raises(gradwire.UsageError, match=r"SSL_CERT_FILE=.*Not a directory"):
        gradwire.Client("https://service.example")


def test_certificates_are_those_of_the_environment(monkeypatch, places):
    bundle = httpx.create_ssl_context(trust_env=False).get_ca_certs(binary_form=True)
    one = places / "one.pem"
    one.write_text(ssl.DER_cert_to_PEM_cert(bundle[0]))
    by_default = route("https://a.example").authorities
    assert by_default is not None
    assert by_default.get_ca_certs(binary_form=True) == bundle
    monkeypatch.setenv("SSL_CERT_FILE", str(one))
    by_file = route("https://a.example").authorities
    assert by_file is not None
    assert by_file.get_ca_certs(binary_form=True) == bundle[:1]
    # One of the folders may be absent, as in the defaults of OpenSSL.
    monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(["/nowhere", str(places / "folder")]))
    assert route("https://a.example").authorities is not None
    monkeypatch.setenv("http_proxy", "https://proxy.example")
    found = route("http://a.example")
    assert found.proxy is not None
    assert found.proxy.ssl_context is found.authorities is not None


STRANGE = (
    *BLANKS,
    *(text for text in REFUSED_PROXIES.values()),
    *("*", ".", "-", ":", "::", "[", "]", "[]", "/", "//", "@", "#", "?", "%", "%zz", "a" * 300),
    *("1", "0", "-1", "1e400", "None", "true", "{}", "ü", "\udc80", "\x7f", "💥", "a b", "'", '"'),
    *("localhost:8000", "http://localhost:99999", "http://user:pass@localhost", "http://[::1%lo]"),
    *("http://a..b", "http://" + "a" * 70, "unix:///run/x.sock", "file:///etc/passwd", "local://"),
    *("/dev/null", "/", "/nowhere/at/all", "~", "relative/path", "fd00::/8", "10.0.0.0/33"),
)


ANY = [
    *itertools.product([*PROXIES, *OWN], [None, "http://[::1]:9"]),
    *itertools.product([*PROXIES, *CERTIFICATES], ["https://127.0.0.1:9"]),
]


@pytest.mark.parametrize(("name", "address"), ANY)
def test_any_text_in_any_variable_is_used_or_refused_with_a_hint(
    monkeypatch, tmp_path, name, address
):
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))  # few certificates are read soon
    for text in STRANGE:
        monkeypatch.setenv(name, text)
        for kind in (gradwire.Client, gradwire.AsyncClient):
            try:
                kind(address)
            except gradwire.GradwireError as error:
                assert error.hint, (text, error)  # noqa: PT017
                assert name in f"{error}" or name == "GRADWIRE_URL", (text, error)  # noqa: PT017


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "address"), ANY)
def test_nothing_but_errors_of_the_sdk_come_of_requests(monkeypatch, tmp_path, name, address):
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))

    def lookup(host, *_, **__):
        host.encode("idna")
        raise socket.gaierror(socket.EAI_NONAME, "no names here")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    for text in STRANGE:
        monkeypatch.setenv(name, text)
        if name != "GRADWIRE_URL":
            monkeypatch.setenv("GRADWIRE_URL", "http://127.0.0.1:9")
        with (
            pytest.raises(gradwire.GradwireError) as told,
            gradwire.Client(address, max_retries=0) as client,
        ):
            client.request("GET", "/v1/limits")
        assert told.value.hint, (text, told.value)


@pytest.mark.parametrize("name", [*PROXIES, *CERTIFICATES, *OWN])
@pytest.mark.parametrize("blank", BLANKS)
def test_an_empty_variable_is_an_unset_one(monkeypatch, name, blank):
    unset = [gradwire.Client(url)._options for url in (None, "https://a.example")]
    monkeypatch.setenv(name, blank)
    assert variable(name) is None
    assert [gradwire.Client(url)._options for url in (None, "https://a.example")] == unset
    assert route("https://a.example").proxy is route("http://a.example").proxy is None


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("ALL_PROXY", "ftp://x", 2),
        ("ALL_PROXY", "socks5://x", 11),
        ("SSL_CERT_FILE", "/nowhere", 2),
        ("GRADWIRE_PLACEMENT", "tpu", 2),
        ("GRADWIRE_API_KEY", "ü", 2),
        ("GRADWIRE_URL", "http://[", 2),
        ("http_proxy", "127.0.0.1:9", 5),
    ],
)
def test_the_command_says_what_to_do(monkeypatch, name, text, code):
    monkeypatch.setattr("gradwire.environment.find_spec", lambda _: None)
    monkeypatch.setenv("GRADWIRE_URL", "http://a.example" if "SSL" not in name else "https://a")
    monkeypatch.setenv(name, text)
    ended = CliRunner(catch_exceptions=False).invoke(application, ["eval", "1"])
    assert ended.exit_code == code, ended.output
    assert ended.stderr.startswith("error: ")
    assert "\n  hint: " in ended.stderr


def test_functions_are_refused_as_clients_are(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks4://x")
    monkeypatch.setenv("GRADWIRE_URL", "http://environment.example")
    with pytest.raises(gradwire.UsageError, match="ALL_PROXY=socks4://x is not the address"):
        gradwire.grad(lambda x: x * x)(3.0)
    with pytest.raises(gradwire.UsageError, match="ALL_PROXY=socks4://x is not the address"):
        gradwire.minimize(lambda x: x * x, 3.0)
