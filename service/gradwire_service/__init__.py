"""The HTTP service around the engine: formats, scheduling, storage and errors."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("gradwire-server")
except PackageNotFoundError:
    __version__ = "0+uninstalled"

__all__ = ["__version__"]
