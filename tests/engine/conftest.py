"""Fixtures of the engine's tests: questions asked with plain Python values."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Call, Engine, Leaf, Limits, Query, Ragged, Sparse

from tests.engine.requests import LAST

LAST.listen()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is said of generated code where none is."""
    if config.getoption("--backend") != "numpy":
        reason = pytest.mark.skip(reason="this backend generates no code")
        for item in items:
            if item.get_closest_marker("generated") is not None:
                item.add_marker(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """Print with a failure the request that asks a service what was asked last."""
    report = yield
    if report.when == "call":
        if report.failed and (request := str(LAST)):
            report.sections.append(("the same asked of a service", request))
        LAST.forget()
    return report


def leaf(value: Any) -> Any:
    """Leaves for numbers, arrays and lists of numbers, as the wire reads them: 3 is 3.0."""
    if isinstance(value, Leaf | Sparse | Ragged):
        return value
    if isinstance(value, dict):
        return {key: leaf(item) for key, item in value.items()}
    if isinstance(value, list) and not _is_numeric(value):
        return [leaf(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return Leaf(np.asarray(value))
    if isinstance(value, str):
        return Leaf(value)
    array = np.asarray(value)
    return Leaf(array.astype(float) if array.dtype.kind == "i" else array)


def _is_numeric(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return isinstance(value, bool | int | float | complex | np.generic)


def called(
    engine: Engine,
    program: Any,
    values: Mapping[str, Any],
    kind: Any = "gradient",
    *,
    vectors: Any = None,
    **query: Any,
) -> Call:
    """A call of an engine, with plain values."""
    leaves = {key: leaf(value) for key, value in values.items()}
    return engine.call(engine.parse(program), leaves, Query(kind, **query), vectors)


class Asker:
    """An engine of its own, asked in one line; programs are source text or graphs."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.engine = Engine(limits)
        self.polls = 0

    def poll(self) -> None:
        """Count how often the work asks whether to go on."""
        self.polls += 1

    def value(self, program: Any, variables: Any = None, outputs: Any = None, **query: Any) -> Any:
        """Values of ``outputs``, as the program gives them by default."""
        return self.answer(program, variables, kind="evaluate", outputs=outputs, **query).value

    def answer(
        self, program: Any, variables: Any = None, seeds: Any = None, poll: Any = None, **query: Any
    ) -> Answer:
        """The answer to a query, a gradient unless it says otherwise."""
        call = called(self.engine, program, variables or {}, vectors=seeds, **query)
        return call.replay(poll or self.poll)

    def gradients(self, program: Any, variables: Any = None, **query: Any) -> Any:
        """Gradients of the program's output, or of ``target``, in the structure of ``sources``."""
        return self.answer(program, variables, **query).gradients


@pytest.fixture
def ask() -> Asker:
    """Ask a fresh engine."""
    return Asker()


@pytest.fixture
def ask_within() -> Callable[..., Asker]:
    """Ask a fresh engine of these limits."""
    return lambda **limits: Asker(Limits(**limits))


@contextmanager
def named(*parts: object) -> Iterator[None]:
    """Add to an error what it is of, where one test goes through many samples."""
    try:
        yield
    except Exception as error:
        error.add_note("of " + ", ".join(map(str, parts)))
        raise
