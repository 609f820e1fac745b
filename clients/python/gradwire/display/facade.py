"""The presentations that ``gradwire.hooks`` names, in one module."""

from gradwire.display.cards import array_card
from gradwire.display.cards import card as answer_card
from gradwire.display.commands import curl
from gradwire.display.frames import frame
from gradwire.display.functions import function_card
from gradwire.display.text import text as answer_text

__all__ = ["answer_card", "answer_text", "array_card", "curl", "frame", "function_card"]
