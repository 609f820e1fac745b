"""Every knob of the service, read from ``GRADWIRE_…`` environment variables.

The knobs of each subject are in a file of its own.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from gradwire_service.settings.admitting import Admitting
from gradwire_service.settings.budgets import Budgets
from gradwire_service.settings.connections import Connections
from gradwire_service.settings.keeping import Keeping
from gradwire_service.settings.listening import Listening
from gradwire_service.settings.sharing import Sharing
from gradwire_service.settings.telling import Telling

__all__ = ["SUBJECTS", "Settings"]

#: The subjects, in the order in which they are told.
SUBJECTS: tuple[type[BaseModel], ...] = (
    Listening,
    Connections,
    Admitting,
    Budgets,
    Sharing,
    Keeping,
    Telling,
)


class Settings(Listening, Connections, Admitting, Budgets, Sharing, Keeping, Telling, BaseSettings):
    """One instance per application; never read as a global."""

    model_config = SettingsConfigDict(
        env_prefix="GRADWIRE_",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,  # the address of a store may hold a password
    )

    @model_validator(mode="after")
    def _timeouts_are_ordered(self) -> Self:
        if self.default_timeout_ms > self.max_timeout_ms:
            raise ValueError("GRADWIRE_DEFAULT_TIMEOUT_MS must not exceed GRADWIRE_MAX_TIMEOUT_MS")
        return self
