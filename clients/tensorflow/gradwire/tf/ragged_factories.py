"""The ways to make ragged tensors of values and of what divides them into rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf.arguments import only, only_int64
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import int64
from gradwire.tf.errors import invalid
from gradwire.tf.ragged_parts import check_splits, count, from_tensor, is_ragged, positions
from gradwire.tf.scatter_host import integers
from gradwire.tf.tensors import Operand


class Factories(ABC):
    """The class methods of ``RaggedTensor``, which is made of values and splits."""

    @abstractmethod
    def __init__(self, values: Any, splits: Any, **options: Any) -> None: ...

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that begin and end at splits of the values."""
        dtype = row_splits._dtype() if isinstance(row_splits, Operand) else int64
        made: Any = cls(values, integers(row_splits), dtype=dtype)
        check_splits("from_row_splits", made._splits, count(made._values))
        return made

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of some lengths, one after another."""
        made: Any = cls(values, np.cumsum([0, *integers(row_lengths).tolist()]))
        check_splits("from_row_lengths", made._splits, count(made._values))
        return made

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Values in the rows of which the numbers are given, in ascending order."""
        rows = integers(value_rowids)
        least = int(rows.max(initial=-1)) + 1 if nrows is None else int(nrows)
        lengths = np.bincount(rows, minlength=least)
        return cls.from_row_lengths(values, lengths)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that begin at starts of the values."""
        given = values if is_ragged(values) else convert_to_tensor(values)
        return cls.from_row_splits(given, [*integers(row_starts), count(given)])

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that end at limits of the values."""
        return cls.from_row_splits(values, [0, *integers(row_limits)])

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> Any:
        """Rows of one length."""
        given = values if is_ragged(values) else convert_to_tensor(values)
        length = int(uniform_row_length)
        rows = count(given) // length if length else int(nrows or 0)
        return cls(given, np.arange(rows + 1) * length, uniform=length)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, the outermost splits first."""
        made: Any = flat_values
        for splits in reversed(list(nested_row_splits)):
            made = cls.from_row_splits(made, splits)
        return made

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, the outermost lengths first."""
        made: Any = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            made = cls.from_row_lengths(made, lengths)
        return made

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = None,
    ) -> Any:
        """A tensor's rows, of given lengths or without the padding at their ends."""
        only(
            "RaggedTensor.from_tensor",
            ragged_rank=(ragged_rank, 1),
            row_splits_dtype=(row_splits_dtype, None),
        )
        return from_tensor(cls, convert_to_tensor(tensor), lengths, padding)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = None
    ) -> Any:
        """The rows of a sparse matrix whose elements begin at the left, without gaps."""
        only_int64("RaggedTensor.from_sparse", row_splits_dtype=row_splits_dtype)
        rows, columns = st_input._places.T
        lengths = np.bincount(rows, minlength=st_input._lengths[0])
        if not np.array_equal(columns, positions(lengths)):
            raise invalid("SparseTensor is not right-ragged")
        return cls.from_row_lengths(st_input.values, lengths)
