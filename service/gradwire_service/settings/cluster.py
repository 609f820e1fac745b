"""Computations on a Dask cluster."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

_SCHEDULER = re.compile(r"(tcp|tls|ws|wss|ucx)://(\[[0-9a-fA-F:]+\]|[^\s/:]+):\d+")

_URL = re.compile(r"(?!file:|local:)[a-z][a-z0-9+.-]*://[^\s]")


def _scheduler(address: str) -> str:
    if address and not _SCHEDULER.fullmatch(address):
        raise ValueError("must be the address of a scheduler: tcp://host:8786 or tls://host:8786")
    return address


def _root(root: str) -> str:
    """Check a folder or URL: workers have other working folders, and links are checked in paths."""
    if root and not (root.startswith("/") or _URL.match(root)):
        raise ValueError("must be an absolute path, or a URL other than file: s3://bucket/data")
    return root


class ClusterSettings(BaseModel):
    """Computations on a Dask cluster."""

    dask: Annotated[str, AfterValidator(_scheduler)] = Field(
        default="",
        description="Address of a Dask scheduler, tcp://host:8786 or tls://host:8786. Its workers "
        'evaluate objectives over chunked data, `{"dask": …}`, `{"zarr": …}` and '
        '`{"parquet": …}`. Service and workers need the extra `dask` and the same version of '
        "`gradwire-server`. Scheduler and workers run what anyone sends who can connect to them: "
        "only the service may.",
    )
    data_root: Annotated[str, AfterValidator(_root)] = Field(
        default="",
        description="Folder, or URL such as s3://bucket/data, of the Zarr arrays and Parquet files "
        "that requests may name, as the workers see it. With API keys, a tenant reads only what is "
        "in the subfolder of its name. Without this setting, no files are read.",
    )
