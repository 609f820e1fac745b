"""The scopes that requests need, as checked and as published."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

#: ``compute``: computations, tapes and reading. ``write``: storing and deleting programs and
#: tensors. ``admin``: metrics and tenants.
Scope: TypeAlias = Literal["compute", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

#: Paths without information about tenants: health, and what is the same in every copy.
_PUBLIC = frozenset(
    {"/", "/healthz", "/readyz", "/docs", "/guide", "/openapi.json", "/v1/ops", "/v1/limits"}
)
_PUBLIC_BELOW = ("/docs/", "/guide/", "/page/")
_ADMIN = frozenset({"/metrics", "/v1/tenants"})
_ADMIN_BELOW = ("/v1/tenants/",)
#: Stored resources, which need ``write`` to change and ``compute`` to read.
_STORED = ("/v1/programs", "/v1/tensors")
_READING = frozenset({"GET", "HEAD"})


def required_scope(method: str, path: str) -> Scope | None:
    """The scope a request needs; None for public paths.

    Unknown paths need a key too, so that requests without one do not reveal which paths exist.
    """
    if path in _PUBLIC or path.startswith(_PUBLIC_BELOW):
        return None
    if path in _ADMIN or path.startswith(_ADMIN_BELOW):
        return "admin"
    if path.startswith(_STORED) and method not in _READING:
        return "write"
    return "compute"
