"""What may run, when, and for how long: deadlines, threads that take turns, and the queue."""

from gradwire_service.capacity.admission import Capacity
from gradwire_service.capacity.deadline import Deadline, InlineDeadline, TooLongInline
from gradwire_service.capacity.queue import Bounds, Queue

__all__ = ["Bounds", "Capacity", "Deadline", "InlineDeadline", "Queue", "TooLongInline"]
