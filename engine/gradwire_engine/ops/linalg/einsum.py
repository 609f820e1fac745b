"""Einstein summation, recorded as transposes and matrix products, two operands at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from string import ascii_letters
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Up to so many operands the order of least work is searched for, beyond it is chosen greedily.
_SEARCHED = 5
#: Among more the cheapest pair is not looked for: that takes the cube of their number.
_COMPARED = 64


class Term(NamedTuple):
    """An array and the letters of its axes, each letter once."""

    array: Var
    letters: str

    def length(self, letter: str) -> int:
        """The length of the axis of ``letter``."""
        return self.array.type.shape[self.letters.index(letter)]


@macro("einsum")
def einsum(b: Builder, subscripts: Static, *operands: Any) -> Any:
    """Sum of products over the letters that the result lacks, as ``"ij,jk->ik"``.

    ``...`` stands for axes that broadcast; a letter twice in one operand is its diagonal; without
    ``->`` the result has the letters that occur once, in order.
    """
    if not isinstance(subscripts, str):
        raise BadArgument(f"einsum needs subscripts as a string, got {describe(subscripts)}")
    if not operands:
        raise BadArgument("einsum needs at least one operand")
    arrays = b.promote(*operands)
    inputs, output = _parsed(subscripts, [x.ndim for x in arrays])
    lengths = _lengths(inputs, arrays)
    terms = [_simple(x, letters, lengths) for x, letters in zip(arrays, inputs, strict=True)]
    #: The number of terms that have each letter, and whether the result does.
    uses = Counter("".join([output, *[t.letters for t in terms]]))
    terms = [_summed(t, [i for i in t.letters if uses[i] == 1]) for t in terms]
    for pair in _path(terms, output):
        result, *rest = [terms.pop(i) for i in sorted(pair, reverse=True)][::-1]
        for other in rest:
            uses.subtract(result.letters + other.letters)
            result = _product(result, other, {i for i in uses if uses[i]}, output)
            uses.update(result.letters)
        terms.append(result)
    (z,) = terms
    return transpose(z.array, tuple([z.letters.index(letter) for letter in output]))


def _parsed(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Letters of each operand and of the result, with every ellipsis written out."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise BadArgument(f"einsum has {len(inputs)} subscripts for {len(ndims)} operands")
    for part in [*inputs, output]:
        if set(part.replace("...", "", 1)) - set(ascii_letters):
            raise BadArgument(f"einsum cannot read the subscripts {part!r}", hint="ij,jk->ik")
    named = [len(part.replace("...", "")) for part in inputs]
    for part, count, ndim in zip(inputs, named, ndims, strict=True):
        if count > ndim or (count < ndim and "..." not in part):
            raise ShapeMismatch(f"einsum's subscripts {part!r} do not fit {ndim} axes")
    extras = [ndim - count for ndim, count in zip(ndims, named, strict=True)]
    free = [letter for letter in ascii_letters if letter not in subscripts]
    if max(extras) > len(free):
        raise BadArgument("einsum has letters for 52 axes in all")
    dots = "".join(free[: max(extras)])
    if not arrow:
        once = sorted(letter for letter in set(left) - set(",.") if left.count(letter) == 1)
        output = ("..." if "..." in left else "") + "".join(once)
    elif dots and "..." not in output:
        raise ShapeMismatch("the result needs an ellipsis, as an operand has one")
    output = output.replace("...", dots)
    written = [
        part.replace("...", dots[len(dots) - extra :])
        for part, extra in zip(inputs, extras, strict=True)
    ]
    unknown = set(output) - set("".join(written))
    if unknown or len(set(output)) < len(output):
        raise BadArgument(f"the result {output!r} needs letters of the operands, each once")
    return written, output


def _lengths(inputs: Sequence[str], arrays: Sequence[Var]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for letters, x in zip(inputs, arrays, strict=True):
        for letter, length in zip(letters, x.shape, strict=True):
            known = lengths.setdefault(letter, length)
            if known == 1:
                lengths[letter] = length
            elif length not in (1, known):
                raise ShapeMismatch(f"einsum got lengths {known} and {length} for one letter")
    return lengths


def _simple(x: Var, letters: str, lengths: dict[str, int]) -> Term:
    """Each letter once, by diagonals, and no axis of length 1 that others are broadcast along."""
    for letter in sorted(set(letters)):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ShapeMismatch(f"einsum cannot take a diagonal of {x.type}")
            kept = tuple([i for i in range(x.ndim) if i not in (first, second)])
            x = MatrixDiagonal(0)(transpose(x, (*kept, first, second)))
            letters = "".join(letters[i] for i in kept) + letter
    full = [
        letter for letter, length in zip(letters, x.shape, strict=True) if length == lengths[letter]
    ]
    return Term(reshape(x, tuple([lengths[letter] for letter in full])), "".join(full))


def _summed(term: Term, letters: Iterable[str]) -> Term:
    x = term.array
    axes = tuple(sorted(term.letters.index(letter) for letter in letters))
    if not axes:
        return term
    kept = "".join(letter for letter in term.letters if letter not in letters)
    return Term(x.builder.cast(Sum(axes)(x), x.dtype, weak=x.type.weak), kept)


def _path(terms: Sequence[Term], output: str) -> list[tuple[int, ...]]:
    """The order of multiplying terms, until one is left."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    if len(terms) > _COMPARED:
        return [(0, 1)] * (len(terms) - 1)
    subscripts = ",".join(t.letters for t in terms) + "->" + output
    stand_ins = [np.broadcast_to(np.float64(0), t.array.type.shape) for t in terms]
    effort = "optimal" if len(terms) <= _SEARCHED else "greedy"
    path: list[Any] = np.einsum_path(subscripts, *stand_ins, optimize=effort)[0]
    return path[1:]


def _product(x: Term, y: Term, kept: Set[str], output: str) -> Term:
    """The product of two terms, summed over the letters that nothing else needs."""
    both = [letter for letter in x.letters if letter in y.letters]
    inner = [letter for letter in both if letter not in kept]
    if not inner:
        return _spread_product(x, y, output)
    batch = sorted([letter for letter in both if letter in kept], key=output.find)
    if _first_free(y, both, output) < _first_free(x, both, output):
        x, y = y, x
    rows = [letter for letter in x.letters if letter not in both]
    columns = [letter for letter in y.letters if letter not in both]
    size = math.prod([x.length(letter) for letter in inner])
    outer_shape = tuple([x.length(letter) for letter in batch])
    left = _arranged(x, [*batch, *rows, *inner])
    right = _arranged(y, [*batch, *inner, *columns])
    row_shape = tuple([x.length(letter) for letter in rows])
    column_shape = tuple([y.length(letter) for letter in columns])
    vector_left, vector_right = not (batch or rows), not (batch or columns)
    left_shape = (size,) if vector_left else (*outer_shape, math.prod(row_shape), size)
    right_shape = (size,) if vector_right else (*outer_shape, size, math.prod(column_shape))
    z = MatMul()(reshape(left, left_shape), reshape(right, right_shape))
    letters = "".join([*batch, *rows, *columns])
    return Term(reshape(z, outer_shape + row_shape + column_shape), letters)


def _first_free(term: Term, both: Sequence[str], output: str) -> int:
    return min([output.find(i) for i in term.letters if i not in both], default=len(output))


def _spread_product(x: Term, y: Term, output: str) -> Term:
    """The product of two terms that share no letter to sum over."""
    letters = sorted(set(x.letters + y.letters), key=lambda i: (output.find(i) % 64, i))
    arrays = []
    for term in (x, y):
        own = [letter for letter in letters if letter in term.letters]
        shape = tuple([term.length(i) if i in own else 1 for i in letters])
        arrays.append(reshape(_arranged(term, own), shape))
    return Term(Multiply()(*arrays), "".join(letters))


def _arranged(term: Term, letters: Sequence[str]) -> Var:
    return transpose(term.array, tuple([term.letters.index(letter) for letter in letters]))


@macro("linalg.multi_dot", "multi_dot")
def multi_dot(b: Builder, arrays: Any) -> Any:
    """Product of two or more matrices in the order of least work; the ends may be vectors."""
    if not isinstance(arrays, list | tuple) or len(arrays) < 2:
        raise BadArgument("multi_dot needs a list of at least two arrays")
    parts = b.promote(*arrays)
    letters = [chr(ord("a") + i) for i in range(len(parts) + 1)]
    terms = [letters[i] + letters[i + 1] for i in range(len(parts))]
    result = letters[0] + letters[-1]
    if parts[0].ndim == 1:
        terms[0], result = terms[0][1:], result[1:]
    if parts[-1].ndim == 1:
        terms[-1], result = terms[-1][:-1], result[:-1]
    return einsum(b, f"{','.join(terms)}->{result}", *parts)
