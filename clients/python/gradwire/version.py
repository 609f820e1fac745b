"""The SDK's version, as its distribution states it."""

from importlib.metadata import version

__version__ = version("gradwire")
