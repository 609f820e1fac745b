"""Complex numbers as two real ones each: printers know real numbers only.

A value of a complex dtype becomes two values, and an element of a complex buffer the two elements
that it is in memory. Sources: DLMF 4.2.2, 4.2.20, 4.8; Smith, Algorithm 116: Complex division
(1962), as NumPy divides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gradwire_engine.kernels.form import (
    COMPLEX,
    Affine,
    Apply,
    Break,
    Count,
    For,
    If,
    Kernel,
    Literal,
    Load,
    Nest,
    Node,
    Output,
    Reduce,
    Step,
    Value,
    Within,
    real_char,
)
from gradwire_engine.kernels.maps import times
from gradwire_engine.kernels.scalar import char_of

#: The real part, and of a complex value the imaginary one.
Parts: TypeAlias = tuple[Value, ...]
#: Exponents and sizes from which on exp and log would overflow where their results do not.
_LARGE_EXPONENT, _SHIFT = 709.0, 64.0
_LARGE = {"d": 1e307, "f": 1e37}


def by_parts(kernel: Kernel) -> Kernel:
    """The same kernel without complex values."""
    return kernel._replace(nests=_expanded(kernel.nests))


def _expanded(steps: Sequence[Step]) -> tuple[Step, ...]:
    made: list[Step] = []
    for step in steps:
        match step:
            case Nest():
                is_complex = any(node.char in COMPLEX for node in step.nodes)
                made.append(_Expansion(step).nest() if is_complex else step)
            case For():
                made.append(step._replace(nests=_expanded(step.nests)))
            case If(buffer, chosen, otherwise):
                made.append(If(buffer, _expanded(chosen), _expanded(otherwise)))
            case Break():
                made.append(step)
    return tuple(made)


def _part_of(at: Affine, part: int) -> Affine:
    return times(at, 2, part)


class _Expansion:
    """The nodes of a nest, of which complex ones become two."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._nodes: list[Node] = []
        self._known: dict[tuple[type[Node], Node], Value] = {}
        self._parts: list[Parts] = []

    def nest(self) -> Nest:
        """The nest of real values."""
        for node in self._nest.nodes:
            self._parts.append(self._expanded(node))
        outputs = [each for output in self._nest.outputs for each in self._rooted(output)]
        carries = [c._replace(value=self._real(c.value)) for c in self._nest.carries]
        return self._nest._replace(
            nodes=tuple(self._nodes), outputs=tuple(outputs), carries=tuple(carries)
        )

    def _real(self, value: Value) -> Value:
        (real,) = self._parts[value]
        return real

    def _index(self, at: Affine) -> Affine:
        """The same index, of which terms are real values."""
        return at._replace(terms=tuple([(self._real(value), f) for value, f in at.terms]))

    def _expanded(self, node: Node) -> Parts:
        char = real_char(node.char)
        match node:
            case Load(_, at, guard, _):
                at = self._index(at)
                guard = None if guard is None else self._real(guard)
                if node.char not in COMPLEX:
                    return (self._node(node._replace(at=at, guard=guard)),)
                made = [Load(node.buffer, _part_of(at, k), guard, char) for k in (0, 1)]
                return tuple(map(self._node, made))
            case Within() | Count():
                return (self._node(node._replace(at=self._index(node.at))),)
            case Literal() if node.char in COMPLEX:
                return self._node(Literal(node.value, char)), self._node(Literal(0.0, char))
            case Apply("convert", (value,), _):
                return self._converted(self._parts[value], node.char)
            case Apply(function, args, _):
                operands = [self._parts[arg] for arg in args]
                if function in _RULES and (node.char in COMPLEX or len(operands[0]) == 2):
                    return _RULES[function](self, *operands)
                return (self.apply(function, *[value for (value,) in operands]),)
        return (self._node(node),)

    def _converted(self, parts: Parts, char: str) -> Parts:
        """Real numbers have the imaginary part 0; real dtypes take the real part."""
        if char == "?":
            one, *others = [self.apply("not_equal", x, self.number(0.0, x)) for x in parts]
            return (self.apply("or", one, *others) if others else one,)
        made = [self._to(x, real_char(char)) for x in parts]
        if char not in COMPLEX:
            return (made[0],)
        return made[0], made[1] if len(made) == 2 else self.number(0.0, made[0])

    def _to(self, value: Value, char: str) -> Value:
        if self._nodes[value].char == char:
            return value
        return self._node(Apply("convert", (value,), char))

    def _rooted(self, output: Output) -> list[Output]:
        parts = self._parts[output.value]
        output = output._replace(at=self._index(output.at))
        if len(parts) == 1:
            return [output._replace(value=parts[0])]
        if isinstance(output, Reduce) and output.kind == "finite":
            return [output._replace(value=part) for part in parts]
        return [
            output._replace(value=part, at=_part_of(output.at, k)) for k, part in enumerate(parts)
        ]

    def _node(self, node: Node) -> Value:
        key = type(node), node
        if key not in self._known:
            self._known[key] = len(self._nodes)
            self._nodes.append(node)
        return self._known[key]

    def apply(self, function: str, *args: Value) -> Value:
        """A function of real values."""
        char = char_of(function, [self._nodes[arg].char for arg in args])
        return self._node(Apply(function, args, char))

    def number(self, value: float, like: Value) -> Value:
        """A number of the dtype of another value."""
        return self._node(Literal(value, self._nodes[like].char))

    def char(self, value: Value) -> str:
        """The dtype of a value."""
        return self._nodes[value].char


_Rule: TypeAlias = Callable[..., Parts]


def _each(function: str) -> _Rule:
    def rule(e: _Expansion, *operands: Parts) -> Parts:
        return tuple([e.apply(function, *args) for args in zip(*operands, strict=True)])

    return rule


def _joined(function: str, by: str) -> _Rule:
    """A predicate of both parts."""

    def rule(e: _Expansion, *operands: Parts) -> Parts:
        return (e.apply(by, *[e.apply(function, *args) for args in zip(*operands, strict=True)]),)

    return rule


def _where(e: _Expansion, condition: Parts, x: Parts, y: Parts) -> Parts:
    return tuple([e.apply("where", *condition, *each) for each in zip(x, y, strict=True)])


def _multiply(e: _Expansion, x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    product = "multiply"
    real = e.apply("subtract", e.apply(product, a, c), e.apply(product, b, d))
    return real, e.apply("add", e.apply(product, a, d), e.apply(product, b, c))


def _divide(e: _Expansion, x: Parts, y: Parts) -> Parts:
    """By the larger part of the divisor; by 0 each part is divided by it."""
    (a, b), (c, d) = x, y
    big = e.apply("greater_equal", e.apply("fabs", c), e.apply("fabs", d))
    p, q = e.apply("where", big, c, d), e.apply("where", big, d, c)
    ratio = e.apply("divide", q, p)
    scale = e.apply("divide", e.number(1.0, p), e.apply("add", p, e.apply("multiply", q, ratio)))
    first, second = e.apply("multiply", a, ratio), e.apply("multiply", b, ratio)
    real = e.apply("where", big, e.apply("add", a, second), e.apply("add", first, b))
    imag = e.apply("where", big, e.apply("subtract", b, first), e.apply("subtract", second, a))
    nothing = e.apply("equal", p, e.number(0.0, p))
    size = e.apply("fabs", p)
    return (
        e.apply("where", nothing, e.apply("divide", a, size), e.apply("multiply", real, scale)),
        e.apply("where", nothing, e.apply("divide", b, size), e.apply("multiply", imag, scale)),
    )


def _exp(e: _Expansion, x: Parts) -> Parts:
    """``exp a (cos b + i sin b)``; where ``exp a`` overflows in two factors."""
    a, b = x
    limit = _LARGE_EXPONENT if e.char(a) == "d" else 88.0
    large = e.apply("greater", a, e.number(limit, a))
    less = e.apply("subtract", a, e.number(_SHIFT, a))
    size = e.apply("exp", e.apply("where", large, less, a))
    more = e.apply("where", large, e.number(math.exp(_SHIFT), a), e.number(1.0, a))
    turned = [e.apply("multiply", size, e.apply(f, b)) for f in ("cos", "sin")]
    real, imag = [e.apply("multiply", part, more) for part in turned]
    # of a real number the exponential is real, and 0 from the far left whatever the angle
    imag = e.apply("where", e.apply("equal", b, e.number(0.0, b)), b, imag)
    vanishes = e.apply("equal", a, e.number(-math.inf, a))
    zero = e.number(0.0, a)
    return e.apply("where", vanishes, zero, real), e.apply("where", vanishes, zero, imag)


def _log(e: _Expansion, x: Parts) -> Parts:
    """``ln |x| + i angle x``; near size 1 by ``ln(1 + (|x|² - 1)) / 2`` with twice the digits."""
    a, b = e.apply("fabs", x[0]), e.apply("fabs", x[1])
    over = e.apply("greater", a, b)
    m, n = e.apply("where", over, a, b), e.apply("where", over, b, a)
    huge = e.apply("greater", m, e.number(_LARGE[e.char(m)], m))
    scale = e.apply("where", huge, e.number(0.25, m), e.number(1.0, m))
    size = e.apply("hypot", e.apply("multiply", m, scale), e.apply("multiply", n, scale))
    back = e.apply("where", huge, e.number(math.log(4), m), e.number(0.0, m))
    plain = e.apply("add", e.apply("log", size), back)
    squares = [e.apply("multiply", each, each) for each in (m, n)]
    lost = [
        e.apply("fma", each, each, e.apply("negative", square))
        for each, square in zip((m, n), squares, strict=True)
    ]
    over_one = e.apply("subtract", squares[0], e.number(1.0, m))
    total = e.apply("add", over_one, squares[1])
    other = e.apply("subtract", total, over_one)
    rest = e.apply("subtract", over_one, e.apply("subtract", total, other))
    rest = e.apply("add", rest, e.apply("subtract", squares[1], other))
    rest = e.apply("add", e.apply("add", rest, lost[0]), lost[1])
    near = e.apply("log1p", e.apply("add", total, rest))
    near = e.apply("multiply", near, e.number(0.5, m))
    close = e.apply("less", e.apply("fabs", total), e.number(0.5, m))
    return e.apply("where", close, near, plain), e.apply("atan2", x[1], x[0])


_RULES: Mapping[str, _Rule] = {
    "add": _each("add"),
    "subtract": _each("subtract"),
    "negative": _each("negative"),
    "multiply": _multiply,
    "divide": _divide,
    "where": _where,
    "exp": _exp,
    "log": _log,
    "equal": _joined("equal", "and"),
    "not_equal": _joined("not_equal", "or"),
    "isnan": _joined("isnan", "or"),
    "isinf": _joined("isinf", "or"),
    "isfinite": _joined("isfinite", "and"),
    "fabs": lambda e, x: (e.apply("hypot", *x),),
    "real": lambda e, x: (x[0],),
    "imag": lambda e, x: (x[1],),
    "conjugate": lambda e, x: (x[0], e.apply("negative", x[1])),
    "complex": lambda e, real, imag: (*real, *imag),
}
