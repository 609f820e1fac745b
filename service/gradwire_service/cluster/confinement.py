"""The data that a request may name: below a folder or URL, and of its own tenant only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from gradwire_service.access.keyring import owner_of
from gradwire_service.problems import RequestError

#: A part of a path: no parent folder, no other protocol, no query, no pattern.
_PART = re.compile(r"(?!\.{1,2}$)[^\x00-\x1f\x7f/\\:?#*%\[\]{}]+")
_ROOT_HINT = "a path is relative to GRADWIRE_DATA_ROOT: train/x.zarr, without '..'"


def check_tenant(name: str, owner: str, pointer: str) -> None:
    """Check that a ``name`` begins with that of the tenant who owns the request.

    Only digests of tenants come with requests, so that is what is compared.

    Raises: ``RequestError`` (forbidden).
    """
    tenant, slash, _ = name.partition("/")
    if not slash or owner_of(tenant) != owner:
        raise RequestError(
            "forbidden",
            "the name is not one of this API key's tenant",
            pointer=pointer,
            hint="names of datasets and files begin with the tenant's: acme/train",
        )


def relative_path(name: str, root: str, pointer: str) -> str:
    """The path below ``root`` that a request names, relative or in full.

    Raises: ``RequestError`` (invalid_request) for one that leaves it.
    """
    path = name.removeprefix(root.rstrip("/") + "/")
    if all(map(_PART.fullmatch, path.split("/"))):
        return path
    raise RequestError(
        "invalid_request", "the path is not below the data root", pointer=pointer, hint=_ROOT_HINT
    )


def is_url(root: str) -> bool:
    """True if a data root is no folder."""
    return "://" in root


def confined(root: str, path: str, pointer: str, *, within: str = "") -> str:
    """The full path of ``path``; in a folder, with no link that leads out of ``within`` it.

    Runs where the files are.

    Raises: ``RequestError`` (invalid_request) if it leads out, or does not exist.
    """
    if is_url(root):
        return f"{root.rstrip('/')}/{path}"
    base = Path(root).resolve() / within
    found = Path(root, path)
    if not found.exists():
        raise RequestError(
            "invalid_request", f"no file or folder {path[:200]}", pointer=pointer, hint=_ROOT_HINT
        )
    resolved = found.resolve()
    if not all(one.is_relative_to(base) for one in chain((resolved,), _targets(resolved))):
        raise RequestError(
            "invalid_request",
            "the path leads out of the data root by a symbolic link",
            pointer=pointer,
            hint="copy the data there, or let the operator change GRADWIRE_DATA_ROOT",
        )
    return str(resolved)


def _targets(folder: Path) -> Iterator[Path]:
    """The targets of all symbolic links below a folder."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                yield path.resolve()
