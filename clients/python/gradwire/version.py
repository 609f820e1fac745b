"""The SDK's version, as its distribution states it."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("gradwire")
except PackageNotFoundError:  # run from a checkout
    __version__ = "0+uninstalled"
