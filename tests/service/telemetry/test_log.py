"""The log thread writes lines in order, and no caller waits for it."""

import json
import logging
import os
import threading
import warnings

import pytest
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Log, logging_to
from gradwire_service.telemetry import log as module
from gradwire_service.telemetry.rendering import renderer

from tests.service.forked import forked

RENDER = renderer("json")


def test_lines_are_written_in_order_by_one_thread(monkeypatch):
    monkeypatch.setattr(module, "GATHER_SECONDS", 3600)  # unless one of them is urgent
    written: list[bytes] = []
    log = Log(written.append, RENDER)
    for number in range(1000):
        log.put(b"%d\n" % number)
    log.put(lambda render: render({"last": True}), at_once=True)
    log.close()
    lines = b"".join(written).splitlines()
    assert lines == [*(b"%d" % number for number in range(1000)), b'{"last":true}']
    assert len(written) <= 2


def test_concurrent_threads_lose_no_lines():
    written: list[bytes] = []
    log = Log(written.append, RENDER)

    def write():
        for _ in range(2000):
            log.put(b"line\n")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    assert b"".join(written) == b"line\n" * 8000


def test_if_nobody_reads_the_log_lines_are_dropped_without_blocking(caplog):
    written: list[bytes] = []
    writes, go_on = threading.Event(), threading.Event()

    def write(lines):
        writes.set()
        go_on.wait()
        written.append(lines)

    log = Log(write, RENDER, most_waiting=10)
    log.put(b"first\n", at_once=True)
    writes.wait()
    for _ in range(25):
        log.put(b"more\n")
    go_on.set()
    log.close()
    assert b"".join(written) == b"first\n" + b"more\n" * 10
    (told,) = caplog.records
    assert told.lines == 15


def test_a_closed_log_pipe_is_not_an_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream, logging_to(stream, Settings()):
        logging.getLogger("gradwire").error("nobody hears this")


@pytest.fixture
def written(tmp_path):
    """The lines that ``act`` logs with these settings."""

    def written(act, **settings):
        path = tmp_path / "log"
        with path.open("w") as stream, logging_to(stream, Settings(**settings)):
            act()
        return path.read_text()

    before = warnings.showwarning, threading.excepthook, logging.getLogger().handlers[:]
    yield written
    assert (warnings.showwarning, threading.excepthook, logging.getLogger().handlers) == before


def test_lower_levels_than_the_setting_are_omitted(written):
    def act():
        logging.getLogger("uvicorn.error").info("unheard")
        logging.getLogger("uvicorn.error").warning("heard")

    told = written(act, log_level="warning")
    assert "unheard" not in told
    assert "heard" in told
    assert "error" not in told


@pytest.mark.parametrize(("place", "quoted"), [("<program>", False), ("module.py", True)])
def test_a_warning_about_a_program_does_not_quote_it(written, place, quoted):
    told = written(lambda: warnings.showwarning("quoted", SyntaxWarning, place, 7))
    assert f"{place}:7" in told
    assert "SyntaxWarning" in told
    assert ("quoted" in told) == quoted


def test_a_failing_thread_is_logged_without_values(written):
    def fail():
        raise ValueError("a value")

    def act():
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    told = written(act)
    assert "a thread failed" in told
    assert "ValueError" in told
    assert "a value" not in told


def test_the_last_lines_are_written_before_exit(tmp_path):
    act = (
        "import logging, sys; from gradwire_service.settings import Settings\n"
        "from gradwire_service.telemetry import log, logging_to\n"
        "log._CLOSE_SECONDS = 3600\n"
        "with logging_to(sys.stderr, Settings(log_format='json')):\n"
        "    logging.getLogger('gradwire').warning('last words')\n"
        "    raise SystemExit(3)"
    )
    ended = forked(act, tmp_path / "log")
    ended.join()
    assert ended.exitcode == 3
    assert json.loads((tmp_path / "log").read_text())["event"] == "last words"
