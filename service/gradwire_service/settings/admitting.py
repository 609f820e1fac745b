"""Authentication and rate limits."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, SecretStr, model_validator


class Admitting(BaseModel):
    """Authentication and rate limits."""

    keys_file: str = Field(
        default="",
        description="File of the API keys' digests, as `gradwire-server keys new` writes it, read "
        "again when it changes. Without keys, anybody may ask.",
    )
    keys: SecretStr | None = Field(
        default=None, description="What such a file holds, instead of one."
    )
    open: bool = Field(
        default=False,
        description="Whether anybody may ask though the service listens on more than the "
        "loopback; without this and without keys it does not start there.",
    )
    key_requests_per_second: float = Field(
        default=0,
        ge=0,
        allow_inf_nan=False,
        description="Requests a second of an API key that does not say itself; 0 for any number. "
        "Each replica counts for itself, here and below.",
    )
    key_burst: int = Field(
        default=0,
        ge=0,
        description="Requests of such a key that may come at once, after a pause; 0 for as many "
        "as in a second.",
    )
    key_concurrent: int = Field(
        default=0, ge=0, description="Requests of such a key under way at once; 0 for any number."
    )

    @property
    def has_keys(self) -> bool:
        """Whether anybody is asked for a key; an empty list of keys lets nobody in."""
        return bool(self.keys_file or self.keys)

    @model_validator(mode="after")
    def _keys_are_in_one_place(self) -> Self:
        if self.keys_file and self.keys:
            raise ValueError("GRADWIRE_KEYS_FILE and GRADWIRE_KEYS exclude each other")
        return self
