"""The memory that a replica may come to need, as docs/how-to/deployment.md sums it up."""

from gradwire_service.settings import Settings

#: The service with nothing to do, and what its processes have in common and begin with.
IDLE_BYTES = 300 << 20


def most_bytes(settings: Settings) -> int:
    """All that settings bound, at once."""
    return (
        IDLE_BYTES
        + settings.cache_bytes
        + settings.local_cache_bytes
        + settings.buffer_bytes
        + settings.queue_bytes
        + (settings.processes + settings.job_processes + 1) * settings.process_bytes
    )
