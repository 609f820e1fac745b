"""The presentations that ``gradwire.hooks`` names, in one module."""

import gradwire.display.functions  # noqa: F401 - its reports are found by type
from gradwire.display.commands import curl
from gradwire.display.frames import frame
from gradwire.display.html import card
from gradwire.display.text import text

__all__ = ["card", "curl", "frame", "text"]
