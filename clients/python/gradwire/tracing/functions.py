"""Python functions that a service evaluates: recorded once for each kind of arguments."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from gradwire import hints, hooks
from gradwire.call import BlockingStep, Conversation, Fetch, Steps
from gradwire.errors import NotTraceable
from gradwire.tracing.arguments import copied, leaf_names, with_floats, with_substitutes
from gradwire.tracing.captured import Captured
from gradwire.tracing.libraries import loaded_patches, substitute_of
from gradwire.tracing.number_classes import in_use
from gradwire.tracing.patching import PATCHES
from gradwire.tracing.signatures import signature
from gradwire.tracing.structures import flatten
from gradwire.tracing.terms import NOTHING
from gradwire.tracing.traced import TracedProgram, record
from gradwire.tracing.traces import current
from gradwire.trees import Static
from gradwire.usage import caller_level, check_client, check_function, public, short_traceback, used
from gradwire.warnings import RecordingWarning

P = ParamSpec("P")
T = TypeVar("T")

#: Most recordings that one function keeps.
MOST_RECORDINGS = 256
#: Most of them for one signature, with other values of guards.
MOST_PATHS = 64


#: The names of truth values that code may compare by ``is``.
TRUTHS = frozenset({"True", "False", "True_", "False_"})
#: A first recording is compared with a second, and that with a third where they differ.
MOST_COMPARISONS = 2
#: A function that has changed what it reads in so many recordings always does, it is assumed.
MOST_CHANGES = 2


class Runs(Protocol):
    """A client: it runs conversations, synchronously or asynchronously."""

    def run(self, asked: Conversation[Any], /) -> Any: ...


class Function(Generic[P, T]):
    """A Python function of NumPy arrays that a service evaluates.

    It is recorded at its first call with arguments of these shapes, dtypes and other values, and
    again after anything that it reads has changed. Called while another function is recorded, it
    becomes a part of that.

    >>> @gradwire.function
    ... def loss(w, x, y):
    ...     return np.mean((np.tanh(x @ w) - y) ** 2)
    >>> loss(w, x, y), gradwire.grad(loss)(w, x, y)
    """

    def __init__(
        self,
        python: Callable[..., Any],
        client: Runs | None = None,
        *,
        inline: Callable[..., Any] | None = None,
        differentiated: Sequence[int] = (),
        names: Sequence[str] | None = None,
        again: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
        calls: Sequence[Callable[..., Any]] = (),
    ) -> None:
        check_function(python)
        check_client(client)
        update_wrapper(self, python)
        self._python = python
        #: The client that it was given, if any.
        self.own_client: Runs | None = client
        #: The recorded function, from recorded arrays to recorded arrays.
        self.inline: Callable[..., Any] = inline_of(python) if inline is None else inline
        #: Positions of arguments whose integers are numbers to differentiate in.
        self.differentiated: Sequence[int] = differentiated
        #: Names of the arguments' leaves, if not those of the parameters of ``python``.
        self._names = names
        #: A function and its arguments that make it in another process, if it has no name.
        self._again = again
        #: By signature, with the state of the objects among its arguments.
        self._traced: dict[Any, tuple[list[TracedProgram], Captured | None]] = {}
        self._lock = threading.Lock()
        #: As methods, by the objects that they are bound to, which they keep.
        self._bound: dict[tuple[int, int], Function[..., T]] = {}
        #: Whether two recordings have been compared.
        self._is_compared = False
        #: The number of recordings, one after the other, that changed what the function reads.
        self._changes = 0
        #: Whether it needs arrays from outside and classes of numbers that take recorded values.
        self._is_wide = False
        #: Why it is recorded at each call, if it is.
        self._unsteady: str | None = None
        #: ``calls`` are further functions of the user's that ``inline`` calls.
        self._captured = Captured(python, *calls)

    def __repr__(self) -> str:
        return f"<gradwire function {self.title}>"

    @property
    def title(self) -> str:
        """Its name with the transforms that made it: ``value_and_grad(loss)``."""
        python = self._python
        name: str = python.title if isinstance(python, Function) else _name(python)
        transform, args = self._again or (None, ())
        if not isinstance(transform, partial) or args != (python,):
            return name
        return f"{transform.func.__name__}({name})"

    def _repr_html_(self) -> str:
        return hooks.display().card(self)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled by name if it has one, else by the arguments that it was made of."""
        if self._has_name():
            name: str = self.__qualname__  # type: ignore[attr-defined]  # from the function
            return name
        inline = None if self.inline is inline_of(self._python) else self.inline
        parts = (self._python, self.own_client, inline, self.differentiated, self._names)
        return self._again or (_made_again, parts)

    def _has_name(self) -> bool:
        """True if its module has it by its name, and so in other processes."""
        found: Any = sys.modules.get(self.__module__)
        if found is None or self.__module__ == "__main__":
            return False
        for part in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, part, None)
        return found is self

    def __get__(self, instance: object, owner: type | None = None) -> Function[..., T]:
        """As a method: the same of the bound function; that of one object is made once."""
        bind = getattr(self._python, "__get__", None)
        is_text = self._again is not None and self._again[1] != (self._python,)
        bound = self._python if bind is None or is_text else bind(instance, owner)
        if bound is self._python:
            return self
        key = id(instance), id(owner)
        with self._lock:
            if key not in self._bound:
                self._bound[key] = self._of_other(bound)
                if len(self._bound) > MOST_RECORDINGS:
                    del self._bound[next(iter(self._bound))]
            return self._bound[key]

    def _of_other(self, python: Callable[..., Any]) -> Function[..., T]:
        """The same of another Python function."""
        if self._again is None:
            return Function(python, self.own_client)
        transform, _ = self._again
        made: Function[..., T] = transform(python)
        return made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Its value, computed by the service; nested as the function nests it."""
        if current() is not None:
            inlined: T = self.inline(*args, **kwargs)
            return inlined
        with short_traceback():
            client, given = self.client, (args, kwargs)
            with used("the arguments"):
                at, named = copied(given) if getattr(client, "awaits", False) else given
            answer: T = client.run(self.steps(*at, **named))
        return answer

    @property
    def client(self) -> Runs:
        """Its own client, else the default client."""
        client: Runs = hooks.default_client() if self.own_client is None else self.own_client
        return client

    @property
    def recordings(self) -> list[TracedProgram]:
        """Its recordings."""
        return [traced for known, _ in self._traced.values() for traced in known]

    def steps(self, *args: Any, **kwargs: Any) -> Steps[Any]:
        """The steps of a call: one request, once it is recorded."""
        traced, _, outputs = yield from self.decided(args, kwargs, asks=True)
        return traced.result(outputs)

    def traced(self, *args: Any, **kwargs: Any) -> Steps[tuple[TracedProgram, list[Any]]]:
        """The program for these arguments, and the arguments' leaves."""
        return self.path(args, kwargs)

    def path(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] = NOTHING,
        guard_values: Sequence[Any] = (),
    ) -> Steps[tuple[TracedProgram, list[Any]]]:
        """The same with these values of guards: the newest recording that has them."""
        leaves, known, objects = self._known(args, kwargs)
        for traced in reversed(known):
            if traced.guards_hold(guard_values):
                return traced, leaves
        watched = [self._captured, *([] if objects is None else [objects])]
        record = partial(self._record, args, kwargs, guard_values, watched)
        for captured in watched:
            if self._unsteady is None and captured.unknown is not None:
                self._warn(f"it reads {captured.unknown}, whose changes cannot be seen")
        traced = yield from record()
        if self._unsteady is None:
            kept = yield from self._kept(traced, record, objects)
            known += [] if kept is None else [kept]
            del known[:-MOST_PATHS]
        return traced, leaves

    def decided(
        self, args: Sequence[Any], kwargs: Mapping[str, Any] = NOTHING, *, asks: bool = False
    ) -> Steps[tuple[TracedProgram, list[Any], Sequence[Any]]]:
        """The recording that decides as these arguments do, their leaves, and its outputs.

        Outputs are empty unless they are asked for, or needed to decide.
        """
        guard_values: Sequence[Any] = ()
        while True:
            traced, leaves = yield from self.path(args, kwargs, guard_values)
            if not (asks or traced.guards):
                return traced, leaves, ()
            outputs, found = yield from traced.ask(leaves)
            if traced.guards_hold(found):
                return traced, leaves, outputs
            if len(found) <= len(guard_values):  # what was decided before should be so again
                guard = traced.guards[len(found) - 1]
                raise NotTraceable(
                    "Python decides by a value that is another each time",
                    place=guard.term.place,
                    hint="pass it as an argument",
                )
            guard_values = found

    def _kept(
        self,
        traced: TracedProgram,
        record: Callable[[], BlockingStep[TracedProgram]],
        objects: Captured | None,
    ) -> Steps[TracedProgram | None]:
        """The recording to keep: two for the same arguments must be the same, or there is none.

        One is enough of pure functions, which cannot differ. There is no second one where the first
        has changed what the function reads, as one that fills a cache: it would see that, unlike
        the function that is called once. The first may differ where it has imported what it uses.
        """
        changed, difference = self._has_changed(objects), None
        self._is_compared |= all(
            captured.is_pure for captured in (self._captured, objects) if captured is not None
        )
        for _ in range(MOST_COMPARISONS):
            if changed or self._is_compared:
                break
            again = yield from record()
            changed, difference = self._has_changed(objects), traced.difference(again)
            self._is_compared = difference is None
            traced = again
        if difference is not None and not changed:
            place, what = difference
            where = "" if place is None else f" at {place}"
            self._warn(f"recorded twice, it computed {what}{where} differently")
            return None
        if traced.reads_files and not changed:  # at each call, unlike one that fills a cache
            self._warn("it reads a file, whose changes cannot be seen")
            return None
        self._changes = self._changes + 1 if changed else 0
        if self._changes == MOST_CHANGES:
            self._warn("it changes what it reads, an object, a container or a stream of draws")
        return None if changed else traced

    def _has_changed(self, objects: Captured | None) -> bool:
        """True if the last recording changed what the function reads: then none stays."""
        with self._lock:
            if not ((objects and objects.changed()) or self._captured.changed()):
                return False
            self._traced = {}
            return True

    def _warn(self, why: str) -> None:
        self._unsteady = why
        message = (
            f"{self.title} is recorded at each call: {why}. Pass what changes as an argument; "
            "gradwire.random draws inside a program, from a key that is an argument."
        )
        warnings.warn(message, RecordingWarning, stacklevel=caller_level())

    def _record(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        guard_values: Sequence[Any],
        watched: Sequence[Captured],
    ) -> BlockingStep[TracedProgram]:
        given = tuple(
            [with_floats(arg) if i in self.differentiated else arg for i, arg in enumerate(args)]
        )
        leaves, structure = flatten((given, kwargs))
        names = self._names or leaf_names(self._python, structure)

        def recorded(fetch: Fetch) -> TracedProgram:
            chosen = with_substitutes(structure)
            make = partial(record, self.inline, names, chosen, leaves, fetch, guard_values)
            compared = frozenset[str]().union(*[each.compared for each in watched])
            make = partial(make, decides_truths=not compared.isdisjoint(TRUTHS))
            patches = [*loaded_patches(), *[p for each in watched for p in each.library_patches()]]
            if not self._is_wide:
                try:
                    with PATCHES.during(patches):
                        return make()
                except NotTraceable as error:
                    if error.hint not in hints.OF_PLAIN_VALUES:
                        raise
            patches += [patch for each in watched for patch in each.value_patches()]
            with PATCHES.during(patches), in_use(compared):
                made = make()
            self._is_wide = True
            return made

        return BlockingStep(recorded)

    def _known(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], list[TracedProgram], Captured | None]:
        """The leaves of arguments, the recordings for their signature, and its objects' state."""
        with used("the arguments"):
            leaves, key = signature(args, kwargs, self.differentiated)
        with self._lock:  # a thread that sees no change uses what belongs to this state
            if (
                self._unsteady is not None
                or self._captured.changed()
                or len(self._traced) > MOST_RECORDINGS
            ):
                self._traced = {}
            found = self._traced.get(key)
            if found is None or (found[1] and found[1].changed()):
                values = [part.value for part in key if type(part) is Static]
                objects = Captured(*values) if values else None
                if objects is not None:
                    objects.changed()  # looks at them for the first time
                found = self._traced[key] = [], objects
        return leaves, *found


@overload
def function(python: Callable[P, T], client: Runs | None = None) -> Function[P, T]: ...


@overload
def function(*, client: Runs | None) -> Callable[[Callable[P, T]], Function[P, T]]: ...


@public
def function(python: Callable[..., Any] | None = None, client: Runs | None = None) -> Any:
    """Have a service evaluate a Python function; also as a decorator.

    Plain NumPy, the ufuncs and functions of ``scipy.special`` and ``scipy.linalg``, nested
    arguments and results. What Python decides by values (``if x > 0``) is computed when it asks,
    and recorded as it was decided.
    """
    return partial(function, client=client) if python is None else Function(python, client)


def _name(python: Any) -> str:
    return str(getattr(python, "__name__", "function"))


def _made_again(
    python: Any, client: Any, inline: Any, differentiated: Sequence[int], names: Any
) -> Function[..., Any]:
    return Function(python, client, inline=inline, differentiated=differentiated, names=names)


def inline_of(python: Callable[..., Any]) -> Callable[..., Any]:
    """The function to record, of a ``Function`` or a plain one."""
    if isinstance(python, Function):
        return python.inline
    recorded: Callable[..., Any] | None = substitute_of(python)  # grad(scipy.special.logsumexp)
    return python if recorded is None else recorded


def own_client(python: Callable[..., Any]) -> Runs | None:
    """The client that a ``Function`` was given, if any."""
    return python.own_client if isinstance(python, Function) else None
