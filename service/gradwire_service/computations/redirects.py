"""Redirects of large computations to replicas with a GPU, and of long ones; nginx follows them."""

from __future__ import annotations

from gradwire_engine.queries import Call

from gradwire_service.settings import Settings
from gradwire_service.tasks.request import Request

#: The location of nginx that sends a request to replicas with a GPU. There are no others than these
#: two: clients that reach a service directly or by another proxy cannot choose where it redirects.
GPU = b"@gpu"
#: The location of nginx that waits for more than the default time.
PATIENT = b"@patient"
#: A redirected request is sent and read once more. In the time that takes for a byte, a CPU does
#: fewer operations than these.
_FLOPS_PER_BYTE = 100


class Redirects:
    """Which requests a replica without a GPU redirects.

    The decision is by the arithmetic of the tape, and not by measured times: so a query does not
    move, and its answers keep their last digits.
    """

    def __init__(self, settings: Settings) -> None:
        self._least_flops = 0 if settings.backend == "cupy" else settings.gpu_redirect_flops
        self._shares_store = settings.shares_store
        self._default_ms = settings.default_timeout_ms

    def allowed(self, request: Request, *, refers: bool) -> bool:
        """True if nginx would follow, and another replica finds what the request refers to."""
        if not self._least_flops or GPU not in _locations(request):
            return False
        return self._shares_store or not refers

    def takes_long(self, request: Request) -> bool:
        """True if nginx waits for the default time only, and the body asks for more."""
        allowed_ms = request.deadline.allowed_ms
        return allowed_ms > self._default_ms and PATIENT in _locations(request)

    def pays(self, call: Call) -> bool:
        """True if a compiled call has much arithmetic, also for what it sends.

        Exact answers are the CPU's everywhere.
        """
        moved_bytes = call.input_bytes + call.answer_bytes
        least_flops = max(self._least_flops, _FLOPS_PER_BYTE * moved_bytes)
        return not call.query.exact and call.flops >= least_flops


def _locations(request: Request) -> list[bytes]:
    """The locations to which nginx allows a redirect: none if others have written there, too."""
    named = request.headers.get(b"gradwire-redirect", b"").split()
    return named if {GPU, PATIENT}.issuperset(named) else []
