"""Integers out of any range, wherever an operation takes one: an answer or a typed error.

Asked are engines as the service has them, in processes that may take little memory, and that end
where NumPy or LAPACK would rather crash than raise.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.catalogue import catalogue
from gradwire_engine.check import Call
from gradwire_engine.errors import DeadlineExceeded, EngineError, InternalError

from tests.effort import some
from tests.engine.ops.sampled import FUNCTIONS_SAMPLED

Program = TypeVar("Program")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")

EXTREMES = ["0", "-1", "2**31", "2**62", "2**63-1", "-2**63", "2**63", "2**64", "10**30"]
#: The same in sequences, as shapes, axes and indices are.
FORMS = ["[{}]", "(1, {})", "({}, {})", "[({}, 1)]"]
VARIABLES = {
    "m": np.linspace(0.1, 0.9, 9).reshape(3, 3),
    "v": np.linspace(0.1, 0.9, 3),
    "k": np.array([0, 2, 1]),
    "t": np.linspace(0.1, 0.9, 54).reshape(2, 3, 3, 3),
}
#: What the language itself does with integers.
WRITTEN = """
{} | abs({}) | -({}) | ~({}) | range({}) | range(0, {}, 7) | range(7, 0, {}) | len(range({})) |
[0] * {} | {} * [0] | 'a' * {} | [m] * {} | 1 << {} | {} << 1 | {} >> {} | 1 >> {} | 2 ** {} |
{} ** 2 | {} ** {} | {} // -1 | {} % -1 | 7 // {} | 7 % {} | 7 / {} | {} / 7 | {} * {} |
{} + {} | divmod({}, -1) | divmod(7, {}) | pow(2, {}, 3) | round(v, {}) | round(1.5, {}) |
int({}) | float({}) | bool({}) | complex({}) | str({}) | v[{}] | v[{}:] | v[:{}] | v[::{}] |
m[0, {}] | m[[{}]] | m[..., {}] | [1, 2][{}] | [1, 2][{}:] | [1, 2][::{}] | (1, 2)[{}] |
range(9)[{}] | range({})[{}] | range({})[1:] | v * {} | v + {} | k * {} | k + {} | k // {} |
k % {} | k ** {} | k << {} | k & {} | {} - k | m @ [{}] | int8({}) | uint64({}) | float16({}) |
astype({}, 'int32') | k == {} | v < {} | max({}, v) | min(1, {}) | list(enumerate([1], {})) |
[0 for i in range({})] | sum([{}, {}]) | zeros({}) | zeros(({}, {})) |
fori_loop(0, {}, lambda i, x: x * 0.5, v) | fori_loop({}, 2, lambda i, x: x + i, v) | m.T[{}] |
lax.switch({}, [sin, cos], v) | v.reshape({}) | m.sum({}) | m.sum(axis=({}, {})) |
m.swapaxes(0, {}) | jax.nn.one_hot(k, {}) | array([{}]) | array({}, 'int64') |
array([1, {}]) * v | [{}, 1.5] * v[:2] | v.at[{}].add(1) | v.at[{}:].set(1) |
cond({}, lambda: v, lambda: -v) | where({}, v, m) | v.shape[{}] | random.key({}) |
random.normal(random.key({}), ({},)) | random.split(random.key(1), {}) | {}.real | f"{}" |
lambda x: {} | m[{}:{}, {}:{}] | sum(v, where={}) | is_({}, 1) | {} in [1, {}] | 1j * {}
""".replace("\n", " ").split(" | ")
STATEMENTS = [
    "x = v\nx[{}] = 1\nsum(x)",
    "x = [1, 2]\nx[{}] = 1\nx",
    "x = v\nfor i in range({}): x = x * 0.5\nx",
    "n = {}\nx = v\nwhile n > 0:\n  n = n - 2**62\n  x = x * 2\nx",
    "n = {}\nn += n\nn *= n\nv * n",
]
#: What graphs are asked with: some operation's parameters, and one that it does not have.
PARAMETERS = {
    "sum": "axis reps",
    "zeros": "shape",
    "reshape": "shape",
    "roll": "shift axis",
    "tile": "reps",
    "triu": "k",
    "getitem": "index",
    "take": "indices axis",
    "cumsum": "axis",
}
LIMITS = Limits(array_bytes=1 << 24, total_bytes=1 << 26, instructions=5000, flops=10**7)
MEMORY_BYTES = 1 << 30
#: What looks at its deadline ends after the first, on any machine; with the second the program that
#: does not is named, shortly before pytest ends the whole test.
ALLOWED_SECONDS = 0.5
SECONDS = 240


def cases(extreme: str) -> Iterator[str]:
    """Calls of all functions, each of their parameters this integer in turn."""
    for entry in catalogue():
        if not iskeyword(entry["name"]):
            yield from calls(entry, extreme)


def calls(entry: dict[str, Any], extreme: str) -> Iterator[str]:
    """The same of one function, its other parameters what they may be, or not."""
    name, parameters = entry["name"], [p for p in entry["parameters"] if p.isidentifier()]
    _, _, written = entry["signature"].partition("(")
    needed = [p for p in parameters if f"{p}=" not in written]
    first, rest = ("m", "v", "k", "t"), ("m", "1", "k")
    bases = [[one, *[other] * (len(needed) - 1)][: len(needed)] for one in first for other in rest]
    for parameter in parameters:
        values = [(extreme, base) for base in bases]
        values += [(form.replace("{}", extreme), bases[0]) for form in FORMS]
        for value, base in values:
            if parameter in needed:
                at = needed.index(parameter)
                yield f"{name}({', '.join([*base[:at], value, *base[at + 1 :]])})"
            else:
                yield f"{name}({', '.join([*base, f'{parameter}={value}'])})"


def sampled(extreme: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Right calls of functions, one integer of each made extreme in turn; with their arrays."""
    for name, samples in FUNCTIONS_SAMPLED.items():
        for call in samples:
            if type(call) is not Call:
                continue
            arrays: dict[str, Any] = {}
            arguments = [written(x, arrays) for x in call.args]
            named = {key: written(x, arrays) for key, x in call.kwargs.items()}
            for at, x in [*enumerate(call.args), *call.kwargs.items()]:
                if isinstance(x, np.ndarray) or not holds_integers(x):
                    continue
                for value in replaced(x, extreme):
                    these: dict[Any, str] = {**dict(enumerate(arguments)), **named, at: value}
                    parts = [v if type(k) is int else f"{k}={v}" for k, v in these.items()]
                    yield f"{name}({', '.join(parts)})", arrays


def written(x: Any, arrays: dict[str, Any]) -> str:
    """An argument as a program writes it; arrays are variables."""
    if isinstance(x, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = x
        return name
    if isinstance(x, list | tuple):
        parts = ", ".join(written(item, arrays) for item in x)
        return f"[{parts}]" if isinstance(x, list) else f"({parts}{',' * (len(x) == 1)})"
    return repr(x)


def holds_integers(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(holds_integers, x))
    return type(x) is int


def replaced(x: Any, extreme: str) -> list[str]:
    """The argument, with each of its integers made extreme."""
    if type(x) is int:
        return [extreme]
    if not isinstance(x, list | tuple) or any(isinstance(item, np.ndarray) for item in x):
        return []
    found = []
    for at, item in enumerate(x):
        for value in replaced(item, extreme):
            parts = [repr(other) for other in x]
            parts[at] = value
            found.append(
                f"({', '.join(parts)},)" if isinstance(x, tuple) else f"[{', '.join(parts)}]"
            )
    return found


def own_share(programs: Sequence[Program], extreme: str) -> Sequence[Program]:
    """Each program with one of the extremes: those of this one."""
    return programs[EXTREMES.index(extreme) :: len(EXTREMES)]


def ask(engine: Engine, program: Any, variables: dict[str, Any]) -> None:
    """Have a program's value, and its gradient if there is a value."""
    values = {name: Leaf(np.asarray(x)) for name, x in variables.items() if name in str(program)}
    for kind in "evaluate", "gradient":
        end = monotonic() + ALLOWED_SECONDS

        def poll(end: float = end) -> None:
            if monotonic() > end:
                raise DeadlineExceeded("it takes long")

        query = Query(kind, unconnected="zero")
        engine.call(engine.parse(program, poll), values, query).replay(poll)


def data_bytes() -> int:
    """The memory that counts as this process's data."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))


def late(*_: Any) -> None:
    raise TimeoutError(f"not over after {SECONDS} s")


def try_all(programs: Sequence[tuple[Any, dict[str, Any]]], told: Connection) -> None:
    """Ask everything; tell what is asked, and what it failed with."""
    signal.signal(signal.SIGALRM, late)
    most = data_bytes() + MEMORY_BYTES  # the process that forks may have taken much
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    engine = Engine(LIMITS, cache_bytes=1 << 20)
    for program, variables in programs:
        told.send(str(program))
        signal.alarm(SECONDS)
        try:
            with np.errstate(all="ignore"):
                ask(engine, program, variables)
        except InternalError as error:
            told.send(error)
        except EngineError:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, it has no type of ours
            told.send(RuntimeError(f"{type(error).__name__}: {error}"))
        finally:
            signal.alarm(0)
    told.send(None)


def failures(programs: Sequence[tuple[Any, dict[str, Any]]]) -> list[str]:
    """The programs that did not end in an answer or a typed error, each with what happened."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=try_all, args=(programs, theirs))
    process.start()
    theirs.close()
    asked, found = "", []
    try:
        while (message := ours.recv() if ours.poll(SECONDS + 30) else "hangs") is not None:
            if isinstance(message, Exception):
                found.append(f"{asked} → {message}")
            elif message == "hangs":
                found.append(f"{asked} → hangs")
                break
            else:
                asked = message
    except EOFError:
        process.join()
        found.append(f"{asked} → the process ended with {process.exitcode}")
    process.kill()
    process.join()
    return found


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extreme", EXTREMES)
def test_every_parameter_of_every_operation(extreme):
    programs = own_share([*cases(extreme)], extreme)
    assert failures([(text, VARIABLES) for text in some(programs, 1000)]) == []


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extreme", EXTREMES)
def test_calls_that_are_right_but_for_one_integer(extreme):
    assert failures(own_share([*sampled(extreme)], extreme)) == []


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extreme", EXTREMES)
def test_what_the_language_does_with_integers(extreme):
    programs = [text.strip().replace("{}", f"({extreme})") for text in [*WRITTEN, *STATEMENTS]]
    assert failures([(text, VARIABLES) for text in programs]) == []


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extreme", EXTREMES)
def test_graphs(extreme):
    """Integers of any size from a JSON parser."""
    number = eval(extreme)
    nodes = [
        {"op": op, "args": [given], "attrs": {parameter: value}}
        for op, parameters in PARAMETERS.items()
        for given in ("m", number, [number, 1])
        for parameter in parameters.split()
        for value in (number, [number], [1, number], [{"slice": [number, None, number]}])
    ]
    programs = [{"nodes": [{"id": "y", **node}], "outputs": "y"} for node in nodes]
    assert failures([(program, VARIABLES) for program in programs]) == []
