"""Where the service listens, and how it stops."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Listening(BaseModel):
    """Where the service listens, and how it stops."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    keep_alive_seconds: int = Field(
        default=75, gt=0, description="How long an idle connection is kept; more than the proxy's."
    )
    drain_seconds: float = Field(
        default=1.0,
        ge=0,
        description="After SIGTERM, how long new work is still taken while readiness is down.",
    )
