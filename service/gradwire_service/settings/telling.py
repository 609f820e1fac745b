"""What the service tells of its work."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Telling(BaseModel):
    """What the service tells of its work."""

    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info", description="The least severe level that is logged."
    )
