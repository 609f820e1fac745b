"""Program text as functions, which recorded ones may call and which have derivatives."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gradwire import hints
from gradwire.errors import ProgramSyntaxError, UsageError
from gradwire.locations import Node
from gradwire.tracing.bodies import applied
from gradwire.tracing.functions import Function, Runs
from gradwire.tracing.recorded import numbers_of
from gradwire.tracing.terms import VALUE, Term, TextFunction
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.trees import inside, is_list
from gradwire.usage import check_text, public, used

#: The name of the value of the text's last expression.
RESULT = "result_"
#: Methods that change a list.
_CHANGING = frozenset({"append", "assign", "assign_add", "assign_sub"})
_LIBRARIES = frozenset({"np", "numpy", "jnp"})  # np.append gives a new array


@public
def program(text: str, *parameters: str, client: Runs | None = None) -> Function[..., Any]:
    """Program text as a function of its variables, in this order.

    It is one like those of ``gradwire.function``: a part of what is recorded where it is called,
    and differentiated and mapped by ``gradwire.grad`` and all else that takes such functions.

    >>> loss = gradwire.program("mean((tanh(x @ w) - y)**2)", "w", "x", "y")
    >>> value, gradient = gradwire.value_and_grad(loss)(w, x, y)
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    with used("the parameters"):
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in parameters])
    check_text(text)
    try:
        source = TextFunction(parameters, function_lines(text), _outer_names(text, parameters))
    except SyntaxError as error:
        raise _invalid(text, f"not valid syntax: {error.msg}", error.lineno, error.offset) from None
    except UnicodeError:
        printable = text.encode(errors="backslashreplace").decode()
        raise _invalid(
            printable, "the text contains a character that is not allowed in programs"
        ) from None
    except (RecursionError, MemoryError):
        raise _invalid(
            text, "an expression is longer, or nested deeper, than can be read"
        ) from None

    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise UsageError(f"program: {error}", hint=hints.PARAMETERS) from None
        return Tracer(applied(source, [_argument(given[name]) for name in parameters]))

    called.__name__ = called.__qualname__ = "program"
    called.__doc__ = text
    called.__signature__ = signature  # type: ignore[attr-defined]
    return Function(called, client, again=(partial(program, client=client), (text, *parameters)))


def _invalid(
    text: str, problem: str, line: int | None = 1, column: int | None = 1
) -> ProgramSyntaxError:
    """The error of text that is not a program, as the service raises it."""
    node = Node(line=line, column=column)
    return ProgramSyntaxError(problem, status=422, code="syntax_error", node=node, source=text)


def function_lines(text: str) -> tuple[str, ...]:
    """The lines of a function's body that returns the output of this program.

    That is its last expression by itself, or else what its last assignment assigned.
    """
    module = ast.parse(text, "<program>")
    statements = list(_statements(module.body))
    expressions = [node for node in statements if isinstance(node, ast.Expr) and _is_value(node)]
    lines = text.splitlines() or [""]
    for node in reversed(expressions):  # an insertion moves what stands behind it
        line = lines[node.lineno - 1].encode()
        start = node.col_offset
        lines[node.lineno - 1] = (line[:start] + f"{RESULT} = ".encode() + line[start:]).decode()
    returned = RESULT if expressions else _last_assigned(statements)
    if returned is not None and not isinstance(module.body[-1], ast.Return):
        lines.append(f"return {returned}")
    return tuple(lines)


def _outer_names(text: str, parameters: Sequence[str]) -> frozenset[str]:
    """The names in a program that it does not give a value itself: those of functions."""
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset({node.id for node in names} - own - set(parameters))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements in the order of the text, without those of functions."""
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef):
            for block in ("body", "orelse"):
                yield from _statements(getattr(statement, block, []))


def _is_value(node: ast.Expr) -> bool:
    match node.value:
        case ast.Constant(value=str()):
            return False
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return name not in _CHANGING or ast.unparse(of) in _LIBRARIES
    return True


def _last_assigned(statements: list[ast.stmt]) -> str | None:
    for node in reversed(statements):
        match node:
            case ast.Assign(targets=[*_, target]):
                return _named(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                return _named(target)
    return None


def _named(target: ast.expr) -> str:
    while isinstance(target, ast.Subscript | ast.Attribute):  # ``x[0] = y`` assigns x
        target = target.value
    return ast.unparse(target)


def _argument(value: Any) -> Term:
    """A nested value as the text of one argument."""
    return term_of(VALUE, _levels(value))


def _levels(value: Any) -> Any:
    """Nested values as mappings and lists; lists of numbers as arrays, as when they are sent."""
    held = inside(value)
    if isinstance(held, Mapping):
        return {name: _levels(part) for name, part in held.items()}
    if not is_list(held):
        return value
    parts = list(map(_levels, held))
    leaves, _ = numbers_of(value)
    if leaves and all(map(_is_plain_number, leaves)):
        return term_of("np.array", parts)
    return parts


def _is_plain_number(leaf: Any) -> bool:
    return leaf._weak if isinstance(leaf, Tracer) else isinstance(leaf, (int, float, complex))
