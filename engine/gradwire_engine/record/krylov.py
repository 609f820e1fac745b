"""Krylov methods: passes that bring a solution of a linear system nearer by products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.record.functions.loops import repeat
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: A linear function of an array, with values of its shape.
Product = Callable[[Var], Var]
#: Vectors and numbers of an iteration by name: ``x`` and its ``residual`` among them.
State = dict[str, Var]


class Method(Protocol):
    """An iteration."""

    def begin(self, residual: Var) -> State:
        """The state of the method besides ``x`` and the residual."""

    def step(self, product: Product, at: State) -> State:
        """The state after a pass."""


@dataclass(frozen=True, slots=True)
class Conjugate:
    """Conjugate gradients."""

    r: Recorder

    def begin(self, residual: Var) -> State:
        """The first direction is the residual."""
        return {"direction": residual, "square": _dot(self.r, residual, residual)}

    def step(self, product: Product, at: State) -> State:
        """Go where the error is least along the direction."""
        do, direction = self.r.operation, at["direction"]
        image = product(direction)
        alpha = do("divide_no_nan", at["square"], _dot(self.r, direction, image))
        residual = at["residual"] - alpha * image
        square = _dot(self.r, residual, residual)
        beta = do("divide_no_nan", square, at["square"])
        return {
            "x": at["x"] + alpha * direction,
            "residual": residual,
            "direction": residual + beta * direction,
            "square": square,
        }


@dataclass(frozen=True, slots=True)
class Stabilised:
    """Stabilised biconjugate gradients."""

    r: Recorder

    def begin(self, residual: Var) -> State:
        """The shadow of all residuals is the first."""
        one, nothing = self.r.b.scalar(1, residual.dtype), zeros(residual)
        numbers = dict.fromkeys(("rho", "alpha", "omega"), one)
        return {"shadow": residual, "direction": nothing, "image": nothing, **numbers}

    def step(self, product: Product, at: State) -> State:
        """A step of biconjugate gradients, and one that makes the residual least."""
        over, dot = partial(self.r.operation, "divide_no_nan"), partial(_dot, self.r)
        shadow, residual, omega = at["shadow"], at["residual"], at["omega"]
        rho = dot(shadow, residual)
        beta = over(rho, at["rho"]) * over(at["alpha"], omega)
        direction = residual + beta * (at["direction"] - omega * at["image"])
        image = product(direction)
        alpha = over(rho, dot(shadow, image))
        half = residual - alpha * image
        turned = product(half)
        omega = over(dot(turned, half), dot(turned, turned))
        return {
            "x": at["x"] + alpha * direction + omega * half,
            "residual": half - omega * turned,
            "shadow": shadow,
            "direction": direction,
            "image": image,
            "rho": rho,
            "alpha": alpha,
            "omega": omega,
        }


@dataclass(frozen=True, slots=True)
class Least:
    """Least residuals of the space that ``restart`` products span."""

    r: Recorder
    restart: int

    def begin(self, residual: Var) -> State:
        """Every pass begins anew."""
        return {}

    def step(self, product: Product, at: State) -> State:
        """An orthonormal basis by Arnoldi's iteration, then least squares in it."""
        do, residual = self.r.operation, at["residual"]
        shape, size, dtype = residual.shape, residual.type.size, residual.dtype
        count = min(self.restart, size)
        rows = do("arange", count + 1)

        def unit(number: Any) -> Var:
            return self.r.b.cast(do("equal", rows, number), dtype)

        def orthonormal(number: Any, basis: Var, row: Any) -> tuple[Var, Var]:
            image = reshaped(product(reshaped(do("take", basis, number, 0), shape)), (size,))
            rest, column = image, unit(-1)
            for _ in range(2):  # what rounding left of it goes the second time
                parts = do("matmul", do("conj", basis), rest)
                rest, column = rest - do("matmul", parts, basis), column + parts
            length = norm(self.r, rest)
            least = do("multiply", norm(self.r, image), 10 * float(finfo(dtype).eps))
            length = self.r.b.cast(do("where", do("less", length, least), 0, length), dtype)
            new = unit(do("add", number, 1))
            basis = basis + do("outer", new, do("divide_no_nan", rest, length))
            return basis, column + length * new

        length = self.r.b.cast(norm(self.r, residual), dtype)
        first = do("divide_no_nan", reshaped(residual, (size,)), length)
        basis, columns = repeat(self.r, do("outer", unit(0), first), orthonormal, length=count)
        weights = do("lstsq", do("transpose", columns), length * unit(0))[0]
        step = reshaped(do("matmul", weights, sliced(basis, 0, 0, count)), shape)
        return {"x": at["x"] + step, "residual": residual - product(step)}


def zeros(x: Var) -> Var:
    """The vector of no length that is like ``x``."""
    return x.builder.full(0, ArrayType(x.dtype, x.shape))


def _dot(r: Recorder, x: Var, y: Var) -> Var:
    found: Var = r.operation("vdot", x, y)
    return found


def norm(r: Recorder, x: Var) -> Var:
    """The length of a vector of any shape."""
    square: Var = r.operation("sum", r.operation("square", r.operation("abs", x)))
    return Sqrt()(square)
