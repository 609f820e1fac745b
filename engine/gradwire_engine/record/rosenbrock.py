"""A Rosenbrock method, for stiff equations: each stage is the solution of a linear one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.autodiff import matrices
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Copy
from gradwire_engine.record.runge_kutta import Slope, along

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Of Steinebach, Construction of Rosenbrock-Wanner method Rodas5P (2023), for stages multiplied by
#: the matrix of their coefficients (Hairer and Wanner, Solving Ordinary Differential Equations II,
#: IV.7): γ; where stages are, their times; how they change the right sides; and ``∂f/∂t``'s part.
_GAMMA = 0.21193756319429014
_AT: list[list[float]] = [
    [],
    [3],
    [2.849394379747939, 0.45842242204463923],
    [-6.954028509809101, 2.489845061869568, -10.358996098473584],
    [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
    [
        *(-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256),
        0.030198172008377946,
    ],
]
_AT += [[*_AT[5], 1], [*_AT[5], 1, 1]]
_TIMES = [0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664]
_CHANGES: list[list[float]] = [
    [],
    [-14.155112264123755],
    [-17.97296035885952, -2.859693295451294],
    [147.12150275711716, -1.41221402718213, 71.68940251302358],
    [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
    [
        *(24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125),
        -0.6610691825249471,
    ],
    [
        *(30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783),
        *(-19.097331116725623, -28.087943162872662),
    ],
    [
        *(37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047),
        *(-40.06618937091002, -54.66780262877968, -9.48861652309627),
    ],
]
_RATES = [_GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069]


class Rodas5P:
    """Of order 5 and L-stable: ``(1 - hγJ) u = hγ(f + …)``, ``J = ∂f/∂y`` of all real numbers.

    The error is the last of its eight stages.
    """

    def begun(self, speeds: Any) -> dict[str, Any]:
        """Nothing."""
        return {}

    def step(self, r: Recorder, slope: Slope, at: Any, h: Var) -> tuple[dict[str, Any], Any, Any]:
        """The value after a step, and its error."""
        y, t, do = Copy()(_flat(r, at["y"])), Copy()(at["t"]), r.operation

        def f(y: Var, now: Var) -> Var:
            return _flat(r, slope(_nested(r, at["y"], y), now))

        new, speed = y, f(y, t)
        size, found = y.type.size, matrices.jacobian(r.b, speed, [y, t], "reverse")
        rows, rate = (r.b.scalar(0, y.dtype) if x is None else x for x in found)
        part = r.b.cast(h * _GAMMA, y.dtype)
        # With few unknowns as exact as eight solutions of the equations, and much faster.
        inverse = do("inv", r.b.cast(do("eye", size), y.dtype) - part * rows)
        moves: list[Var] = []
        for stage, change in zip(_AT, _CHANGES, strict=True):
            number = len(moves)
            if number:
                new = along(r, y, 1, stage, moves)
                speed = f(new, t + h * (_TIMES[number] if number < len(_TIMES) else 1))
            right = part * (speed + h * _RATES[number] * rate if number < len(_RATES) else speed)
            moves.append(do("matmul", inverse, along(r, right, _GAMMA, change, moves)))
        error = _nested(r, at["y"], moves[-1])
        return {"y": _nested(r, at["y"], new + moves[-1])}, error, None


def _flat(r: Recorder, nested: Any) -> Var:
    """All real numbers of nested values, the real and the imaginary ones of complex values."""
    do, found = r.operation, list[Var]()
    for x in leaves(nested):
        parts = [do("real", x), do("imag", x)] if x.dtype.kind == "c" else [x]
        found += [reshaped(part, (part.type.size,)) for part in parts]
    return found[0] if len(found) == 1 else do("concatenate", r.b.promote(*found))


def _nested(r: Recorder, like: Any, flat: Var) -> Any:
    """Values nested as ``like`` of all real numbers."""
    at = 0

    def part(x: Var) -> Var:
        nonlocal at
        at += x.type.size
        return reshaped(sliced(flat, 0, at - x.type.size, at), x.shape)

    def value(x: Var) -> Var:
        return r.b.cast(
            r.operation("complex", part(x), part(x)) if x.dtype.kind == "c" else part(x), x.dtype
        )

    return rebuild(like, value)
