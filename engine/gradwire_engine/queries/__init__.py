"""Queries: calls and recordings, what they share in the cache, and their answers."""

from gradwire_engine.queries.cache import Entry
from gradwire_engine.queries.call import Call
from gradwire_engine.queries.coalesced import JointCall, padded
from gradwire_engine.queries.recording import Recording

__all__ = ["Call", "Entry", "JointCall", "Recording", "padded"]
