"""The limit of open files, so of connections, of this process."""

from __future__ import annotations

import sys

#: Beside connections: the store, libraries, pipes.
_OTHERS = 256


def allow_connections(number: int) -> None:
    """Raise the soft limit for so many connections, as far as the hard limit allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + _OTHERS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
