"""What processes inherit: the tests', and those that they start, get nothing of who ran them."""

from __future__ import annotations

import atexit
import locale
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

#: Variables that say how programs behave; tests set those that they are about.
FOREIGN = (
    "BASH_ENV BROWSER CDPATH CLICOLOR CLICOLOR_FORCE COLUMNS CURL_HOME EDITOR ENV FORCE_COLOR "
    "GREP_OPTIONS KERAS_HOME LANGUAGE LESS LINES MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS MORE "
    "NODE_OPTIONS NO_COLOR PAGER PY_COLORS PYTEST_ADDOPTS TTY_COMPATIBLE TTY_INTERACTIVE VISUAL "
    "_GRADWIRE_COMPLETE"
).split()
PREFIXES = ("GRADWIRE_", "LC_", "MPL", "OTEL_", "PYTHON", "UVICORN_")
#: Where Python looks for modules and keeps them compiled.
KEPT = ("PYTHONPATH", "PYTHONPYCACHEPREFIX")
#: Signals with which tests, users and supervisors end or ask processes. Who starts tests may ignore
#: them, as nohup and a script's background jobs do.
ASKING = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
)
#: Folders of the user, where libraries keep what they compile and are configured.
FOLDERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
HERE = "127.0.0.1,localhost,::1"


def settle() -> None:
    """Make this process, and all that it will start, independent of who started it."""
    _settle_signals()
    _settle_environment()
    locale.setlocale(locale.LC_ALL, "C")
    for name in ("C.UTF-8", "en_US.UTF-8"):  # with which files are opened as UTF-8
        with suppress(locale.Error):
            os.environ["LANG"] = locale.setlocale(locale.LC_CTYPE, name)
            break
    time.tzset()
    os.umask(0o022)


def _settle_signals() -> None:
    """Let children start with the default actions; this process goes on to ignore what it did."""
    for number in ASKING:
        if signal.getsignal(number) is signal.SIG_IGN:
            # A program that is started has the default action in place of a function.
            signal.signal(number, _ignore)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or no exit status would be known
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _ignore(*_: Any) -> None:
    """Do nothing."""


def _settle_environment() -> None:
    for name in list(os.environ):
        if name in FOREIGN or (name.startswith(PREFIXES) and name not in KEPT):
            del os.environ[name]
    os.environ.update(TZ="UTC", TERM="dumb")
    for name in ("NO_PROXY", "no_proxy"):  # tests in containers download by a proxy
        os.environ[name] = ",".join(filter(None, (HERE, os.environ.get(name))))
    for name in FOLDERS:
        if name in os.environ and not os.access(os.environ[name], os.W_OK | os.X_OK):
            del os.environ[name]
    if "HOME" not in os.environ:
        os.environ["HOME"] = folder = tempfile.mkdtemp(prefix="home-of-tests-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


def until(reached: Callable[[], object]) -> None:
    """Wait until something is so, however long it takes: a hung test is ended by pytest."""
    while not reached():
        time.sleep(0.01)
