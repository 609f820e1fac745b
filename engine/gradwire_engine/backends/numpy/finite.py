"""Code that checks which outputs are finite."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Sequence
from operator import itemgetter

from gradwire_engine.backends.finite import sum_of_squares
from gradwire_engine.tape import ArrayType, Type

#: Most outputs for which it pays to write code, and most elements of these.
_FEW, _SMALL = 20, 4096
#: Most outputs that are listed one by one.
_LISTED = 256


def unsure(
    results: Sequence[tuple[int, str, Type]], bind: Callable[..., str], flags: Sequence[str] = ()
) -> str:
    """Code for those of the results ``z`` that are not known to be finite.

    Of these numbers, names and types they are those that are not small. All of them are, unless a
    sum over the small ones is finite, which it is only if they are. The numbers ``flags`` are
    finite if results are that are not listed. BLAS sums squares sooner than NumPy looks at
    elements.
    """
    terms = [*flags]
    most = len(flags) + _FEW
    left: list[int] = []
    for number, name, kind in results:
        if not isinstance(kind, ArrayType) or kind.size > _SMALL or len(terms) == most:
            left.append(number)
        elif kind.differentiable:
            square = bind(sum_of_squares, "square") if kind.ndim > 1 else ""
            square = f"{square}({name})" if square else f"{name}.dot({name})"
            terms.append(square if kind.shape else name)
    rest = f"({''.join([f'z[{number}], ' for number in left])})"
    if len(left) > _LISTED:
        rest = f"{bind(itemgetter(*left))}(z)"
    return f"{rest} if {bind(isfinite, 'isfinite')}({' + '.join(terms)}) else z" if terms else rest
