"""What computing costs with NumPy and generated Python, measured on one core of a server."""

from __future__ import annotations

from gradwire_engine.optimize.costs import Costs, LoopCosts

COSTS = Costs(
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
    ),
    fewest_masked=2048,
    recomputed_bytes=1 << 21,
)
