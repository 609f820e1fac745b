"""The environment as a source of settings, in which an empty variable is an unset one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource


def is_blank(text: object) -> bool:
    """True for a text that is empty or white space alone."""
    return isinstance(text, str) and not text.strip()


def given(environment: Mapping[str, str]) -> Iterator[str]:
    """The names of the variables that are not empty."""
    return (name for name, text in environment.items() if not is_blank(text))


class Environment(EnvSettingsSource):
    """Environment variables.

    Compose files and charts pass ``${VARIABLE:-}``, which is empty where nothing is set.
    """

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The text of a variable; ``None`` if it is empty or unset."""
        text, key, is_complex = super().get_field_value(field, field_name)
        return None if is_blank(text) else text, key, is_complex
