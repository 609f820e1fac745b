"""The settings of the service, read from ``GRADWIRE_…`` environment variables.

The settings of each subject are in a file of its own.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gradwire_service.settings.auth import AuthSettings
from gradwire_service.settings.budgets import BudgetSettings
from gradwire_service.settings.cluster import ClusterSettings
from gradwire_service.settings.concurrency import ConcurrencySettings
from gradwire_service.settings.connections import ConnectionSettings
from gradwire_service.settings.environment import Environment
from gradwire_service.settings.gpu import GpuSettings
from gradwire_service.settings.jobs import JobSettings
from gradwire_service.settings.machine import MachineSettings
from gradwire_service.settings.observability import ObservabilitySettings
from gradwire_service.settings.server import ServerSettings
from gradwire_service.settings.storage import StorageSettings

__all__ = ["SUBJECTS", "Settings"]


class Settings(
    ServerSettings,
    ConnectionSettings,
    AuthSettings,
    BudgetSettings,
    ConcurrencySettings,
    GpuSettings,
    ClusterSettings,
    JobSettings,
    StorageSettings,
    ObservabilitySettings,
    MachineSettings,
    BaseSettings,
):
    """One instance per application; never read as a global."""

    model_config = SettingsConfigDict(
        env_prefix="GRADWIRE_",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,  # the address of a store may hold a password
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment."""
        return init_settings, Environment(settings_cls)

    @model_validator(mode="after")
    def _timeouts_are_ordered(self) -> Self:
        if self.default_timeout_ms > self.max_timeout_ms:
            raise ValueError("GRADWIRE_DEFAULT_TIMEOUT_MS must not exceed GRADWIRE_MAX_TIMEOUT_MS")
        return self


#: The subjects, in the order of the documentation.
SUBJECTS: tuple[type[BaseModel], ...] = Settings.__bases__[:-1]
