"""Elementwise operations as expressions over numbers, the same for every printer.

They are read off what operations say of themselves (``Op.scalar``, ``Op.template``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Copy
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.tape import ArrayType

#: Numbers of values that an expression's operands have, and what applies functions to them.
Value: TypeAlias = int
#: Makes the value of a function of values: ``apply("multiply", x, y)``.
Apply: TypeAlias = Callable[..., Value]
#: Makes the value of a literal, of the dtype of another value.
Literal: TypeAlias = Callable[[float, Value], Value]

#: The dtypes of elements, by NumPy's characters.
FLOATS = "df"
DTYPES = "dfl?"
_LOGICAL = frozenset(("logical_and", "logical_or", "logical_xor", "logical_not"))
_ON_ALL = frozenset(("copy", "equal", "not_equal"))
_ON_NUMBERS = frozenset(("add", "subtract", "multiply", "negative"))
_ON_NUMBERS |= {"less", "less_equal", "greater", "greater_equal"}
#: Operations without an expression of their own.
_PLAIN = {
    "copy": "{0}",
    "xlogy": "0.0 if {0} == 0.0 and {1} == {1} else {0} * math.log({1})",
    "fmax": "{1} if {0} != {0} else {0} if {0} >= {1} or {1} != {1} else {1}",
    "fmin": "{1} if {0} != {0} else {0} if {0} <= {1} or {1} != {1} else {1}",
}
#: Functions that printers know, by the names that expressions have for them.
FUNCTIONS = frozenset(
    "sqrt fabs exp expm1 exp2 log log1p log2 log10 cbrt sin cos tan asin acos atan atan2 sinh cosh "
    "tanh asinh acosh atanh hypot pow erf floor ceil trunc round copysign isnan isinf "
    "isfinite".split()
)
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.USub: "negative",
    ast.Not: "not",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}


@cache
def _read(text: str) -> ast.expr | None:
    """The expression that a text is, none if printers do not know all that is in it."""
    if not text:
        return None
    tree = ast.parse(text.format("x0", "x1", "x2"), mode="eval").body
    return tree if all(map(_known, ast.walk(tree))) else None


def _text(op: Op) -> str:
    return _PLAIN.get(op.name) or op.scalar or op.template


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.operator | ast.unaryop | ast.boolop | ast.cmpop):
        return type(node) in _OPERATORS
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.Attribute):
        return node.attr in FUNCTIONS
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute)
    return isinstance(
        node,
        ast.Name | ast.expr_context | ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.IfExp,
    )


def has_expression(op: Op, kind: Any, types: Sequence[Any]) -> bool:
    """Whether an operation on operands of these types is an expression over numbers."""
    if not isinstance(kind, ArrayType) or kind.dtype.char not in DTYPES:
        return False
    chars: list[str] = [each.dtype.char for each in types]
    if not {*chars}.issubset(DTYPES):
        return False
    if type(op) is AsType:
        return kind.dtype.char in FLOATS or chars[0] in ("?", kind.dtype.char)
    if not (op.elementwise or type(op) is Copy) or _read(_text(op)) is None:
        return False
    if op.name == "where":
        return True
    if op.parameters:
        return False
    allowed = FLOATS
    if op.name in _LOGICAL:
        allowed = "?"
    elif op.name in _ON_ALL:
        allowed = DTYPES
    elif op.name in _ON_NUMBERS:
        allowed = "dfl"
    return not {*chars}.difference(allowed)


def expression(op: Op, operands: Sequence[Value], apply: Apply, literal: Literal) -> Value:
    """The value of an operation that ``has_expression``, but for conversions."""
    tree = _read(_text(op))
    assert tree is not None

    def value(node: ast.expr) -> Value:
        match node:
            case ast.Name():
                return operands[int(node.id[1:])]
            case ast.BinOp() | ast.Compare():
                left, operator, right = _sides(node)
                if isinstance(right, ast.Constant):
                    x = value(left)
                    return apply(_OPERATORS[type(operator)], x, literal(right.value, x))  # type: ignore[arg-type]
                y = value(right)
                x = literal(left.value, y) if isinstance(left, ast.Constant) else value(left)  # type: ignore[arg-type]
                return apply(_OPERATORS[type(operator)], x, y)
            case ast.BoolOp():
                first, *others = map(value, node.values)
                for other in others:
                    first = apply(_OPERATORS[type(node.op)], first, other)
                return first
            case ast.UnaryOp():
                return apply(_OPERATORS[type(node.op)], value(node.operand))
            case ast.IfExp():
                return apply("where", value(node.test), *branches(node))
            case ast.Call():
                assert isinstance(node.func, ast.Attribute)
                return apply(node.func.attr, *map(value, node.args))
        raise AssertionError(node)

    def branches(node: ast.IfExp) -> tuple[Value, Value]:
        given = node.body, node.orelse
        numbers = [g.operand if isinstance(g, ast.UnaryOp) else g for g in given]
        plain = [isinstance(n, ast.Constant) for n in numbers]
        if all(plain):
            like = operands[0]
            return tuple(literal(_number(g), like) for g in given)  # type: ignore[return-value]
        made = [None if is_plain else value(g) for g, is_plain in zip(given, plain, strict=True)]
        like = next(m for m in made if m is not None)
        x, y = (
            literal(_number(g), like) if m is None else m for g, m in zip(given, made, strict=True)
        )
        return x, y

    return value(tree)


def _number(node: ast.expr) -> float:
    return float(ast.literal_eval(node))


def _sides(node: ast.BinOp | ast.Compare) -> tuple[ast.expr, ast.AST, ast.expr]:
    if isinstance(node, ast.BinOp):
        return node.left, node.op, node.right
    return node.left, node.ops[0], node.comparators[0]
