"""What a function reads beside its arguments may change between calls: it is the function then."""

import ctypes
import dataclasses
import decimal
import functools
import importlib
import io
import itertools
import logging
import os
import random
import secrets
import sys
import threading
import types
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.sparse
from gradwire.tracing.captured import Captured
from numpy import loadtxt

RATE = 2.0
TABLE = {"rate": 2.0}
CONFIG = types.SimpleNamespace(rate=2.0, deep=types.SimpleNamespace(rates=[2.0, 3.0]))
Change = Callable[[], Any]
Case = tuple[Callable[[Any], Any], Change]


class Decay:
    """A callable object."""

    of_all = 2.0

    def __init__(self, a: float = 2.0, w: float = 3.0) -> None:
        self.a, self.w = a, w
        self.parts: dict[str, list[Any]] = {"more": [1.0, np.array([1.0, 2.0])]}

    def __call__(self, x: Any) -> Any:
        return self.a * x + self.w

    def deep(self, x: Any) -> Any:
        return x * self.parts["more"][1][0]

    def all(self, x: Any) -> Any:
        return x * self.of_all

    @property
    def rate(self) -> float:
        return self.a

    def by_property(self, x: Any) -> Any:
        return x * self.rate

    def by_name(self, x: Any) -> Any:
        return x * getattr(self, "a")  # noqa: B009 - as people's code does


class Slotted:
    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = 2.0


@dataclasses.dataclass
class Options:
    rate: float = 2.0
    powers: list[int] = dataclasses.field(default_factory=lambda: [2])


class Counted(dict[str, float]):
    """A dictionary of the user's own."""


def of_item(table: dict[str, float]) -> Callable[[Any], Any]:
    return lambda x: x * table["rate"]


def named() -> Iterator[tuple[str, Case]]:
    """Functions, and changes after which they have other values."""

    def put(holder: Any, key: Any, value: Any) -> Change:
        return lambda: holder.__setitem__(key, value)

    tables_of_kinds = [
        {"rate": 2.0},
        OrderedDict(rate=2.0),
        Counted(rate=2.0),
        defaultdict(float, rate=2.0),
    ]
    for table in tables_of_kinds:
        yield (f"in a {type(table).__name__}", (of_item(table), put(table, "rate", 5.0)))
    nested: dict[str, Any] = {"a": [{"b": (1, [2.0])}]}
    yield (
        "deep in containers",
        (
            lambda x: x * nested["a"][0]["b"][1][0],
            lambda: nested["a"][0]["b"][1].__setitem__(0, 5.0),
        ),
    )
    terms = [1.0, 2.0]
    yield ("another item", (lambda x: sum(x**t for t in terms), lambda: terms.append(3.0)))
    swapped = [1.0, 2.0]
    yield ("order of a list", (lambda x: x * swapped[0], swapped.reverse))
    keys = {"a": 1.0, "b": 2.0}
    yield ("a key more", (lambda x: x * len(keys), lambda: keys.update(c=3.0)))
    chosen = {1.0, 2.0}
    yield ("a set", (lambda x: x * max(chosen), lambda: chosen.add(7.0)))
    last = deque([1.0, 2.0])
    yield ("a deque", (lambda x: x * last[-1], lambda: last.append(5.0)))
    data = bytearray(b"\x02")
    yield ("bytes", (lambda x: x * data[0], put(data, 0, 5)))
    array = np.array([2.0, 3.0])
    yield ("an array", (lambda x: x * array[0], put(array, 0, 5.0)))
    decided = np.array([2.0, 3.0])
    yield ("an array that decides", (lambda x: x if decided[0] > 0 else -x, put(decided, 0, -5.0)))
    computed = np.array([2.0, 3.0])
    yield (
        "what is computed of an array",
        (lambda x: x * float(computed.sum()), put(computed, 0, 5.0)),
    )
    objects = np.array([2.0, None], object)
    yield ("an array of objects", (lambda x: x * objects[0], put(objects, 0, 5.0)))
    whole = np.arange(6.0)
    view = whole[::2]
    yield ("a view", (lambda x: x * view[1], put(whole, 2, 50.0)))
    sparse = scipy.sparse.csr_array(np.eye(2))
    yield (
        "a sparse array",
        (lambda x: np.sum(sparse @ (x * np.ones(2))), lambda: sparse.data.__setitem__(0, 5.0)),
    )
    model = Decay()
    yield ("an attribute", (model, lambda: setattr(model, "a", 5.0)))
    other = Decay()
    yield ("another attribute", (other, lambda: setattr(other, "w", 5.0)))
    deep = Decay()
    yield (
        "an array in an attribute",
        (deep.deep, lambda: deep.parts["more"][1].__setitem__(0, 5.0)),
    )
    prop = Decay()
    yield ("a property", (prop.by_property, lambda: setattr(prop, "a", 5.0)))
    by_name = Decay()
    yield ("an attribute by name", (by_name.by_name, lambda: setattr(by_name, "a", 5.0)))
    fresh = Decay()
    yield (
        "a new attribute",
        (lambda x: x * getattr(fresh, "more", 1.0), lambda: setattr(fresh, "more", 5.0)),
    )
    slotted = Slotted()
    yield ("a slot", (lambda x: x * slotted.rate, lambda: setattr(slotted, "rate", 5.0)))
    options = Options()
    yield ("a dataclass", (lambda x: x * options.rate, lambda: setattr(options, "rate", 5.0)))
    inner = Options()
    yield (
        "a list in a dataclass",
        (lambda x: x ** inner.powers[0], lambda: inner.powers.__setitem__(0, 3)),
    )
    space = types.SimpleNamespace(rate=2.0)
    yield ("a namespace", (lambda x: x * space.rate, lambda: setattr(space, "rate", 5.0)))
    partial = functools.partial(lambda table, x: x * table["rate"], {"rate": 2.0})
    yield ("an argument of a partial function", (partial, lambda: partial.args[0].update(rate=5.0)))

    def counted(x: Any) -> Any:
        return x * counted.rate  # type: ignore[attr-defined]

    counted.rate = 2.0  # type: ignore[attr-defined]
    yield ("an attribute of a function", (counted, lambda: setattr(counted, "rate", 5.0)))

    def default(x: Any, table: dict[str, float] = {"rate": 2.0}) -> Any:  # noqa: B006
        return x * table["rate"]

    yield "a default", (default, lambda: default.__defaults__[0].update(rate=5.0))  # type: ignore[index]
    steps: list[Callable[[Any], Any]] = [lambda x: x * 2.0]
    yield ("a list of functions", (lambda x: steps[0](x) + 1.0, put(steps, 0, lambda x: x * 5.0)))
    tables = {"rate": 2.0}
    by_kind = {"f": lambda x: x * tables["rate"]}
    yield (
        "what a function in a dictionary reads",
        (lambda x: by_kind["f"](x) + 1.0, lambda: tables.update(rate=5.0)),
    )
    tables_of = {"rate": 2.0}
    holder = types.SimpleNamespace(f=lambda x: x * tables_of["rate"])
    yield (
        "what a function in an attribute reads",
        (lambda x: holder.f(x) + 1.0, lambda: tables_of.update(rate=5.0)),
    )
    rate = 2.0

    def cell(x: Any) -> Any:
        return x * rate

    def set_cell() -> None:
        nonlocal rate
        rate = 5.0

    yield ("a cell", (cell, set_cell))
    reloaded = type("Reloaded", (), {"of": lambda self, x: x * 2.0})()
    again = type("Reloaded", (), {"of": lambda self, x: x * 5.0})
    yield (
        "an object's class",
        (lambda x: reloaded.of(x), lambda: setattr(reloaded, "__class__", again)),  # noqa: PLW0108
    )

    def of_code(x: Any) -> Any:
        return x * 2.0

    def with_attribute(x: Any) -> Any:
        return x * 2.0

    with_attribute.rate = 2.0  # type: ignore[attr-defined]
    code = (lambda x: x * 5.0).__code__
    for f in (of_code, with_attribute):
        yield f"the code of {f.__name__}", (f, functools.partial(setattr, f, "__code__", code))
    rates = [2.0]
    kind: Any = type("Meta", (type,), {"rate": property(lambda _: rates[0])})("Kind", (), {})
    yield ("what a metaclass reads", (lambda x: x * kind.rate, put(rates, 0, 5.0)))
    number = ctypes.c_double(2.0)
    yield ("memory of C", (lambda x: x * number.value, lambda: setattr(number, "value", 5.0)))


def of_module(x: Any) -> Any:
    return x * RATE


def of_table(x: Any) -> Any:
    return x * TABLE["rate"]


def of_config(x: Any) -> Any:
    return x * CONFIG.deep.rates[1]


def of_environment(x: Any) -> Any:
    return x * float(os.environ["GRADWIRE_TEST_RATE"])


def of_decimals(x: Any) -> Any:
    return x * float(decimal.Decimal(1) / 3)


CASES = dict(named())


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen_at_the_next_call(name, client):
    function, change = CASES[name]
    recorded = gradwire.function(function, client)
    slope = gradwire.value_and_grad(function, client=client)
    x = np.float64(1.5)
    for _ in range(2):
        np.testing.assert_allclose(recorded(x), function(x))
        np.testing.assert_allclose(slope(x)[0], function(x))
    before = function(x)
    change()
    assert function(x) != before
    for _ in range(2):
        np.testing.assert_allclose(recorded(x), function(x))
        np.testing.assert_allclose(slope(x)[0], function(x))


@pytest.mark.parametrize("function", [of_module, of_table, of_config, of_environment, of_decimals])
def test_what_modules_and_the_process_have_may_change(function, client, monkeypatch):
    monkeypatch.setenv("GRADWIRE_TEST_RATE", "2.0")
    recorded = gradwire.function(function, client)
    first = recorded(1.5)
    assert first == function(1.5)
    monkeypatch.setenv("GRADWIRE_TEST_RATE", "7.0")
    monkeypatch.setattr(decimal.getcontext(), "prec", 3)
    monkeypatch.setitem(globals(), "RATE", 7.0)
    monkeypatch.setitem(TABLE, "rate", 7.0)
    monkeypatch.setattr(CONFIG.deep, "rates", [2.0, 7.0])
    assert recorded(1.5) == function(1.5) != first


def _opened(x: Any, path: Path) -> Any:
    with open(path) as file:  # noqa: PTH123 - as people's code does
        return x * float(file.read())


READING: dict[str, Callable[[Any, Path], Any]] = {
    "open": _opened,
    "path.open": lambda x, path: x * float(path.open().readline()),
    "read_text": lambda x, path: x * float(path.read_text()),
    "read_bytes": lambda x, path: x * float(path.read_bytes()),
    "io.open": lambda x, path: x * float(io.open(path, mode="r+").read()),  # noqa: SIM115, UP020
    "numpy.loadtxt": lambda x, path: x * np.loadtxt(path),
    "numpy.genfromtxt": lambda x, path: x * np.genfromtxt(path),
    "numpy.fromfile": lambda x, path: x * np.fromfile(path, "float64", sep=" ")[0],
    "by another name": lambda x, path: x * loadtxt(path),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", READING)
def test_files_are_read_at_each_call(name, client, tmp_path):
    path = tmp_path / "rate"
    recorded = gradwire.function(lambda x: READING[name](x, path), client)
    path.write_text("2.0")
    with pytest.warns(gradwire.RecordingWarning, match="reads a file"):
        assert recorded(1.5) == 3.0
    path.write_text("5.0")
    assert recorded(1.5) == 7.5


def test_files_that_are_read_once_or_written_need_no_recording_at_each_call(client, tmp_path):
    path, kept = tmp_path / "rate", dict[str, float]()
    path.write_text("2.0")

    def f(x):
        if "rate" not in kept:
            kept["rate"] = float(path.read_text())
        (tmp_path / "log").write_text("called")
        return x * kept["rate"]

    recorded = gradwire.function(f, client)
    assert [recorded(1.5), recorded(2.0)] == [3.0, 4.0]
    assert len(recorded.recordings) == 1


def by_text(x: Any) -> Any:
    return x * eval("RATE")


def by_globals(x: Any) -> Any:
    return x * globals()["RATE"]


def of_scope(x: Any) -> Any:
    return x * of_module.__globals__["RATE"]


@pytest.mark.parametrize("function", [by_text, by_globals, of_scope])
def test_what_no_name_says_is_read_at_each_call(function, client, monkeypatch):
    recorded = gradwire.function(function, client)
    with pytest.warns(gradwire.RecordingWarning, match=r"what \w+\(\) reads"):
        assert recorded(1.5) == 3.0
    monkeypatch.setitem(globals(), "RATE", 7.0)
    assert recorded(1.5) == 10.5


OF_MODULES: dict[str, Callable[[Any], Any]] = {
    "an attribute": lambda x: x * OWN.rate,
    "its name": lambda x: x * getattr(OWN, "rate"),  # noqa: B009 - as people's code does
    "vars": lambda x: x * vars(OWN)["rate"],
    "a dictionary": lambda x: x * OWN.__dict__["rate"],
    "import_module": lambda x: x * importlib.import_module("gradwire_test_own").rate,
    "import": lambda x: x * __import__("gradwire_test_own").rate,
    "sys.modules": lambda x: x * sys.modules["gradwire_test_own"].rate,
}
OWN: Any = types.ModuleType("gradwire_test_own")


@pytest.mark.parametrize("how", OF_MODULES)
def test_modules_may_change_however_they_are_read(how, client, monkeypatch):
    monkeypatch.setitem(sys.modules, OWN.__name__, OWN)
    monkeypatch.setattr(OWN, "rate", 2.0, raising=False)
    recorded = gradwire.function(OF_MODULES[how], client)
    assert recorded(1.5) == 3.0
    monkeypatch.setattr(OWN, "rate", 7.0)
    assert recorded(1.5) == 10.5


LOG = logging.getLogger("gradwire.test.state")
OF_PROCESS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], None]]] = {
    "arguments": (
        lambda x: x * len(sys.argv),
        lambda patch: patch.setattr(sys, "argv", [*sys.argv, "more"]),
    ),
    "folder": (lambda x: x * len(Path.cwd().parts), lambda patch: patch.chdir("/")),
    "level": (
        lambda x: x if LOG.isEnabledFor(logging.ERROR) else 2 * x,
        lambda _: LOG.setLevel(99),
    ),
    "printing": (
        lambda x: x * np.get_printoptions()["precision"],
        lambda _: np.set_printoptions(precision=3),
    ),
    "digits": (
        lambda x: x * float(round(decimal.getcontext().divide(1, 3) * 10**6)),
        lambda patch: patch.setattr(decimal.getcontext(), "prec", 3),
    ),
    "thread": (
        lambda x: x * len(threading.current_thread().name),
        lambda patch: patch.setattr(threading.current_thread(), "_name", "another"),
    ),
}


@pytest.mark.parametrize("what", OF_PROCESS)
def test_what_the_process_has_may_change(what, client, monkeypatch):
    function, change = OF_PROCESS[what]
    recorded = gradwire.function(function, client)
    first = recorded(1.5)
    assert first == function(1.5)
    with np.printoptions():  # and what is set there is not left to others
        change(monkeypatch)
        assert recorded(1.5) == function(1.5) != first


def test_objects_are_not_asked_for_what_they_do_not_have(client):
    class Table:
        def __init__(self) -> None:
            self.of = {"rate": 2.0}

        def __getattr__(self, name: str) -> float:
            return self.of[name]  # of others a KeyError, not an AttributeError

    table = Table()
    recorded = gradwire.function(lambda x: x * table.rate, client)
    assert recorded(1.5) == 3.0
    table.of["rate"] = 7.0
    assert recorded(1.5) == 10.5


def test_class_attributes_may_change(client, monkeypatch):
    recorded = gradwire.function(Decay().all, client)
    assert recorded(1.5) == 3.0
    monkeypatch.setattr(Decay, "of_all", 5.0)
    assert recorded(1.5) == 7.5


def test_a_schedule_that_changes_at_each_step_is_followed(client):
    schedule = {"rate": 2.0}
    recorded = gradwire.function(lambda x: x * schedule["rate"], client)
    found = []
    for _ in range(3):
        found.append(recorded(1.0))
        schedule["rate"] *= 0.9
    np.testing.assert_allclose(found, [2.0, 1.8, 1.62])


def test_old_and_new_are_never_mixed(client):
    model = Decay(2.0, 3.0)
    recorded = gradwire.function(model, client)
    assert recorded(4.0) == 11.0
    model.a, model.w = 5.0, 7.0
    assert recorded(4.0) == 27.0


def test_what_other_recorded_functions_read_is_looked_at(client):
    table = {"rate": 2.0}
    inner = gradwire.function(lambda x: x**2 * table["rate"], client)
    functions = [
        gradwire.grad(inner, client=client),
        gradwire.function(lambda x: 2 * inner(x) / x, client),
        gradwire.grad(functools.partial(inner), client=client),
    ]
    for rate in (2.0, 5.0):
        table["rate"] = rate
        assert [f(3.0) for f in functions] == [6 * rate] * 3


def test_streams_of_any_kind_are_compared():
    for stream in (
        np.random.default_rng(1),
        np.random.Generator(np.random.MT19937(1)),
        np.random.RandomState(1),
        np.random.RandomState(np.random.PCG64(1)),
        random.Random(1),
    ):
        captured = Captured(lambda x, stream=stream: x * stream.random())
        assert not captured.changed()
        assert not captured.changed()
        stream.random()
        assert captured.changed()


def test_objects_among_arguments_may_change(client):
    model, table = Decay(2.0, 3.0), {"rate": 1.0}
    recorded = gradwire.function(lambda of, x, f: of.a * x + of.w + f(x), client)

    def more(x: Any) -> Any:
        return x * table["rate"]

    assert recorded(model, 4.0, more) == 15.0
    model.a, model.w = 5.0, 7.0
    assert recorded(model, 4.0, more) == 31.0
    table["rate"] = 2.0
    assert recorded(model, 4.0, more) == 35.0
    assert recorded(Decay(2.0, 3.0), 4.0, more) == 19.0
    assert recorded(model, 4.0, more) == 35.0


def test_equal_values_cause_no_new_recording(client):
    table: dict[str, Any] = {"rate": 2.0, "name": "a", "shape": (2, 3)}
    recorded = gradwire.function(lambda x: x * table["rate"], client)
    recorded(1.0)
    (kept,) = recorded.recordings
    table.update(rate=float("2.0"), name="".join(["a"]), shape=(2, int("3")))
    recorded(2.0)
    assert recorded.recordings == [kept]


def draws_by_generator() -> Callable[[Any], Any]:
    rng = np.random.default_rng(3)
    return lambda x: x * rng.normal()


def counts_calls() -> Callable[[Any], Any]:
    calls: list[None] = []

    def f(x: Any) -> Any:
        calls.append(None)
        return x * len(calls)

    return f


UNSTEADY: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "a generator": draws_by_generator,
    "NumPy's own stream": lambda: lambda x: x * np.random.normal(),
    "Python's stream": lambda: lambda x: x * random.random(),
    "a count": counts_calls,
}


@pytest.mark.parametrize("name", UNSTEADY)
def test_a_function_that_changes_what_it_reads_is_recorded_at_each_call(name, client):
    def values(f: Callable[[Any], Any]) -> list[float]:
        np.random.seed(3)
        random.seed(3)
        return [float(f(1.5)) for _ in range(5)]

    recorded = gradwire.function(UNSTEADY[name](), client)
    with pytest.warns(gradwire.RecordingWarning, match="recorded at each call") as told:
        found = values(recorded)
    np.testing.assert_allclose(found, values(UNSTEADY[name]()))
    assert len(told) == 1
    assert not recorded.recordings


def test_what_differs_from_run_to_run_is_found_by_recording_twice(client):
    """As clocks and the system's own random bits do, which have no state to compare."""
    for read in (lambda: float(secrets.randbits(50)), lambda: float(uuid.uuid4().int % 10**15)):
        recorded = gradwire.function(lambda x, read=read: x * read(), client)
        with pytest.warns(
            gradwire.RecordingWarning, match=r"computed .* at .*test_state.py"
        ) as told:
            first = recorded(1.0)
        assert "gradwire.random" in str(told[0].message)
        assert recorded(1.0) != first


@pytest.mark.parametrize(
    "make",
    [lambda: iter([1.0]), itertools.count, lambda: (i for i in range(3))],
    ids=["iterator", "count", "generator"],
)
def test_what_cannot_be_compared_is_named(make, client):
    state = make()
    recorded = gradwire.function(lambda x: x * 2.0 if state else x, client)
    with pytest.warns(gradwire.RecordingWarning, match=type(state).__name__):
        assert recorded(1.5) == 3.0
    assert recorded(2.5) == 5.0
    assert not recorded.recordings


def test_files_that_are_read_cannot_be_compared(client, tmp_path):
    (tmp_path / "rates").write_text("2.0\n5.0\n")
    with (tmp_path / "rates").open() as rates:
        recorded = gradwire.function(lambda x: x * float(rates.readline()), client)
        with pytest.warns(gradwire.RecordingWarning, match="TextIOWrapper"):
            assert recorded(1.5) == 3.0
        assert recorded(1.5) == 7.5


def test_what_a_function_keeps_for_itself_is_no_change(client):
    kept: dict[str, Any] = {}

    def f(x: Any) -> Any:
        if "table" not in kept:
            kept["table"] = np.arange(3.0)
        return np.sum(x * kept["table"])

    recorded = gradwire.function(f, client)
    for x in (1.0, 2.0, 3.0, 4.0):
        assert recorded(x) == f(x)
    assert len(recorded.recordings) == 1


def test_two_threads_see_changes(client):
    models = [Decay(2.0, 0.0), Decay(3.0, 0.0)]
    functions = [gradwire.function(model, client) for model in models]
    shared = gradwire.function(lambda x: x * models[0].a + models[1].a, client)

    def run(i: int) -> list[bool]:
        right = []
        for k in range(20):
            models[i].a = 2.0 + k
            right.append(functions[i](1.0) == 2.0 + k)
            shared(1.0)
        return right

    with ThreadPoolExecutor(2) as pool:
        assert all(itertools.chain(*pool.map(run, range(2))))
    assert shared(1.0) == models[0].a + models[1].a


def test_state_with_cycles_and_locks_is_compared():
    loop: dict[str, Any] = {"lock": threading.Lock(), "rate": 1.0}
    loop["self"] = loop
    captured = Captured(lambda x: x * loop["rate"])
    assert not captured.changed()
    assert captured.unknown is None
    loop["rate"] = 2.0
    assert captured.changed()
    assert not captured.changed()


def test_too_much_state_is_said():
    many = [[i] for i in range(50_000)]
    captured = Captured(lambda x: x * many[0][0])
    assert not captured.changed()
    assert captured.unknown == "more than 20,000 values"
