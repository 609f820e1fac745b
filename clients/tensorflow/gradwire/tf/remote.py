"""Values that stay with the service: references to them, and what computes them again.

A request leaves large results where they were computed, and the next one refers to them; they are
fetched where Python reads them. The service may lose them: it restarts, or they expire. Then the
requests that led to them are repeated, from values that are here. For that each request is
remembered, with what it sent, as long as one of its results may be needed. Before that is much more
than the results themselves, copies of these are fetched.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from gradwire import APIError, Client, StoredTensor, TransportError, UnknownRef
from gradwire.frontends import HOME, default_client
from gradwire.tf.errors import DataLossError

Array: TypeAlias = np.ndarray[Any, Any]

#: Copies are fetched when what is remembered has so many bytes, and so many times those of results.
MOST_REMEMBERED_BYTES: int = 1 << 24
MOST_REMEMBERED_TIMES: int = 2
#: The size of a remembered request beside the arrays that it sent.
REQUEST_BYTES: int = 1 << 12
#: Attempts at a request, while more of what it needs is lost, and the first that is by value.
ATTEMPTS: int = 4
BY_VALUE: int = 2
#: The pause in which nothing stays with the service, after it has lost something.
PAUSE_SECONDS: float = 60.0


@dataclass(frozen=True, slots=True)
class Query:
    """The method, text and options of a request, without its variables."""

    #: The client's method.
    method: str
    text: str
    options: Mapping[str, Any]
    #: The lists in the answer whose arrays may stay with the service.
    keep: Sequence[str] = ()

    def send(
        self, client: Client, variables: dict[str, Any], release: list[str], *, keep: bool
    ) -> Any:
        """The answer for some variables; results are released with it."""
        options = {
            **self.options,
            "keep": (keep and list(self.keep)) or None,
            "release": release or None,
        }
        return getattr(client, self.method)(self.text, variables, **options)

    def parts(self, answer: Any) -> list[Any]:
        """The parts that may have stayed with the service."""
        found: list[Any] = []
        for path in self.keep:
            member, _, position = path.partition(".")
            found += getattr(answer, member)[int(position)]
        return found


class RemoteArray:
    """A value that stays with the service, in place of its array; reading it as one fetches it."""

    __slots__ = ("__weakref__", "_on_read", "_result", "dtype", "shape")

    def __init__(self, result: Result, stored: StoredTensor, on_read: Callable[[], None]) -> None:
        self._result: Result = result
        self._on_read: Callable[[], None] = on_read
        self.dtype: np.dtype[Any] = stored.dtype
        self.shape: tuple[int, ...] = stored.shape
        result.is_held = True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        self._on_read()
        return np.array(self._result.fetched(), dtype, copy=copy)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies of it are arrays."""
        return np.asarray, (np.asarray(self),)

    def operand(self, session: Session) -> Array | Result:
        """The result if it is the session's own, else its array."""
        result = self._result
        return result if result.session is session else result.fetched()

    def __del__(self) -> None:
        self._result.is_held = False
        self._result.release()


class Result:
    """A result of a request: its place with the service, a copy here, or what computes it again."""

    __slots__ = ("__weakref__", "array", "home", "is_held", "request", "session", "stored")

    def __init__(self, session: Session, request: Request) -> None:
        self.session: Session = session
        self.request: Request | None = request
        self.stored: StoredTensor | None = None
        #: The replica that has it, by the name that leads a proxy there.
        self.home: str | None = None
        self.array: Array | None = None
        #: True if there is a value of it. Else it is only needed to compute others again.
        self.is_held: bool = False

    @property
    def is_lost(self) -> bool:
        """True if it has to be computed again."""
        return self.array is None and self.stored is None

    def settle(self, value: Array | StoredTensor, home: str | None) -> None:
        """Its request was answered."""
        if isinstance(value, StoredTensor):
            self.stored, self.home = value, home
            self.session.results[value.ref] = self
        else:
            self.copy(value)

    def copy(self, array: Array) -> None:
        """Have a copy: it is not computed again."""
        self.array, self.request = array, None

    def fetch(self) -> bool:
        """Fetch a copy; whether the service still has it."""
        if self.array is None and self.stored is not None:
            try:
                self.copy(self.session.at(self.home).tensors.get(self.stored))
            except UnknownRef:
                self.stored = None
        return not self.is_lost

    def fetched(self) -> Array:
        """A copy, computed again if it has to be."""
        for _ in range(ATTEMPTS):
            if self.fetch():
                break
            self.session.restore([self])
        if self.array is None:
            raise lost()
        return self.array

    def release(self) -> None:
        """Have the service delete it with the next request."""
        stored, self.stored = self.stored, None
        if stored is not None:
            self.session.release(stored.ref)


class Request:
    """A request, with what it sends: its results may have to be computed again."""

    __slots__ = ("_query", "_session", "_variables", "remembered_bytes", "results")

    def __init__(
        self, session: Session, query: Query, variables: dict[str, Array | Result]
    ) -> None:
        self._session: Session = session
        self._query: Query = query
        self._variables: dict[str, Array | Result] = variables
        #: The results that stayed with the service, at their places among the parts of the answer.
        self.results: list[weakref.ref[Result] | None] = []
        before = [each.request for each in self.operands()]
        own = sum([each.nbytes for each in variables.values() if isinstance(each, np.ndarray)])
        #: Bytes of what it and those before it have sent.
        self.remembered_bytes: int = (
            REQUEST_BYTES + own + max([each.remembered_bytes for each in before if each], default=0)
        )

    def operands(self) -> list[Result]:
        """The results of other requests that it refers to."""
        return [each for each in self._variables.values() if isinstance(each, Result)]

    def run(self, *, keep: bool) -> tuple[Any, list[Any]]:
        """Send it; returns the answer and its parts, those that stay with the service as results.

        Only if it is to ``keep`` them there.
        """
        home, variables = None, dict[str, Any](self._variables)
        for name, each in self._variables.items():
            if isinstance(each, Result):
                variables[name] = each.array if each.stored is None else each.stored
                home = home or (each.home if each.stored is not None else None)
        answer = self._session.ask(self._query, variables, home, keep=keep)
        home = answer.raw.request.headers.get(HOME)
        return answer, self._settled(self._query.parts(answer), home)

    def _settled(self, values: list[Any], home: str | None) -> list[Any]:
        again, found = bool(self.results), list[Any]()
        for position, value in enumerate(values):
            result: Result | None = None
            if again:
                known = self.results[position]
                result = None if known is None else known()
            elif isinstance(value, StoredTensor):
                result = Result(self._session, self)
            if result is not None and result.is_lost:
                result.settle(value, home)
            elif isinstance(value, StoredTensor):  # nobody needs it a second time
                self._session.release(value.ref)
            found.append(value if result is None else result)
        if not again:
            self.results = [
                weakref.ref(each) if isinstance(each, Result) else None for each in found
            ]
        return found


class Session:
    """The results that one client's requests have left with the service."""

    def __init__(self, client: Client, clock: Callable[[], float] = monotonic) -> None:
        self._client: Client = client
        self._clock: Callable[[], float] = clock
        self._process: int = os.getpid()
        self._released: deque[str] = deque()
        #: The client, for the replicas that have answered last.
        self._at: Callable[[str], Client] = lru_cache(maxsize=64)(self._leading_to)
        self._restoring = threading.RLock()
        self._paused_until: float = 0.0
        #: Results by their refs.
        self.results: weakref.WeakValueDictionary[str, Result] = weakref.WeakValueDictionary()

    def at(self, home: str | None) -> Client:
        """The client, whose requests lead to one replica."""
        return self._client if home is None else self._at(home)

    def _leading_to(self, home: str) -> Client:
        return self._client.with_options(home=home)

    def release(self, ref: str) -> None:
        """Delete what nobody refers to any more, with the next request."""
        if self._process == os.getpid():  # after a fork, it is the parent's
            self._released.append(ref)

    def ask(self, query: Query, variables: dict[str, Any], home: str | None, *, keep: bool) -> Any:
        """The answer to a request, which also releases."""
        released = [self._released.popleft() for _ in range(len(self._released))]
        try:
            return query.send(self.at(home), variables, released, keep=keep)
        except BaseException:
            self._released.extend(released)
            raise

    @property
    def keeps(self) -> bool:
        """True if results of new requests are to stay with the service."""
        return self._clock() >= self._paused_until

    def run(self, request: Request, *, keep: bool = True, first: int = 0) -> tuple[Any, list[Any]]:
        """The answer to a request, with what it refers to computed again if it is lost.

        What is lost twice comes by value, which cannot be lost: requests may go to any replica.
        """
        for attempt in range(first, ATTEMPTS):
            by_reference = attempt < BY_VALUE
            self.restore(request.operands(), by_reference=by_reference)
            try:
                return request.run(keep=keep and by_reference)
            except UnknownRef as error:
                found = [self.results.pop(ref, None) for ref in error.missing]
                known = [result for result in found if result is not None]
                if not known:
                    raise
                self._paused_until = self._clock() + PAUSE_SECONDS
                for result in known:  # another replica may have answered
                    if result.fetch():
                        result.stored = None
        raise lost()

    def restore(self, results: Iterable[Result], *, by_reference: bool = True) -> None:
        """Compute results again that are lost, by the requests that led to them."""
        wanted = [result for result in results if result.is_lost]
        if not wanted:
            return
        with self._restoring:
            requests = _in_order(wanted)
            last_use = {
                result: position
                for position, request in enumerate(requests)
                for result in request.operands()
            } | dict.fromkeys(wanted, len(requests))
            for position, request in enumerate(requests):
                self.run(request, first=BY_VALUE - 1 if by_reference else BY_VALUE)
                made = [ref() for ref in request.results if ref is not None]
                for result in [*request.operands(), *made]:
                    unused = result is not None and last_use.get(result, position) <= position
                    if result is not None and unused and not result.is_held:
                        result.release()

    def copy(self, results: list[Result]) -> None:
        """Fetch copies of results, where much is remembered to compute them again."""
        nbytes = sum([each.stored.nbytes for each in results if each.stored is not None])
        most = max(MOST_REMEMBERED_BYTES, MOST_REMEMBERED_TIMES * nbytes)
        for result in results:
            if result.request is not None and result.request.remembered_bytes > most:
                try:
                    result.fetch()
                except (APIError, TransportError):  # the next request tries again
                    return


@lru_cache(maxsize=8)
def _session(client: Client) -> Session:
    return Session(client)


def nothing() -> None:
    """Note nothing about a value that is read."""


def answered(
    query: Query,
    variables: dict[str, Any],
    on_reads: Iterable[Callable[[], None]] | None = None,
) -> tuple[Any, list[Any]]:
    """The answer to a request, and its parts: arrays, or values that stay with the service.

    ``on_reads`` are called when these are read, one for each part.
    """
    session = _session(default_client())
    operands = {
        name: value.operand(session) if isinstance(value, RemoteArray) else value
        for name, value in variables.items()
    }
    session.copy([each for each in operands.values() if isinstance(each, Result)])
    request = Request(session, query, operands)
    answer, found = session.run(request, keep=session.keeps)
    calls = [nothing] * len(found) if on_reads is None else list(on_reads)
    return answer, [
        RemoteArray(each, each.stored, on_read)
        if isinstance(each, Result) and each.stored is not None
        else each
        for each, on_read in zip(found, calls, strict=True)
    ]


def _in_order(results: Iterable[Result]) -> list[Request]:
    """The requests that compute lost results, each after those that it needs."""
    order: dict[Request, None] = {}
    stack: list[tuple[Result, bool]] = [(result, False) for result in results]
    while stack:
        result, complete = stack.pop()
        request = result.request
        if request is None:
            raise lost()
        if request in order:
            continue
        if complete:
            order[request] = None
            continue
        stack.append((result, True))
        stack.extend((each, False) for each in request.operands() if each.is_lost)
    return list(order)


def lost() -> DataLossError:
    """The error for a value that cannot be computed again."""
    return DataLossError(
        None,
        None,
        "the service has lost a value that nobody else has: it expired, was deleted, or the "
        "service's store was lost with it",
    )
