"""The presentations that ``gradwire.hooks`` names, in one module."""

import gradwire.display.functions  # its reports are found by type
import gradwire.display.optimizations  # noqa: F401 - and so are these
from gradwire.display.commands import curl
from gradwire.display.following import following
from gradwire.display.frames import frame
from gradwire.display.html import card
from gradwire.display.text import text

__all__ = ["card", "curl", "following", "frame", "text"]
