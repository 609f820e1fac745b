"""Sums over rows, divided: a tape of all rows becomes that of a shard, whose values are parts.

``walk`` goes through a recording that is of all rows, and records again, for the rows of one shard,
what depends on them.  What every value is there, ``values`` says: the same in all shards, one with
rows of its own, or a part of a sum.  The rules are of families of operations: ``rowwise``,
``views``, ``indexing``, ``products`` and ``loops`` for rows, ``linear`` for parts of sums.
"""

from gradwire_engine.sharding.values import Along, Division, Part, Value, decided_by_rows
from gradwire_engine.sharding.walk import Walk

__all__ = ["Along", "Division", "Part", "Value", "Walk", "decided_by_rows"]
