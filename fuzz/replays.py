"""Compare machine code with NumPy on random programs: values, gradients, guards, errors, reports.

Programs are drawn from seeds, in a process that may die: what differs or crashes is printed with
its seed, and drawn again by ``--seed N --count 1``. Answers may differ by what rounding explains,
found by asking NumPy once more about values that are a few units in the last place away.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import DeadlineExceeded, EngineError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.native import native_backend
from gradwire_engine.tape import ArrayType, Tape, Type

#: Lengths around a vector's, one beyond what is looked at for finiteness, one that is called by
#: pieces.
LENGTHS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 129, 5000, 40_001, 300_007)
UNARY = (
    *"sin cos tan tanh sinh cosh exp expm1 exp2 log log1p log2 log10 sqrt cbrt square abs".split(),
    *"arctan arcsin arccos arcsinh arccosh arctanh sign floor ceil rint trunc reciprocal".split(),
    *"erf erfc sigmoid softplus relu gelu silu logit negative isnan isfinite".split(),
    *"nan_to_num sinc gammaln deg2rad copy stop_gradient logical_not".split(),
)
BINARY = (
    *"add subtract multiply divide power maximum minimum fmax fmin arctan2 hypot".split(),
    *"logaddexp floor_divide remainder fmod less greater_equal equal not_equal".split(),
    *"logical_and logical_or logical_xor heaviside xlogy".split(),
)
REDUCTIONS = (*"sum mean max min prod var std any all logsumexp norm count_nonzero".split(),)
ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "sort", "flip", "argmax", "cummax")
NUMBERS = ("k", "0.5", "2", "-1.5", "v[0]", "w[-1]", "m[0, -1]")
_POLLS = 200_000
#: What rounding may change of an answer, beside its largest element.
_TOLERANCE = {"float16": 1e-1, "float32": 1e-3}
_USUAL_TOLERANCE = 1e-8
#: How often NumPy is asked about values nearby where answers differ.
_NEARBY = 4


class Programs:
    """Statements over scalars ``a b``, vectors ``v w``, matrices ``m p`` and integers ``k i``."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        draw = self.rng.random() < 0.8
        self.n = int(self.rng.choice(LENGTHS[:11] if draw else LENGTHS))
        self.rows = int(self.rng.choice([1, 2, 3, 5, 9] if self.n < 5000 else [1, 2, 3]))
        self.dtype = "float32" if self.rng.random() < 0.15 else "float64"
        self.names = {"s": ["a", "b"], "v": ["v", "w"], "m": ["m", "p"], "k": ["k"]}
        self.lines: list[str] = []

    def values(self) -> dict[str, Any]:
        """Values of all variables, some of them special."""
        rng, n = self.rng, self.n
        spread = rng.choice([0.2, 0.5, 1.5])
        shapes = {"a": (), "b": (), "v": (n,), "w": (n,), "m": (self.rows, n), "p": (self.rows, n)}
        found: dict[str, Any] = {
            name: np.asarray(rng.normal(0.4, spread, shape), self.dtype)
            for name, shape in shapes.items()
        }
        if rng.random() < 0.2:
            special = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, 1.0, -1.0])
            with np.errstate(over="ignore"):
                found[str(rng.choice(["v", "m"]))].flat[rng.integers(n)] = special
        found["k"] = np.asarray(rng.integers(0, 5))
        index = rng.integers(-n, n, 6)
        if rng.random() < 0.1:
            index[rng.integers(6)] = n + rng.integers(3)
        found["i"] = index
        return found

    def moved(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values a few units in the last place away."""
        eps = 64 * np.finfo(self.dtype).eps
        return {
            name: x * np.asarray(1 + eps * self.rng.choice([-1, 0, 1], x.shape), x.dtype)
            if x.dtype.kind == "f"
            else x
            for name, x in values.items()
        }

    def text(self) -> str:
        """A program, whose last value is a number, and often sees all that was computed."""
        for _ in range(int(self.rng.integers(1, 7))):
            self._statement("", 0)
        seen = [f"sum({x})" for x in (*self.names["v"][2:], *self.names["m"][2:])[-4:]]
        self.lines.append(f"y = {' + '.join([self.number(1), *seen])}")
        return "\n".join(self.lines)

    def one(self, *items: Any) -> Any:
        """One of the items."""
        return items[int(self.rng.integers(len(items)))]

    def number(self, depth: int) -> str:
        """An expression that is a number."""
        if depth > 3 or self.rng.random() < 0.2:
            return str(
                self.one(*self.names["s"], "k", "0.5", "2", "-1.5", "v[0]", "w[-1]", "m[0, -1]")
            )
        match int(self.rng.integers(7)):
            case 0 | 1:
                return f"{self.one(*REDUCTIONS)}({self.array(self.one('v', 'm'), depth + 1)})"
            case 2 | 3:
                return f"{self.one(*UNARY)}({self.number(depth + 1)})"
            case 4 | 5:
                return f"{self.one(*BINARY)}({self.number(depth + 1)}, {self.number(depth + 1)})"
            case _:
                return f"({self.array('v', depth + 1)} @ {self.array('v', depth + 1)})"

    def array(self, kind: str, depth: int) -> str:
        """An expression that is a vector of length n, or a matrix with so many columns."""
        if depth > 3 or self.rng.random() < 0.15:
            return str(self.one(*self.names[kind]))
        again = depth + 1
        match int(self.rng.integers(12)):
            case 0 | 1 | 2:
                return f"{self.one(*UNARY)}({self.array(kind, again)})"
            case 3 | 4 | 5:
                other = self.one(kind, kind, "s", "v")
                two = self.number(again) if other == "s" else self.array(other, again)
                return f"{self.one(*BINARY)}({self.array(kind, again)}, {two})"
            case 6:
                x, y = self.array(kind, again), self.array(kind, again)
                return f"where({x} {self.one('>', '<=', '!=')} {self.number(3)}, {x}, {y})"
            case 7:
                axis = self.one(0, -1)
                return f"{self.one(*ALONG)}({self.array(kind, again)}, axis={axis})"
            case 8:
                return (
                    f"({self.array(kind, again)} {self.one('+', '-', '*', '/')} {self.number(2)})"
                )
            case 9 if kind == "v":
                axis = "axis=0"
                return f"{self.one(*REDUCTIONS[:8])}({self.array('m', again)}, {axis})"
            case 9:
                reduced = (
                    f"{self.one('sum', 'max', 'min', 'mean')}({self.array('m', again)}, axis=1"
                )
                return f"({self.array('m', again)} {self.one('-', '/')} {reduced}, keepdims=True))"
            case 10:
                return self._moved(kind, again)
            case _:
                return f"clip({self.array(kind, again)}, -0.7, {self.number(3)})"

    def _moved(self, kind: str, depth: int) -> str:
        x, cut = self.array(kind, depth), int(self.rng.integers(1, 4))
        if kind == "m":
            return str(
                self.one(
                    f"{x}.T.copy().T",
                    f"{x}[::-1]",
                    f"({x}.T @ {self.array('m', depth)} @ {x}.T).T"
                    if self.n < 50
                    else f"{x}[:, ::-1]",
                    f"concatenate([{x}[:, {cut}:], {x}[:, :{cut}]], axis=1)",
                    f"reshape({x}, (-1,)).reshape(m.shape)",
                    f"outer({self.array('m', depth)} @ w, {self.array('v', depth)})",
                    f"{self._solved()} @ {x}",
                    f"pad({x}[:, {cut}:], ((0, 0), (m.shape[1] - {x}[:, {cut}:].shape[1], 0)))",
                )
            )
        return str(
            self.one(
                f"{x}[::-1]",
                f"roll({x}, {cut})",
                f"concatenate([{x}[{cut}:], {x}[:{cut}]])",
                f"({x} + 0 * v[i][0])",
                f"({x} * sum(take({x}, i)))",
                f"{self.array('m', depth)}[{self.one(0, -1)}]",
                f"({self.array('m', depth)}.T @ p)[0]" if self.n < 50 else x,
                f"repeat({x}, 2)[::2]",
                f"diff({x}, append={self.number(3)})",
            )
        )

    def _solved(self) -> str:
        """A matrix of as many rows as others have, by factors, inverses or solutions."""
        x = self.one("m", "p", "clip(m, -2.0, 2.0)")
        square = f"({x} @ {x}.T + {self.one('eye(len(m))', '1e-3', 'a')} * eye(len(m)))"
        return str(
            self.one(
                f"inv({square})",
                f"cholesky({square})",
                f"solve({square}, p[:, :1] * ones(len(m)))",
                f"solve_triangular({square}, eye(len(m)), lower={self.one('True', 'False')})",
                f"({square} * {self.one('det', 'slogdet')}({square}))".replace(
                    f"slogdet({square})", f"slogdet({square})[1]"
                ),
            )
        )

    def _assign(self, indent: str) -> None:
        kind = str(self.one("s", "v", "m"))
        made = self.number(0) if kind == "s" else self.array(kind, 0)
        name = f"{kind}{len(self.lines)}" if not indent else {"s": "a", "v": "v", "m": "m"}[kind]
        self.lines.append(f"{indent}{name} = {made}")
        if not indent:
            self.names[kind].append(name)

    def _statement(self, indent: str, depth: int) -> None:
        if depth > 1 or self.rng.random() < 0.55:
            self._assign(indent)
            return
        within, label = indent + "  ", len(self.lines)
        match int(self.rng.integers(7)):
            case 0:
                self.lines.append(f"{indent}if {self.number(2)} {self.one('>', '<=')} 0.3:")
                self._statement(within, depth + 1)
                self.lines.append(f"{indent}else:")
                self._statement(within, depth + 1)
            case 1:
                self.lines.append(f"{indent}for j{label} in range({self.one(0, 1, 3, 12, 'k')}):")
                self._statement(within, depth + 1)
            case 2:
                self.lines.append(f"{indent}t{label} = 0.1")
                self.lines.append(f"{indent}while t{label} < {self.one(0, 3, 'a')}:")
                self._statement(within, depth + 1)
                self.lines.append(f"{within}t{label} = t{label} + 0.6 + b*b")
            case 3:
                self.lines.append(f"{indent}for e{label} in m:")
                self.lines.append(f"{within}v = {self.array('v', 1)} + 0.1*e{label}")
                if self.rng.random() < 0.4:
                    self.lines.append(
                        f"{within}if sum(v) > {self.one(5, 'n0', 50)}: break".replace("n0", "10")
                    )
            case 4:
                body = self.array("v", 2)
                self.lines.append(
                    f"{indent}v = fori_loop(0, {self.one(2, 9)}, lambda j, v: {body}, v)"
                )
            case 5:
                body = self.array("v", 2)
                self.lines.append(f"{indent}def f{label}(v):")
                self.lines.append(f"{within}v = {body}")
                self.lines.append(f"{within}return {self.array('v', 2)} + {self.number(3)}")
                self.lines.append(f"{indent}v = f{label}({self.array('v', 1)})")
            case _:
                at = self.one("0", "-1", "k", "i", ":2", "::2", f"{self.n + 1}")
                self.lines.append(f"{indent}v[{at}] = {self.number(2)}")


def asked(engine: Engine, text: str, values: Mapping[str, Any]) -> list[Any]:
    """The value, the gradients and where they are not finite, or the error, of a program."""
    polls = 0

    def poll() -> None:
        nonlocal polls
        polls += 1
        if polls > _POLLS:
            raise DeadlineExceeded("the time is up")

    leaves = {name: Leaf(value.copy()) for name, value in values.items()}
    query = Query("gradient", sources=[*"abvwmp"], unconnected="zero")
    try:
        answer = engine.call(engine.parse(text), leaves, query).replay(poll)
    except EngineError as error:
        return [type(error).__name__, error.message]
    reports = {way: (at.node, at.instruction.split("(")[0]) for way, at in answer.nonfinite.items()}
    return [answer.value, *answer.gradients, reports]


def differs(
    found: Sequence[Any],
    expected: Sequence[Any],
    nearby: Sequence[Sequence[Any]] = (),
    tolerance: float = _USUAL_TOLERANCE,
) -> str | None:
    """In what two answers differ more than those ``nearby`` do."""
    if len(found) != len(expected):
        return f"{found} is not {expected}"
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if isinstance(other, str | dict):
            if one != other:
                return f"{one} is not {other}"
            continue
        x, y = np.asarray(one), np.asarray(other)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{number}: {x.dtype}{x.shape} is not {y.dtype}{y.shape}"
        x, y = x.astype(np.float64), y.astype(np.float64)
        with np.errstate(all="ignore"):
            finite = np.isfinite(y)
            scale = max(1.0, float(np.max(np.abs(y), where=finite, initial=0)))
            moved = [np.abs(np.asarray(near[number], np.float64) - y) for near in nearby]
            largest = [np.max(each, where=np.isfinite(each), initial=0) for each in moved]
            allowed = tolerance * scale + 1e3 * max(largest, default=0.0)
            same = (x == y) | (np.isnan(x) & np.isnan(y)) | (finite & (np.abs(x - y) <= allowed))
        if not same.all():
            at = tuple(np.argwhere(~same)[0].tolist()) if x.shape else ()
            return f"{number}: {x[at]!r} is not {y[at]!r} at {at} of {x.shape}, {allowed} allowed"
    return None


def _tolerance(engine: Engine, text: str, values: Mapping[str, Any]) -> float:
    """The tolerance of the narrowest dtype in use: booleans become such numbers, too."""
    leaves = {name: Leaf(value) for name, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("evaluate"))
    try:
        call.replay(lambda: None)
    except EngineError:
        return _USUAL_TOLERANCE
    kinds = [kind for path in call.entry.paths for kind in _types(path.executable.tape)]
    names = {kind.dtype.name for kind in kinds if isinstance(kind, ArrayType)}
    return max([_TOLERANCE.get(name, _USUAL_TOLERANCE) for name in names])


def _types(tape: Tape) -> Iterator[Type]:
    for op, _, kind, _ in tape.instructions:
        yield kind
        if isinstance(op, Loop):
            yield from _types(op.body.tape)


def compare(seed: int) -> str | None:
    """Replay a program at several values with both; in what they differ."""
    drawn = Programs(seed)
    text, by_numpy, by_code = drawn.text(), Engine(), Engine(backend=native_backend())
    points = [drawn.values() for _ in range(3)]
    for values in (points[0], *points):
        found, expected = asked(by_code, text, values), asked(by_numpy, text, values)
        if differs(found, expected) is None:
            continue
        # a few units in the last place may decide otherwise, or matter much
        nearby = [asked(Engine(), text, drawn.moved(values)) for _ in range(_NEARBY)]
        if any(differs(found, near) is None for near in nearby):
            continue
        alike = [near for near in nearby if len(near) == len(expected)]
        difference = differs(found, expected, alike, _tolerance(by_numpy, text, values))
        if difference is not None:
            return f"{difference}\n{text}\n"
    return None


def _run(first: int, count: int, seconds: float) -> None:
    """Compare one program after the other, and say before each which it is."""
    ends = time.monotonic() + seconds
    for seed in range(first, first + count):
        print(f"at {seed}", flush=True)
        try:
            difference = compare(seed)
        except Exception:  # noqa: BLE001 - what engines raise beside their own errors
            difference = f"{traceback.format_exc(limit=-3)}\n{Programs(seed).text()}"
        if difference is not None:
            print(f"seed {seed}: {difference}", flush=True)
        if time.monotonic() > ends:
            break
    print("done", flush=True)


def _reported(first: int, count: int, seconds: float) -> Iterator[str]:
    """The lines of processes that compare, a new one where one has died."""
    ends, last = time.monotonic() + seconds, first + count
    while first < last and (left := ends - time.monotonic()) > 0:
        options = ["--here", f"--seed={first}", f"--count={last - first}", f"--seconds={left}"]
        command = [sys.executable, str(Path(__file__)), *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            line = ""
            for line in child.stdout:
                if line.startswith("at "):
                    first = int(line[3:]) + 1
                elif line != "done\n":
                    yield line
        if line == "done\n":
            break
        yield f"seed {first - 1}: the process ended with status {child.returncode}\n"
    yield f"{first} is the next seed\n"


def main() -> int:
    """Compare programs for so many seconds; returns the number that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--count", type=int, default=1 << 40, help="of programs, at most")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    if given.here:
        _run(given.seed, given.count, given.seconds)
        return 0
    failed = 0
    for line in _reported(given.seed, given.count, given.seconds):
        print(line, end="", flush=True)
        failed += line.startswith("seed ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
