"""A step of training in ``gradwire.tf`` and in TensorFlow: CPU time, and bytes sent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from measure import Figures, Row, compared, interleave
from peers.interpreters import environment, installed, interpreter
from peers.training import BATCH_BYTES
from servers import GRADWIRE, Server, running

_MODELS = ("dense", "convolutional", "quickstart")
#: Steps before the first figure, in which everything is compiled, and in each round.
_FIRST, _STEPS = 40, 10


class Trainer:
    """A process that trains, and the server that computes for it, if one does."""

    def __init__(self, process: subprocess.Popen[str], server: Server | None) -> None:
        self._process = process
        self._server = server
        self.nbytes: Figures = []

    def steps(self, count: int) -> float:
        """The CPU time of a step in milliseconds, that of the server included."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = 0.0 if self._server is None else self._server.cpu_seconds()
        print(count, file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        self.nbytes.append(answer["bytes"])
        after = 0.0 if self._server is None else self._server.cpu_seconds()
        milliseconds: float = answer["ms"] + 1e3 * (after - before) / count
        return milliseconds


def report(*, quick: bool) -> list[str]:
    """Each model, against TensorFlow if it is installed (``GRADWIRE_BENCH_TENSORFLOW``)."""
    rounds = 4 if quick else 20
    rows = [row for model in _MODELS for row in _rows(model, rounds)]
    return [compared("A step of Adam on 32 images of 28 by 28", "tensorflow", rows)]


def _rows(model: str, rounds: int) -> list[Row]:
    with ExitStack() as stack:
        server = stack.enter_context(running(GRADWIRE))
        ours = stack.enter_context(trainer("gradwire.tf", model, "eager", server))
        hows = ("eager", "function") if installed("tensorflow") else ()
        theirs = [stack.enter_context(trainer("tensorflow", model, how)) for how in hows]
        sides = [ours, *theirs]
        for side in sides:
            side.steps(_FIRST)
            side.nbytes.clear()
        figures = interleave(rounds, *(lambda _, side=side: side.steps(_STEPS) for side in sides))
    bars = {"eager": 1.0, "function": 4.0}
    rows = [
        Row.of(f"{model}, CPU beside {how}", figures[0], found, "ms", ratio_bar=bars[how])
        for how, found in zip(hows, figures[1:], strict=True)
    ]
    batch = [BATCH_BYTES / 1e3] * len(ours.nbytes)
    sent = [nbytes / 1e3 for nbytes in ours.nbytes]
    rows.append(Row.of(f"{model}, bytes beside the batch", sent, batch, "kB", ratio_bar=2.0))
    return rows


@contextmanager
def trainer(module: str, model: str, how: str, server: Server | None = None) -> Iterator[Trainer]:
    """Run a process that trains a model; it ends with the context, without an error."""
    python = interpreter(module) if server is None else sys.executable
    url = {} if server is None else {"GRADWIRE_URL": f"http://127.0.0.1:{server.port}"}
    process = subprocess.Popen(
        [python, "-m", "peers.training", module, model, how],
        env=environment(TF_CPP_MIN_LOG_LEVEL="3", **url),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if server is None else None,
        text=True,
    )
    try:
        yield Trainer(process, server)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        for pipe in process.stdin, process.stdout:
            if pipe is not None:
                pipe.close()
