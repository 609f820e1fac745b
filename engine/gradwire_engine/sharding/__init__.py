"""Sums over rows, divided: a tape of all rows becomes that of a shard, whose values are parts.

``walk`` goes through a recording that is of all rows, and records again, for the rows of one shard,
what depends on them.  What every value is there, ``values`` says: the same in all shards, one with
rows of its own, or a part of a sum.  ``rules`` infers it by what operations state of their axes and
of linearity, ``loops`` and ``custom_vjp`` for what has a tape or a rule of its own.
"""

from gradwire_engine.sharding.values import Along, Division, Part, Value, decided_by_rows
from gradwire_engine.sharding.walk import Walk

__all__ = ["Along", "Division", "Part", "Value", "Walk", "decided_by_rows"]
