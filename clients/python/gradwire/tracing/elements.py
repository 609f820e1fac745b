"""Elements of recorded arrays: assigned, and shared by views, as NumPy does it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.lazy_arrays import unwrapped
from gradwire.tracing.shapes import AbstractArray, item_aval
from gradwire.tracing.terms import AT, Bound, Leaf, Scope, Term
from gradwire.tracing.traces import Trace, not_traceable
from gradwire.tracing.views import View

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


class Elements(AbstractArray):
    """Changes in place. Views behave as in NumPy: writing to one changes its base, too."""

    __slots__ = ("_changes", "_own", "_view")
    _trace: Trace
    _own: Term
    _view: View | None
    _changes: int
    _scope: Scope | None
    _is_argument: bool
    _weak: bool

    @property
    @abstractmethod
    def _term(self) -> Term:
        """The term of its current elements."""

    @abstractmethod
    def _to_term(self, value: Any) -> Term | None:
        """The term of a value of this recording."""

    @property
    def changes(self) -> int:
        """The number of changes of its elements, or of those that it shares."""
        return self._changes if self._view is None else self._view.base.changes

    def __setitem__(self, key: Any, value: Any) -> None:
        self.update(unwrapped(key), "set", unwrapped(value))

    def update(self, key: Any, how: str, value: Any) -> None:
        """Change elements in place: ``set``, ``add``, ``multiply``, ``min`` or ``max`` them."""
        self.replace(self._with_items(self._term, key, how, self._as_elements(key, value)))

    def _with_items(self, term: Term, key: Any, how: str, value: Any) -> Term:
        return literals.call(f"{AT}{how}", (term, key, value), {}, self._to_term)

    def _as_elements(self, key: Any, value: Any) -> Any:
        """A value as assignment converts it: of this array's dtype, less its first axes of 1."""
        if isinstance(value, (list, tuple)):
            value = _np.array(value)
        if not isinstance(value, Elements):
            value = np.asarray(value).astype(self.dtype)[()]
        elif not value._weak and value.dtype != self.dtype:
            recorded: Any = value
            value = recorded.astype(self.dtype)
        if value.ndim:
            target = item_aval(self, key)
            more = 0 if target is None else value.ndim - len(target.shape)
            if more > 0 and value.shape[:more] == (1,) * more:
                value = value.reshape(value.shape[more:])
            if target is not None and not _broadcasts(value.shape, target.shape):
                raise ValueError(
                    f"could not broadcast input array from shape {value.shape} into shape "
                    f"{target.shape}"
                )
        return value

    def be_view(
        self,
        base: Any,
        take: Callable[[Term], Term],
        put: Callable[[Term, Term], Term] | None = None,
        *,
        may_be_number: bool = False,
        may_be_copy: bool = False,
    ) -> None:
        """Share elements with another array, as views do."""
        self._view = View(base, take, put, may_be_number, may_be_copy)

    def replace(self, term: Term) -> None:
        """Replace its elements, also in the arrays that share them."""
        self._check_writable()
        self._put(term)

    def _is_number(self) -> bool:
        """True if it is a NumPy scalar, not an array without axes, as ``x[0, ...]`` is."""
        return self.shape == () and (self._view is None or self._view.of_number(self))

    def _stop_sharing(self) -> None:
        self._changes, self._view = self.changes, None

    def _put(self, term: Term) -> None:
        if self._view is not None and self._view.of_number(self):
            self._stop_sharing()
        view = self._view
        if view is None:
            self._changes += 1
        else:
            if view.may_be_copy:
                raise unknown_copy()
            if view.put is None:
                raise not_traceable("this view is read-only", "assign to the array itself")
            view.base._put(view.put(view.base._term, term))
            view.seen = view.base.changes
        self._own = term

    def _check_writable(self) -> None:
        root: Any = self
        while root._view is not None and not root._view.of_number(root):
            root = root._view.base
        if root._is_argument or isinstance(root._own, (Leaf, Bound)):
            raise not_traceable(
                "assigning to elements of an argument would change the caller's array",
                "assign to a copy of it: x = x.copy()",
            )
        if root._scope is not self._trace.scope:
            raise not_traceable(
                "an array from outside is changed inside a function of vmap, cond, scan or a "
                "loop of the program",
                "return the new values from the function",
            )


def unknown_copy() -> Exception:
    """The error of a change that may or may not be seen elsewhere."""
    return not_traceable(
        "elements are changed after a reshape that may be a view or a copy, depending on their "
        "order in memory",
        "copy the array, before or after it is reshaped",
    )


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    ends = target[len(target) - len(shape) :]
    return len(shape) <= len(target) and all(map(lambda a, b: a in (1, b), shape, ends))
