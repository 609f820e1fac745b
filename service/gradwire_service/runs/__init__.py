"""Runs of optimisations: on this replica, and those that it takes over."""

from gradwire_service.jobs import Cancelled, Interrupted
from gradwire_service.runs.feeds import Feed, pause
from gradwire_service.runs.places import Places
from gradwire_service.runs.run import Run
from gradwire_service.runs.runs import Runs

__all__ = ["Cancelled", "Feed", "Interrupted", "Places", "Run", "Runs", "pause"]
