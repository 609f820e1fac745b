"""NumPy's functions of functions, and those whose values decide what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.functions.counted import COUNTED
from gradwire_engine.record.functions.loops import mapped
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed

#: Types of values that stand for themselves in a list of functions.
_NUMBERS = (Var, bool, int, float, complex)


def _piecewise(r: Recorder, x: Any, condlist: Any, funclist: Any, *args: Any, **named: Any) -> Any:
    """Of each element what the function beside the last true condition gives, or the number there.

    One function more than conditions is for where none holds, else 0 is there.  Convention: what
    was not chosen gets exactly 0, whatever it computes.
    """
    at = r.b.array(x)
    if isinstance(condlist, Var):
        condlist = [condlist] if condlist.ndim == at.ndim else r.items(condlist)
    conditions, choices = r.items(condlist), r.items(funclist)
    if len(choices) not in (len(conditions), len(conditions) + 1):
        raise BadArgument("piecewise needs a function for each condition, and at most one more")
    values = [
        choice if isinstance(choice, _NUMBERS) else r.apply(choice, (at, *args), named)
        for choice in choices
    ]
    z = values.pop() if len(values) > len(conditions) else 0
    for condition, value in zip(conditions, values, strict=True):
        z = r.operation("where", condition, value, z)
    z = r.operation("broadcast_to", r.b.array(z), at.shape)
    return r.b.cast(z, at.dtype)


def _vectorized(r: Recorder, pyfunc: Any, *, otypes: Any = None) -> Transformed:
    """The function that gives ``pyfunc`` of each element of its arguments, broadcast together.

    Decisions are made for each element.
    """

    def each(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if named:
            raise BadArgument("a vectorized function takes arguments by position")
        every = r.operation("broadcast_arrays", *args)
        rows = [r.operation("ravel", x) for x in every]
        found = mapped(r, lambda row: r.apply(pyfunc, row, {}), rows)
        return rebuild(found, lambda z: r.operation("reshape", z, every[0].shape))

    return Transformed(each)


#: Called as ``function(recorder, *args, **named)``, also after a prefix of NumPy's.
OF_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: function for name, function in COUNTED.items() if "." not in name},
    "piecewise": _piecewise,
    "vectorize": _vectorized,
}
