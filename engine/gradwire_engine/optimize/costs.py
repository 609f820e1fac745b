"""Costs of computing on a backend, as far as the optimiser weighs one way against another."""

from __future__ import annotations

from typing import NamedTuple


class Costs(NamedTuple):
    """Nanoseconds of a call, and for each element or byte that it works on; and thresholds."""

    #: A call, however little it does.
    call: float
    #: A byte that is read or written.
    byte: float
    #: An element of a result that is computed elementwise.
    element: float
    #: A product that is added up: between two matrices, a matrix and a vector or two vectors, or
    #: where neither BLAS nor vectors of one stride serve.
    in_matrix: float
    in_vector: float
    in_rows: float
    #: A byte of matrices that are multiplied, which are copied into order, or of their product; and
    #: each product of many that are made at once.
    packed: float
    stacked: float
    #: An element of a row that an index selects.
    selected: float
    #: Most products that are added in single precision other than pairwise.
    most_single: int
    #: Most elements whose arithmetic takes less than calls do.
    few: int
    #: Results from this size on take as long to read as one operation takes to make them.
    recomputed_bytes: int
    #: Whether loops over arrays are compiled, so that they cost no calls.
    compiles_loops: bool = False

    def elementwise(self, size: int, read: int, itemsize: int) -> float:
        """An operation with ``size`` results that reads ``read`` elements."""
        return self.call + self.element * size + self.byte * itemsize * (size + read)

    def contraction(
        self, products: int, moved: int, itemsize: int, *, stacked: int, matrices: bool
    ) -> float:
        """A contraction of two arrays that adds up ``products`` and moves so many elements.

        ``matrices`` says that either operand has axes of its own; ``stacked`` is the size of those
        that both have and that stay.
        """
        if matrices:
            each, byte = self.in_matrix, self.packed
        else:
            each, byte = self.in_rows if stacked > 1 else self.in_vector, self.byte
        calls = self.stacked * stacked if matrices and stacked > 1 else 0.0
        return self.call + calls + each * products + byte * itemsize * moved
