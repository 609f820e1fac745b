"""Authentication and rate limits."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from gradwire_service.settings.derived import derived


class AuthSettings(BaseModel):
    """Authentication and rate limits."""

    keys_file: str = Field(
        default="",
        description="File with the digests of the API keys, written by `gradwire-server keys new` "
        "and read again when it changes. Without keys, no authentication is required.",
    )
    keys: SecretStr | None = Field(
        default=None, description="The contents of such a file, instead of its path."
    )
    open: bool = Field(
        default=False,
        description="Allow requests without keys on addresses other than the loopback. There the "
        "service does not start without keys, unless this is set.",
    )
    key_requests_per_second: float = Field(
        default=0,
        ge=0,
        allow_inf_nan=False,
        description="Rate limit of API keys without one of their own, in requests per second; 0 is "
        "unlimited. Each replica counts this and the next two limits separately.",
    )
    key_burst: int = derived(
        "key_requests_per_second",
        default=0,
        ge=0,
        description="Requests that such a key may send at once after a pause; 0 is one second's "
        "worth.",
    )
    key_concurrent: int = Field(
        default=0, ge=0, description="Concurrent requests of such a key; 0 is unlimited."
    )

    @property
    def has_keys(self) -> bool:
        """True if keys are required; an empty list of keys admits nobody."""
        return bool(self.keys_file or self.keys)

    @model_validator(mode="after")
    def _keys_are_in_one_place(self) -> Self:
        if self.keys_file and self.keys:
            raise ValueError("GRADWIRE_KEYS_FILE and GRADWIRE_KEYS exclude each other")
        return self
