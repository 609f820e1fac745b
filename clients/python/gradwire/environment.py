"""The environment variables that the SDK reads, and errors that name them.

An empty variable is an unset one. Proxies are chosen by ``HTTP_PROXY``, ``HTTPS_PROXY``,
``ALL_PROXY`` and ``NO_PROXY``, as by curl; authorities are those of ``SSL_CERT_FILE`` and
``SSL_CERT_DIR``. httpx does not read them for us: it takes networks and brackets in ``NO_PROXY``
for malformed addresses, reads certificates that no request needs, and its errors name no variable.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple
from urllib.request import getproxies

import httpx

from gradwire.errors import GradwireError, NotInstalled, UsageError

#: The schemes of proxies; those of SOCKS need the library ``socksio``.
_PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_CERT_FILE: Final = "SSL_CERT_FILE"
_CERT_DIR: Final = "SSL_CERT_DIR"
#: A file to which Python writes the keys of connections.
_KEY_LOG: Final = "SSLKEYLOGFILE"
_MOST_SHOWN: Final = 80


class Route(NamedTuple):
    """The route to one service."""

    proxy: httpx.Proxy | None
    #: The authorities that are trusted; ``None`` if nothing is encrypted.
    authorities: ssl.SSLContext | None


class _Given(NamedTuple):
    """A variable with its text."""

    name: str
    text: str


def variable(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """An environment variable; ``None`` if it is unset, empty or white space alone."""
    text = environment.get(name)
    return text if text and not text.isspace() else None


def is_host(host: str) -> bool:
    """True for a name or an address: httpx escapes what is neither."""
    return bool(host) and ("%" not in host or ":" in host)


def route(address: str) -> Route:
    """The route to the service at an address.

    Raises: ``UsageError`` and ``NotInstalled``, which name the variable.
    """
    url = httpx.URL(address)
    given = _proxy_for(url)
    proxy = None if given is None else _proxy_url(given)
    encrypts = "https" in (url.scheme, "" if proxy is None else proxy.scheme)
    authorities = _authorities() if encrypts else None
    if given is None or proxy is None:
        return Route(None, authorities)
    with _reading(given):
        context = authorities if proxy.scheme == "https" else None
        return Route(httpx.Proxy(proxy, ssl_context=context), authorities)


def proxy_of(address: str) -> str | None:
    """The variable with the proxy of an address, without its password; ``None`` without one."""
    with suppress(GradwireError, ValueError):
        given = _proxy_for(httpx.URL(address))
        return None if given is None else _shown(given)
    return None


def trusted() -> str | None:
    """The variables that say which authorities are trusted, if any does."""
    given = [_Given(name, text) for name in (_CERT_FILE, _CERT_DIR) if (text := variable(name))]
    return " and ".join(map(_shown, given)) or None


def _proxy_for(url: httpx.URL) -> _Given | None:
    """The proxy of an address: that of a variable, in small letters first, else the system's."""
    if _is_bypassed(url):
        return None
    for kind in (url.scheme, "all"):
        for name in (f"{kind}_proxy", f"{kind}_proxy".upper()):
            text = variable(name)
            # In a CGI script, HTTP_PROXY is a header of the request.
            if text is not None and not (name == "HTTP_PROXY" and "REQUEST_METHOD" in os.environ):
                return _Given(name, text)
    system = getproxies()
    text = system.get(url.scheme) or system.get("all")
    return _Given("the system's proxy", text) if text and not text.isspace() else None


def _proxy_url(given: _Given) -> httpx.URL:
    """The address of a proxy; one without a scheme is an HTTP proxy."""
    text = given.text.strip()
    with _reading(given):
        url = httpx.URL(text if "://" in text else f"http://{text}")
        host, port = url.host, url.port
        _ = (url.username + url.password).encode()
    if url.scheme not in _PROXY_SCHEMES:
        raise _no_proxy(given, f"its scheme is none of {', '.join(_PROXY_SCHEMES)}")
    if not is_host(host) or (port is not None and not 0 < port < 1 << 16):
        raise _no_proxy(given, "it has no host, or no port from 1 to 65535")
    if url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise NotInstalled(
            f"{_shown(given)} is a SOCKS proxy, which needs the library socksio",
            hint="pip install 'httpx[socks]'; or name the service's host in NO_PROXY to ask it "
            "without a proxy",
            name="socksio",
        )
    return url


@contextmanager
def _reading(given: _Given) -> Iterator[None]:
    """Let errors of reading a proxy's address name its variable."""
    try:
        yield
    except (httpx.InvalidURL, ValueError) as error:
        raise _no_proxy(given, "it cannot be read") from error


def _no_proxy(given: _Given, reason: str) -> UsageError:
    return UsageError(
        f"{_shown(given)} is not the address of a proxy: {reason}",
        hint="write http://host:port; or name the service's host in NO_PROXY to ask it without a "
        "proxy",
    )


def _shown(given: _Given) -> str:
    """A variable for messages, without a user and password."""
    scheme, mark, rest = given.text.strip().rpartition("://")
    text = ascii(f"{scheme}{mark}{rest.rpartition('@')[2]}")[1:-1]
    return f"{given.name}={text[:_MOST_SHOWN]}{'…' if len(text) > _MOST_SHOWN else ''}"


def _is_bypassed(url: httpx.URL) -> bool:
    """True if ``NO_PROXY`` has the host of an address.

    Its entries are separated by commas or spaces: hosts, which stand for all below them, addresses
    and networks, with or without brackets, a port or a scheme, and ``*`` for all. An entry that is
    none of these matches no host.
    """
    text = variable("no_proxy") or variable("NO_PROXY") or ""
    return any(_has(entry, url) for entry in re.split(r"[\s,]+", text.lower()) if entry)


def _has(entry: str, url: httpx.URL) -> bool:
    scheme, _, place = entry.rpartition("://")
    named, port = _host_and_port(place)
    if scheme not in ("", "all", url.scheme):
        return False
    if port and port != str(url.port or _DEFAULT_PORTS.get(url.scheme)):
        return False
    hosts = {host.lower().rstrip(".") for host in (url.host, url.raw_host.decode("ascii"))}
    addresses = [address for host in hosts if (address := _address(host)) is not None]
    if named == "*":
        return True
    if addresses:
        return any(_is_within(address, named) for address in addresses)
    domain = named.removeprefix("*").strip(".")
    return bool(domain) and any(f".{host}".endswith(f".{domain}") for host in hosts)


def _host_and_port(place: str) -> tuple[str, str]:
    """The host or network of an entry without brackets, and its port, empty if it has none."""
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        return (host, rest[1:]) if rest.startswith(":") else (host + rest, "")
    host, _, port = place.partition(":")
    return (host, port) if ":" not in port else (place, "")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        found = ip_address(host)
        return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
    return None


def _is_within(address: IPv4Address | IPv6Address, network: str) -> bool:
    with suppress(ValueError):
        return address in ip_network(network, strict=False)
    return False


def _authorities() -> ssl.SSLContext:
    """The authorities of ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, by default those of certifi."""
    file, folders = variable(_CERT_FILE), variable(_CERT_DIR)
    try:
        if folders is not None:
            _check_folders(folders)
        if file is None and folders is None:
            return httpx.create_ssl_context(trust_env=False)
        return ssl.create_default_context(cafile=file, capath=folders)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise _unreadable(error) from error


def _check_folders(folders: str) -> None:
    """Raise the ``OSError`` of the first folder, unless another one can be read: OpenSSL takes
    any text for folders without certificates.
    """
    errors = []
    for folder in folders.split(os.pathsep):
        try:
            os.scandir(folder).close()
        except OSError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _paths(name: str) -> list[str]:
    text = variable(name) or ""
    return text.split(os.pathsep) if name == _CERT_DIR else [text]


def _unreadable(error: Exception) -> UsageError:
    """The error of certificates, or of the file for keys, that cannot be read."""
    path = getattr(error, "filename", None)
    names = (_CERT_DIR, _KEY_LOG, _CERT_FILE)  # only the last one's error has no path
    by = [name for name in names if path in _paths(name)]
    name = by[0] if by else _CERT_FILE
    given = _Given(name, variable(name) or "")
    reason = getattr(error, "strerror", None) or f"{error}"
    hint = f"name a file that can be written, or unset {name}"
    if name != _KEY_LOG:
        hint = (
            f"{name} names {'folders' if name == _CERT_DIR else 'a file'} with the certificates, "
            "as PEM, of the authorities to trust; without it the usual ones are"
        )
    return UsageError(f"{_shown(given)} cannot be read: {reason}", hint=hint)
