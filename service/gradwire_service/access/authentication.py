"""Authentication by API keys, before bodies are read."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service.access.keyring import ApiKey, Caller, Keyring
from gradwire_service.access.rules import required_scope
from gradwire_service.access.tokens import read_token
from gradwire_service.problems import RequestError
from gradwire_service.telemetry import stats_of
from gradwire_service.wire.headers import headers_of

#: The entry of a request's ASGI scope that has its ``Caller``.
CALLER = "gradwire.caller"

_SCHEME = b"bearer "
_REALM = 'Bearer realm="gradwire"'


def caller_of(scope: Scope) -> Caller | None:
    """The caller of a request; None without authentication."""
    return scope.get(CALLER)


class Authentication:
    """Admits requests that a key allows, and stores the caller in their scope."""

    def __init__(self, app: ASGIApp, keyring: Keyring) -> None:
        self._app = app
        self._keyring = keyring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            needed = required_scope(scope["method"], scope["path"])
            if needed is not None:
                key = self._key(scope)
                scope[CALLER] = key.caller
                stats_of(scope).tenant = key.caller.tenant
                if needed not in key.scopes:
                    raise _forbidden(needed)
                key.limiter.enter()
                try:
                    await self._app(scope, receive, send)
                finally:
                    key.limiter.leave()
                return
        await self._app(scope, receive, send)

    def _key(self, scope: Scope) -> ApiKey:
        """The single key of a request.

        Repeated headers are joined by commas, which no key contains.
        """
        given = headers_of(scope).get(b"authorization")
        if given is None or given[: len(_SCHEME)].lower() != _SCHEME:
            raise _unauthenticated("this path needs an API key", None)
        token = read_token(given[len(_SCHEME) :].strip())
        key = None if token is None else self._keyring.identify(token)
        if key is None:
            raise _unauthenticated("the API key is unknown, revoked or expired")
        return key


def _unauthenticated(detail: str, error: str | None = "invalid_token") -> RequestError:
    """The error of a missing or invalid key; a missing one has no code (RFC 6750, 3.1)."""
    return RequestError(
        "unauthenticated",
        detail,
        hint="send one header Authorization: Bearer gw_… with a key from the operator",
        challenge=_REALM if error is None else f'{_REALM}, error="{error}"',
    )


def _forbidden(needed: str) -> RequestError:
    return RequestError(
        "forbidden",
        f"the API key lacks the scope {needed}",
        hint=f"ask the operator for a key with the scope {needed}",
        challenge=f'{_REALM}, error="insufficient_scope", scope="{needed}"',
    )
