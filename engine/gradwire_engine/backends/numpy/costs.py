"""What computing costs with NumPy and generated Python, measured on one core of a server."""

from __future__ import annotations

from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.optimize.costs import LoopCosts

COSTS = REFERENCE.costs._replace(
    loops=LoopCosts(
        iteration=60.0,
        number_moved=80.0,
        array_moved=70.0,
        number=40.0,
        call=220.0,
        other_call=800.0,
        element=0.5,
        in_matrix=0.1,
        far_element=0.5,
        near_bytes=1 << 18,
    )
)
