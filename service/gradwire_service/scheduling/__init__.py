"""Deadlines, and the bounded queue in front of executors."""

from gradwire_service.scheduling.bounds import Bounds
from gradwire_service.scheduling.capacity import Capacity
from gradwire_service.scheduling.deadline import Deadline, InlineDeadline, TooLongInline
from gradwire_service.scheduling.lanes import Lanes
from gradwire_service.scheduling.placement import Placement
from gradwire_service.scheduling.queue import Queue
from gradwire_service.scheduling.queued_task import Executor, GaveWay
from gradwire_service.scheduling.rounds import Rounds

__all__ = [
    "Bounds",
    "Capacity",
    "Deadline",
    "Executor",
    "GaveWay",
    "InlineDeadline",
    "Lanes",
    "Placement",
    "Queue",
    "Rounds",
    "TooLongInline",
]
