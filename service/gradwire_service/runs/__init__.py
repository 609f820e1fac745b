"""Runs of optimisations: on this replica, and those that it takes over."""

from gradwire_service.runs.places import Places
from gradwire_service.runs.run import Cancelled, Interrupted, Run
from gradwire_service.runs.runs import Runs

__all__ = ["Cancelled", "Interrupted", "Places", "Run", "Runs"]
