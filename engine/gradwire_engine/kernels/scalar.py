"""Elementwise operations as expressions over numbers, the same for every printer.

They are read off what operations say of themselves (``Op.scalar``, ``Op.template``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from gradwire_engine.kernels.definitions import FUNCTIONS, PLAIN, TAKEN
from gradwire_engine.kernels.form import COMPLEX, DTYPES, FLOATS, HALVES, INTEGERS, REAL
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Copy
from gradwire_engine.ops.conversion import AsType, Rounded
from gradwire_engine.python_operators import OPERATORS
from gradwire_engine.tape import ArrayType

#: Numbers of values that an expression's operands have, and what applies functions to them.
Value: TypeAlias = int
#: Makes the value of a function of values: ``apply("multiply", x, y)``.
Apply: TypeAlias = Callable[..., Value]
#: Makes the value of a literal, of the dtype of another value.
Literal: TypeAlias = Callable[[float, Value], Value]


_PREDICATES = frozenset(
    "equal not_equal less less_equal greater greater_equal isnan isinf isfinite not and or".split()
)


def char_of(function: str, chars: Sequence[str]) -> str:
    """The dtype of a function of values of these dtypes."""
    if function in _PREDICATES:
        return "?"
    if function == "complex":
        return chars[0].upper()
    if function in ("real", "imag", "fabs") and chars[0] in COMPLEX:
        return chars[0].lower()
    return chars[-1]


@cache
def _read(text: str) -> ast.expr | None:
    """The expression that a text is, none if printers do not know all that is in it."""
    if not text:
        return None
    tree = ast.parse(text.format("x0", "x1", "x2"), mode="eval").body
    return tree if all(map(_known, ast.walk(tree))) else None


def _text(op: Op, char: str) -> str:
    """The expression of an operation on operands of this dtype, the last one's."""
    if char in INTEGERS + "?":
        return op.template or op.scalar or PLAIN.get(op.name, "")
    return PLAIN.get(op.name) or op.scalar or op.template


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.operator | ast.unaryop | ast.cmpop):
        return type(node) in OPERATORS and type(node) is not ast.Pow
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
        ast.Name | ast.expr_context | ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.boolop | ast.IfExp,
    )


def is_conversion(source: str, char: str) -> bool:
    """True if kernels can convert elements between two dtypes.

    float64 is rounded to float16 once, which processors do by way of float32, and twice.
    """
    if char == "e" and source == "d":
        return False
    if char in HALVES or source in HALVES:
        return {source, char} <= {*REAL, *HALVES}
    return source in DTYPES and char in DTYPES


def has_expression(op: Op, kind: Any, types: Sequence[Any]) -> bool:
    """True if an operation on operands of these types is an expression over numbers."""
    if isinstance(op, AsType):
        return is_conversion(types[0].dtype.char, kind.dtype.char)
    if isinstance(op, Rounded):
        return True
    if not isinstance(kind, ArrayType) or kind.dtype.char not in DTYPES:
        return False
    chars: list[str] = [each.dtype.char for each in types]
    if not {*chars}.issubset(DTYPES):
        return False
    if not (op.elementwise or type(op) is Copy) or _read(_text(op, chars[-1])) is None:
        return False
    if op.name == "where":
        return True
    if op.parameters:
        return False
    return not {*chars}.difference(TAKEN.get(op.name, FLOATS))


def expression(
    op: Op, char: str, operands: Sequence[Value], apply: Apply, literal: Literal
) -> Value:
    """The value of an operation that ``has_expression``, but for conversions."""
    tree = _read(_text(op, char))
    assert tree is not None

    def value(node: ast.expr) -> Value:
        match node:
            case ast.Name():
                return operands[int(node.id[1:])]
            case ast.BinOp() | ast.Compare():
                left, operator, right = _sides(node)
                return apply(OPERATORS[type(operator)], *together(left, right))
            case ast.BoolOp():
                first, *others = map(value, node.values)
                for other in others:
                    first = apply("and" if isinstance(node.op, ast.And) else "or", first, other)
                return first
            case ast.UnaryOp():
                return apply(OPERATORS[type(node.op)], value(node.operand))
            case ast.IfExp():
                return apply("where", value(node.test), *together(node.body, node.orelse))
            case ast.Call():
                assert isinstance(node.func, ast.Attribute)
                return apply(node.func.attr, *together(*node.args))
        raise AssertionError(node)

    def together(*nodes: ast.expr) -> list[Value]:
        """Values, of which numbers have the dtype of another one, or of the first operand."""
        made = [None if _is_number(node) else value(node) for node in nodes]
        like = next((each for each in made if each is not None), operands[0])
        return [
            literal(float(ast.literal_eval(node)), like) if each is None else each
            for node, each in zip(nodes, made, strict=True)
        ]

    return value(tree)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _sides(node: ast.BinOp | ast.Compare) -> tuple[ast.expr, ast.AST, ast.expr]:
    if isinstance(node, ast.BinOp):
        return node.left, node.op, node.right
    return node.left, node.ops[0], node.comparators[0]
