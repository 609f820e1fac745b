"""Redirects of large computations to replicas with a GPU; nginx follows them."""

from __future__ import annotations

from gradwire_engine.queries import Call

from gradwire_service.settings import Settings
from gradwire_service.work.request import Request

#: The location of nginx that sends a request to replicas with a GPU. There is no other, so that
#: clients that reach a service directly or by another proxy cannot choose where it redirects.
GPU = b"@gpu"
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

    def allowed(self, request: Request, *, refers: bool) -> bool:
        """True if nginx would follow, and another replica finds what the request refers to."""
        if not self._least_flops or request.headers.get(b"gradwire-redirect") != GPU:
            return False
        return self._shares_store or not refers

    def pays(self, call: Call) -> bool:
        """True if a compiled call has much arithmetic, also for what it sends.

        Exact answers are the CPU's everywhere.
        """
        moved_bytes = call.input_bytes + call.answer_bytes
        least_flops = max(self._least_flops, _FLOPS_PER_BYTE * moved_bytes)
        return not call.query.exact and call.flops >= least_flops
