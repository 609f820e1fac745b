"""Which scope a request needs: the one table, for those who ask and for what is published."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

#: ``compute``: computations, tapes and reading. ``write``: programs and tensors are stored and
#: deleted. ``admin``: what is told of the service and of all its tenants.
Scope: TypeAlias = Literal["compute", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

#: What says nothing about anybody: whether the service lives, and what any copy of it says.
_PUBLIC = frozenset({"/", "/healthz", "/readyz", "/docs", "/openapi.json", "/v1/ops", "/v1/limits"})
_PUBLIC_BELOW = ("/docs/",)
_ADMIN = frozenset({"/metrics", "/v1/tenants"})
_ADMIN_BELOW = ("/v1/tenants/",)
#: What is stored here by those who may write; others may read it.
_STORED = ("/v1/programs", "/v1/tensors")
_READING = frozenset({"GET", "HEAD"})


def required_scope(method: str, path: str) -> Scope | None:
    """The scope a request needs; None for what is public.

    Whatever is not named here needs a key, also what is not there: so nobody learns what is.
    """
    if path in _PUBLIC or path.startswith(_PUBLIC_BELOW):
        return None
    if path in _ADMIN or path.startswith(_ADMIN_BELOW):
        return "admin"
    if path.startswith(_STORED) and method not in _READING:
        return "write"
    return "compute"
