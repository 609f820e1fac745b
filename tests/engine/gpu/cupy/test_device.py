"""What a device's lanes do in which order, and who waits for whom."""

from __future__ import annotations

import threading
from itertools import count
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("llvmlite")

from tests.engine.gpu.cupy.test_executable import opened
from tests.engine.gpu.cupy.test_graphs import N, W, X, tape
from tests.engine.gpu.nvptx.launched import go_on


class Over(Exception):
    """A deadline that has passed."""


def after(looks: int) -> Any:
    """A poll that raises at a later look."""
    left = count()

    def poll() -> None:
        if next(left) == looks:
            raise Over

    return poll


def test_nothing_arrives_before_a_replay_that_its_deadline_ended_is_done():
    with opened("simulated") as backend:
        executable, stream = backend.compile(tape("tanh(x @ w)"), go_on), backend.device.stream
        executable.replay([X, W], go_on)
        ended = 0
        for looks in range(20):
            try:
                executable.replay([X, W], after(looks))
            except Over:
                ended += stream.finished < stream.asked
            asked = stream.asked
            backend.device.staged([X], go_on).arrived.synchronize()
            assert stream.finished >= asked
        assert ended  # while the device was computing


def test_the_host_gets_what_is_on_the_device_when_it_is_its_turn():
    with opened("simulated", stay=True) as backend:
        device, made = backend.device, tape("sum(x @ w)", "evaluate")
        executable = backend.compile(made, go_on, exact=True)
        with device.working(go_on):
            x = device.copied(X)
        (found,) = executable.replay([x, W], go_on).outputs
        assert_allclose(found, np.sum(X @ W))
        release = threading.Event()

        def work() -> None:
            with device.working(go_on):
                begun.set()
                release.wait()

        begun = threading.Event()
        other = threading.Thread(target=work)
        other.start()
        begun.wait()
        try:
            with pytest.raises(Over):
                executable.replay([x, W], after(2))
        finally:
            release.set()
            other.join()


def test_what_fails_with_inputs_on_the_device_is_the_error_of_the_host():
    with opened("simulated", stay=True) as backend:
        executable = backend.compile(tape("w[astype(x[0], 'int64')]", "evaluate"), go_on)
        for first in (7, N + 7):
            with backend.device.working(go_on):
                x = backend.device.copied(np.full_like(X, first))
            if first < N:
                executable.replay([x, W], go_on)
                continue
            with pytest.raises(IndexError):
                executable.replay([x, W], go_on)
