"""Log lines: one line per event, fields in a fixed order, no values."""

import json
import logging
import re

import pytest
from gradwire_service.problems import RemoteError, problem_of
from gradwire_service.telemetry.rendering import formatter, printable, renderer, stack_of
from hypothesis import given
from hypothesis import strategies as st

SECRET = "what nobody may read"


def record(message="it happened", *arguments, name="gradwire", error=None, **extra):
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    return logging.getLogger(name).makeRecord(
        name, logging.WARNING, __file__, 1, message, arguments, exc_info, extra=extra
    )


def raised(error):
    try:
        kept_here = SECRET  # noqa: F841 - a local that must not be told
        raise error
    except type(error) as found:
        return found


def formatted(made, log_format, *, messages=False):
    return formatter(renderer(log_format), messages=messages).format(made)


def test_json_lines_start_with_time_level_and_event():
    told = json.loads(formatted(record("%d of them", 3, request_id="r1"), "json"))
    assert list(told)[:3] == ["time", "level", "event"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", told["time"])
    assert told["level"] == "warning"
    assert told["event"] == "3 of them"
    assert told["request_id"] == "r1"
    assert told["logger"] == "gradwire"


@pytest.mark.parametrize("log_format", ["json", "console"])
@given(st.text())
def test_newlines_and_control_characters_are_escaped(log_format, text):
    line = formatted(record("%s", text, field=text), log_format)
    assert line.isprintable()
    if log_format == "json":
        assert json.loads(line)["field"] == printable(text)


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize("messages", [False, True])
def test_errors_are_logged_by_type_and_place(log_format, messages):
    error = raised(ValueError(SECRET))
    error.__cause__ = raised(KeyError(SECRET))
    line = formatted(record(error=error), log_format, messages=messages)
    assert (SECRET in line) == messages
    assert "ValueError" in line
    assert "KeyError" in line
    assert "test_rendering.py" in line
    assert "kept_here" not in line
    assert "raised" in line


def test_a_deep_stack_is_shortened_in_the_middle():
    def deeper(levels):
        return deeper(levels - 1) if levels else raise_here()

    def raise_here():
        raise RuntimeError

    with pytest.raises(RuntimeError) as found:
        deeper(200)
    told = stack_of(found.value, messages=False).splitlines()
    assert len(told) < 60
    assert "more" in told[11]
    assert told[-1].endswith("raise_here")


def test_cyclic_causes_of_errors_are_logged_finitely():
    one, other = ValueError(), KeyError()
    one.__cause__, other.__cause__ = other, one
    assert len(stack_of(one, messages=False).splitlines()) < 10


def test_messages_of_asyncio_are_logged_without_values():
    message = f"Task exception was never retrieved\nfuture: <Task exception=ValueError({SECRET!r})>"
    told = json.loads(formatted(record(message, name="asyncio"), "json"))
    assert told["event"] == "Task exception was never retrieved"
    callback = f"Exception in callback act({SECRET!r})"
    assert SECRET not in formatted(record(callback, name="asyncio"), "json")


def test_values_that_are_not_json_are_logged_by_type():
    class StoredRecord:
        def __repr__(self):
            return SECRET

    told = json.loads(formatted(record(held=StoredRecord()), "json"))
    assert told["held"].startswith("<")
    assert SECRET not in str(told)


def test_an_error_of_a_worker_process_is_logged_with_its_own_stack():
    problem = problem_of(RuntimeError("secret"))
    told = stack_of(RemoteError(problem, "RuntimeError\n  there.py:7 work"), messages=False)
    assert told.splitlines()[-2:] == [
        "  in another process: RuntimeError",
        "  in another process:   there.py:7 work",
    ]
    assert "secret" not in told
