"""Compression of request bodies, by names of content codings."""

import gzip
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
