"""Joins an evaluation and a tool, two commands that speak JSON lines, as GradBench's CLI does.

``python -m gradbench.join --eval "python -m gradbench.evaluate gmm" --tool "python -m
gradbench.tool"`` passes each message on to the tool and its reply back, and prints one line for
each function: its median time, and whether its output is valid.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from measure import shown, table


class Evaluated(NamedTuple):
    """The result of a session for one function and input."""

    name: str
    function: str
    milliseconds: float | None
    #: None if the output was not checked.
    valid: bool | None
    error: str

    @property
    def passed(self) -> bool:
        """True if the tool gave an output that nothing is wrong with."""
        return self.milliseconds is not None and self.valid is not False


def main() -> None:
    """Join two commands; the exit status is 1 if any output is missing or wrong."""
    parser = argparse.ArgumentParser(description="Join an evaluation and a tool.")
    parser.add_argument("--eval", required=True, help="command of the evaluation")
    parser.add_argument("--tool", required=True, help="command of the tool")
    options = parser.parse_args()
    found = [*join(shlex.split(options.eval), shlex.split(options.tool))]
    rows = [[each.name, each.function, _time(each), _verdict(each)] for each in found]
    print(table(options.eval, ["", "function", "ms", ""], rows))
    sys.exit(not (found and all(each.passed for each in found)))


def join(evaluation: Sequence[str], tool: Sequence[str]) -> Iterator[Evaluated]:
    """Pass messages on until the evaluation ends.

    Raises: ``RuntimeError`` if one of the two ends while the other waits for it, or fails.
    """
    try:
        yield from _session(evaluation, tool)
    except BrokenPipeError:
        raise RuntimeError("the tool or the evaluation ended early") from None


def _session(evaluation: Sequence[str], tool: Sequence[str]) -> Iterator[Evaluated]:
    pending: Evaluated | None = None
    with _started(evaluation) as asks, _started(tool) as answers:
        assert asks.stdin
        assert asks.stdout
        assert answers.stdin
        assert answers.stdout
        for line in asks.stdout:
            answers.stdin.write(line)
            answers.stdin.flush()
            reply = answers.stdout.readline()
            if not reply:
                raise BrokenPipeError
            message = json.loads(line)
            if message["kind"] == "analysis" and pending:
                error = message.get("error", "").partition("\n")[0]
                yield pending._replace(valid=message["valid"], error=error)
                pending = None
            elif message["kind"] == "evaluate":
                if pending:
                    yield pending
                pending = _evaluated(message, json.loads(reply))
            asks.stdin.write(reply)
            asks.stdin.flush()
        answers.stdin.close()
    if pending:
        yield pending
    if asks.returncode or answers.returncode:
        raise RuntimeError(f"status {asks.returncode} of the evaluation, {answers.returncode}")


def _started(command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def _evaluated(message: dict[str, Any], reply: dict[str, Any]) -> Evaluated:
    name, function = message.get("description", ""), message["function"]
    if not reply["success"]:
        return Evaluated(name, function, None, None, reply.get("error", ""))
    runs = [each["nanoseconds"] for each in reply["timings"] if each["name"] == "evaluate"]
    return Evaluated(name, function, median(runs) / 1e6, None, "")


def _time(each: Evaluated) -> str:
    return "-" if each.milliseconds is None else shown(each.milliseconds)


def _verdict(each: Evaluated) -> str:
    if each.valid and each.passed:
        return "valid"
    return each.error.partition("\n")[0] or "not checked"


if __name__ == "__main__":
    main()
