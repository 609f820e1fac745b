"""What computing costs on a backend, as far as the optimiser weighs one way against another."""

from __future__ import annotations

from typing import NamedTuple


class LoopCosts(NamedTuple):
    """Nanoseconds in the iterations of loops, and of what is computed for all of them at once."""

    #: An iteration by itself; a number, and an array, that it reads or writes.
    iteration: float
    number_moved: float
    array_moved: float
    #: An operation on numbers; a call of an elementwise function on arrays, and of any other,
    #: however little it does.
    number: float
    call: float
    other_call: float
    #: Each arithmetic operation on the elements of arrays, and in a product of matrices.
    element: float
    in_matrix: float
    #: An element of arrays of more than ``near_bytes``, which the nearer caches do not hold.
    far_element: float
    near_bytes: int


class Costs(NamedTuple):
    """Measured on a backend."""

    loops: LoopCosts
    #: Fewest elements that ``Masked`` selects in less time than ``Where``.
    fewest_masked: int
    #: Results from this size on take as long to read as one operation takes to make them.
    recomputed_bytes: int
