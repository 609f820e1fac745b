"""What may run, when, and for how long: deadlines, threads that take turns, and the queue."""

from gradwire_service.capacity.admission import GRACE_SECONDS, Capacity, Running
from gradwire_service.capacity.deadline import Deadline, InlineDeadline, TooLongInline

__all__ = [
    "GRACE_SECONDS",
    "Capacity",
    "Deadline",
    "InlineDeadline",
    "Running",
    "TooLongInline",
]
