"""Reads settings from options and the environment; errors name them as they were given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from gradwire_service.settings import Settings
from gradwire_service.settings.derived import source_of
from gradwire_service.settings.environment import is_blank
from gradwire_service.settings.errors import StartupError
from gradwire_service.settings.fit import contradictions

_PREFIX = "GRADWIRE_"
#: Variables of the SDK and the compose file, which may share the environment.
_OTHERS = frozenset(
    {
        "GRADWIRE_API_KEY",
        "GRADWIRE_IMAGE",
        "GRADWIRE_PLACEMENT",
        "GRADWIRE_PUBLISHED_PORT",
        "GRADWIRE_REDIS_OPERATOR_PASSWORD",
        "GRADWIRE_REDIS_PASSWORD",
        "GRADWIRE_REDIS_PORT",
        "GRADWIRE_REDIS_TLS_PORT",
        "GRADWIRE_TARGET",
        "GRADWIRE_TENANT",
        "GRADWIRE_URL",
    }
)
_MOST_SHOWN = 60


class SettingsError(StartupError):
    """Invalid settings; the message names each by its variable or option."""


def read_settings(options: Mapping[str, Any]) -> Settings:
    """The settings from options, by their fields' names, and from the environment.

    An empty option or variable is as if it were not given.

    Raises: ``SettingsError``.
    """
    try:
        given: dict[str, Any] = {k: text for k, text in options.items() if not is_blank(text)}
        settings = Settings(**given)
    except ValidationError as error:
        faults = [
            _described(fault, options)
            for fault in error.errors(include_url=False)
            if fault["type"] != "default_factory_not_called"  # it follows from an invalid one
        ]
        raise SettingsError("; ".join(faults)) from None
    if faults := [*contradictions(settings)]:
        raise SettingsError("; ".join(faults))
    return settings


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return _PREFIX + name.upper()


def needless(settings: Settings) -> list[str]:
    """The variables of settings that are given and need not be, each with what it follows from."""
    sources = [(name, source_of(Settings.model_fields[name])) for name in settings.model_fields_set]
    return sorted(
        f"{variable(name)} ({f'see {variable(source)}' if source else 'fixed'})"
        for name, source in sources
        if source is not None
    )


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """Unknown variables that look like settings, each with the setting that may be meant."""
    known = {variable(name) for name in Settings.model_fields}
    unknown = []
    for name in sorted(environment):
        if not name.upper().startswith(_PREFIX) or name.upper() in known | _OTHERS:
            continue
        near = get_close_matches(name.upper(), known, n=1, cutoff=0.8)
        unknown.append(f"{name} (is {near[0]} meant?)" if near else name)
    return unknown


def _described(fault: Any, options: Mapping[str, Any]) -> str:
    message: str = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return message
    name = str(fault["loc"][0])
    given = "--" + name.replace("_", "-") if name in options else variable(name)
    field = Settings.model_fields[name]
    # Numbers are shown, since others may have set them: Kubernetes sets GRADWIRE_PORT for a Service
    # of that name. Texts are not: they may be keys or hold a password.
    if field.annotation in (int, float, bool):
        given += f"={str(fault['input'])[:_MOST_SHOWN]}"
    return f"{given}: {message}"
