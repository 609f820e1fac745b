"""What arithmetic costs on a backend, as far as the optimiser weighs one way against another."""

from __future__ import annotations

from typing import NamedTuple


class Costs(NamedTuple):
    """Nanoseconds of a call, and for each element or byte that it works on."""

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
    #: An element of a row that an index selects.
    selected: float
    #: Most products that are added in single precision other than pairwise.
    most_single: int
    #: Most elements whose arithmetic takes less than calls do.
    few: int

    def elementwise(self, size: int, read: int, itemsize: int) -> float:
        """An operation with ``size`` results that reads ``read`` elements."""
        return self.call + self.element * size + self.byte * itemsize * (size + read)

    def contraction(
        self, products: int, moved: int, itemsize: int, *, batched: bool, matrices: bool
    ) -> float:
        """A contraction of two arrays that adds up ``products`` and moves so many elements.

        ``matrices`` says that either operand has axes of its own, ``batched`` that both have axes
        that stay.
        """
        each = self.in_matrix if matrices else self.in_rows if batched else self.in_vector
        return self.call + each * products + self.byte * itemsize * moved
