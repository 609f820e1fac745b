"""The memory that a replica may come to need, as docs/deployment.md sums it up."""

from gradwire_service.settings import Settings

#: The process with nothing to do.
IDLE_BYTES = 160 << 20


def most_bytes(settings: Settings) -> int:
    """All that settings bound, at once."""
    return (
        IDLE_BYTES
        + settings.cache_bytes
        + settings.near_bytes
        + settings.tape_values_bytes
        + settings.queue_bytes
        + settings.pool_threads * settings.max_total_bytes
        + settings.paused_bytes
    )
