"""One call from the first attempt to its result: requests, retries and backoff, without I/O.

A client sends an ``Exchange``'s requests and reports each response or failure, until it is done.

Evaluations are pure, and a request that consumes a tape has an idempotency key, so attempts may be
repeated. They are repeated if the connection failed, a proxy lost its replica (502, 503, 504), or
the service asks to retry later (429, 503). They are not repeated after a timeout of the client or
the service: the next attempt would take as long and double the load.
"""

from __future__ import annotations

import concurrent.futures
import email.utils
import random
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Generic, TypeVar

import httpx

from gradwire import codec, environment, events, hints
from gradwire.call import Call, Reply
from gradwire.errors import (
    APIError,
    GradwireError,
    MalformedReply,
    RequestTimeout,
    TransportError,
    UsageError,
)
from gradwire.events import ServerEvent
from gradwire.options import ClientOptions
from gradwire.problems import problem_error
from gradwire.results import request_id

T = TypeVar("T")

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 8.0
#: The longest ``Retry-After`` that is waited for; beyond it the caller decides.
LONGEST_RETRY_AFTER_SECONDS = 60.0

#: Bytes of a body that are handed to a connection at a time.
PIECE_BYTES = 1 << 18
#: Characters of a program from which its short name is computed.
CHARACTERS_OF_HOME = 4096

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
#: Errors of sending, by httpx, ``ssl``, the system and Python. A user's own classes, which hooks of
#: an ``http_client`` may raise, pass through.
FAILURES = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    BufferError,
    concurrent.futures.CancelledError,
    EOFError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
#: Errors of reading an answer that is not what the service answers.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
RETRIED_FAILURES = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)

#: The header that names the program of a request.
HOME = "Gradwire-Program"

#: Media types of answers that are not documents.
PICTURES = ("image/", "text/vnd.graphviz")


class InPieces(httpx.ByteStream):
    """A large body for a connection that copies what it could not yet send of what it was given."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._content: bytes = content

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._content), PIECE_BYTES):
            yield self._content[start : start + PIECE_BYTES]


class Exchange(Generic[T]):
    """The attempts at one call; ``result`` returns or raises once it is ``done``."""

    def __init__(
        self, call: Call[T], options: ClientOptions, now: Callable[[], float] = time.time
    ) -> None:
        self.method: str = call.method
        self.base_url: str = options.base_url
        self.url: str = f"{options.base_url}{call.path}"
        self.headers: dict[str, str] = options.headers()
        if call.method == "POST" and call.key != "":
            # A tape may answer once: to each attempt at one question.
            self.headers["Idempotency-Key"] = call.key or secrets.token_hex(16)
        if call.prefers_job:
            self.headers["Prefer"] = "respond-async"
        home = options.home
        if home is None and call.source is not None:
            home = _home(call.source[:CHARACTERS_OF_HOME])
        if home is not None:  # behind a proxy, the replica that has it compiled
            self.headers[HOME] = home
        if call.hear is not None:
            self.headers["Accept"] = f"{events.MEDIA_TYPE}, {codec.PROBLEM_MEDIA_TYPE}"
        if call.last_event_id is not None:
            self.headers["Last-Event-ID"] = call.last_event_id
        self.content: bytes = call.content or _content(call.document)
        if not self.content:  # nothing has no type
            del self.headers["Content-Type"]
        #: Delay before the next attempt.
        self.delay_seconds: float = 0.0
        self.done: bool = False
        self._call = call
        self._now = now
        self._timeout = options.timeout if call.timeout_seconds is None else call.timeout_seconds
        self._max_retries = options.max_retries
        self._retries = 0
        self._response: httpx.Response | None = None
        self._error: GradwireError | None = None

    def request(self, pool: httpx.Client | httpx.AsyncClient | None) -> httpx.Request:
        """The next attempt, with the headers, cookies and parameters of the caller's ``pool``.

        Without one, it is made in a third of the time.
        """
        method, headers, content = self.method, self.headers, self.content
        if pool is None:
            timeout = {"timeout": httpx.Timeout(self._timeout).as_dict()}
            request = httpx.Request(
                method, _parsed(self.url), headers=headers, content=content, extensions=timeout
            )
        else:
            request = pool.build_request(
                method, self.url, headers=headers, content=content, timeout=self._timeout
            )
        if len(self.content) > PIECE_BYTES:
            request.stream = InPieces(self.content)
        return request

    def receive(self, response: httpx.Response) -> None:
        """An attempt was answered."""
        if response.is_success:
            self._response = response
            self._finish(None)
            return
        error = self._refusal(response)
        timed_out = error.code == "deadline_exceeded"
        self._settle(error, response.status_code in RETRIED_STATUSES and not timed_out)

    def fail(self, failure: Exception) -> None:
        """An attempt was not answered."""
        self._settle(self.error_of(failure), isinstance(failure, RETRIED_FAILURES))

    def error_of(self, failure: Exception) -> GradwireError:
        """The error of an attempt that was not answered."""
        reason = f"{failure}" or type(failure).__name__
        error: GradwireError
        if isinstance(failure, GradwireError):
            error = failure
        elif isinstance(failure, httpx.TimeoutException):
            error = RequestTimeout(f"{self.url}: {reason}", hint=hints.TOO_LATE)
        elif isinstance(failure, (httpx.ConnectError, httpx.ProxyError)):
            problem = f"no Gradwire service at {self.base_url} ({reason})"
            error = TransportError(problem, hint=hints.of_connecting(reason, *self._environment()))
        elif isinstance(failure, (httpx.HTTPError, OSError)):
            error = TransportError(f"{self.url}: {reason}", hint=hints.LOST)
        else:
            problem = f"{self.method} {self.url}: {reason}"
            error = UsageError(problem, hint=hints.of_sending(reason))
        error.__cause__ = None if error is failure else failure
        return error

    def _environment(self) -> tuple[str | None, str | None]:
        """The variables by which the service is reached: a proxy's, and those of authorities."""
        return environment.proxy_of(self.base_url), environment.trusted()

    def check_stream(self, response: httpx.Response) -> None:
        """Raise the error of an answer that is no stream of events; a refusal has been read."""
        if not response.is_success:
            raise self._refusal(response)
        media_type = response.headers.get("Content-Type", "no media type")
        if not media_type.startswith(events.MEDIA_TYPE):
            raise MalformedReply(
                f"{self.url} answered {media_type}, not a stream of events",
                hint=hints.OTHER_SERVICE,
            )

    def result(self) -> T:
        """The call's result, or its error."""
        if self._error is not None:
            raise self._error
        if self._response is None:
            raise RuntimeError("the exchange is not done")
        try:
            return self._call.read(Reply(_document(self._response), self._response))
        except UNREADABLE as error:
            media_type = self._response.headers.get("Content-Type", "no media type")
            is_ours = media_type.startswith(codec.MEDIA_TYPES)
            raise MalformedReply(
                f"{self.url} answered {self._response.status_code} with a document of {media_type} "
                f"that this version of gradwire cannot read ({type(error).__name__}: {error})",
                hint=hints.OLD if is_ours else hints.OTHER_SERVICE,
            ) from error

    def _refusal(self, response: httpx.Response) -> APIError:
        return _refusal(response, self._call.source, self.base_url, self._now)

    def _settle(self, error: GradwireError, retriable: bool) -> None:
        asked = error.retry_after_seconds if isinstance(error, APIError) else None
        patient = asked is None or asked <= LONGEST_RETRY_AFTER_SECONDS
        if not (retriable and patient and self._retries < self._max_retries):
            self._finish(error)
            return
        self.delay_seconds = _delay_seconds(self._retries, asked)
        self._retries += 1

    def _finish(self, error: GradwireError | None) -> None:
        self._error = error
        self.done = True


_parsed = lru_cache(maxsize=256)(httpx.URL)


@lru_cache(maxsize=1024)
def _home(text: str) -> str:
    """A short name of a program, the same from every client."""
    return f"{zlib.crc32(text.encode()):08x}"


def _content(document: Any) -> bytes:
    return b"" if document is None else codec.encode(document)


def _document(response: httpx.Response) -> Any:
    """The document of a response; ``ValueError`` if there is none."""
    content, media_type = response.content, response.headers.get("Content-Type", "")
    if not content or media_type.startswith(PICTURES):
        return None
    return codec.decode(content, media_type, to_compute=True)


def _delay_seconds(retries: int, asked: float | None) -> float:
    """Exponential backoff, jittered so that clients that failed together do not return together.

    A ``Retry-After`` is a lower bound: the jitter comes on top.
    """
    backoff = min(FIRST_DELAY_SECONDS * 2.0**retries, LONGEST_DELAY_SECONDS)
    jitter = random.random()  # noqa: S311 - spreads load, guards nothing
    return backoff * (1.0 + jitter) / 2.0 if asked is None else asked + backoff * jitter / 4.0


def _refusal(
    response: httpx.Response, source: str | None, base_url: str, now: Callable[[], float]
) -> APIError:
    """The error of a response: a problem document, or a proxy's own answer."""
    try:
        problem = _document(response)
    except UNREADABLE:
        problem = None
    if not isinstance(problem, Mapping):
        problem = {}
    status = response.status_code
    return problem_error(
        {**_titled(response, problem), "status": status},
        **_hinted(status, problem.get("code"), base_url),
        request_id=request_id(response),
        retry_after_seconds=_retry_after_seconds(response, now),
        problem=problem,
        source=source,
        raw=response,
    )


def _titled(response: httpx.Response, problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem with a detail, in the response's words if it has none."""
    texts = (problem.get(name) for name in ("detail", "title"))
    detail = next((text for text in texts if isinstance(text, str)), _reason(response))
    return {**problem, "detail": detail}


def _hinted(status: int, code: Any, base_url: str) -> dict[str, str]:
    """The hint of the SDK, if it has one that is better than the service's."""
    hint = hints.of_refusal(status, code, base_url)
    return {} if hint is None else {"hint": hint}


def heard(call: Call[T], event: ServerEvent) -> T | None:
    """The result that a call hears in an event, if any.

    Raises: ``MalformedReply``.
    """
    if call.hear is None:
        return None
    try:
        return call.hear(event)
    except MalformedReply:
        raise
    except UNREADABLE as error:
        problem = f"{call.path} sent an event that cannot be read: {error}"
        raise MalformedReply(problem, hint=hints.OLD) from error


def _reason(response: httpx.Response) -> str:
    known = response.status_code in HTTPStatus._value2member_map_
    phrase = HTTPStatus(response.status_code).phrase if known else "unknown status"
    return f"{response.url} answered {response.status_code} ({phrase})"


def _retry_after_seconds(response: httpx.Response, now: Callable[[], float]) -> float | None:
    """``Retry-After`` (RFC 9110, 10.2.3): seconds, or the date to wait for."""
    header = response.headers.get("Retry-After", "").strip()
    if header.isdecimal():
        return float(header)
    try:
        until = email.utils.parsedate_to_datetime(header).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until - now())
