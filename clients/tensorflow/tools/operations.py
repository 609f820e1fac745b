"""Generates gradwire/tf/operations/: functions of ``gradwire.tf`` that only forward arguments.

    python clients/tensorflow/tools/operations.py           writes the modules
    python clients/tensorflow/tools/operations.py --check   only checks that they are up to date

The table next to this file lists the functions and their parameters; the engine's catalogue has
their descriptions. Editors see plain functions with types.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gradwire_engine.dialects.tensorflow import TF

DISTRIBUTION = Path(__file__).parents[1]
ROOT = Path(__file__).parents[3]
TABLE = Path(__file__).with_suffix(".txt")
FOLDER = DISTRIBUTION / "gradwire/tf/operations"

_PACKAGES = {
    "math": "``tf.math``: elementwise functions, reductions, running totals.",
    "special": "``tf.math.special``: functions of mathematical physics.",
    "bitwise": "``tf.bitwise``: the bits of integers.",
    "nn": "``tf.nn``: activations, losses, convolutions, poolings.",
    "linalg": "``tf.linalg``: matrices.",
    "signal": "``tf.signal``: transforms and frames.",
    "image": "``tf.image``: pictures, their channels last.",
    "arrays": "Functions of ``tf`` that move elements about.",
}
_ELEMENTWISE = {"unary", "bool_unary", "real_unary", "binary", "compare", "ternary"}
#: The result type of functions that do not return a single tensor.
_LISTS = re.compile(r"(list|spectrum|complex) \d")


@dataclass(frozen=True)
class Parameter:
    """A parameter in the form of the table."""

    name: str
    kind: str | None  # the type, if it is not a tensor
    default: str | None
    integer: bool = False  # a tensor of indices, which has its own dtype

    @property
    def tensor(self) -> bool:
        """True if it is a tensor, which is sent and perhaps differentiated."""
        return self.kind in (None, "Optional")

    def written(self) -> str:
        """The parameter in a function definition."""
        kind = {None: "TensorLike", "Optional": "TensorLike | None", "Unused": "Any"}.get(
            self.kind, self.kind
        )
        default = self.default if self.default is not None else None
        return f"{self.name}: {kind}" + (f" = {default}" if default is not None else "")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    module: str
    names: tuple[str, ...]
    op: str
    kinds: str
    result: str
    parameters: tuple[Parameter, ...]
    #: The position of ``name`` among the parameters; -1 is the last.
    name_at: int
    #: Whether the service refuses some values, so that the call is sent immediately.
    refuses: bool
    #: Whether TensorFlow knows its derivative.
    registered: bool
    #: The meaning of ``None`` for a parameter.
    absent: str | None

    @property
    def called(self) -> str:
        """The name within its module."""
        return self.names[0].rpartition(".")[2]

    @property
    def function(self) -> str:
        """The service's name, in ``tf.formulas`` if that has its derivatives."""
        formula = f"tf.formulas.{self.called}"
        return formula if formula in TF.functions else f"tf.{self.names[0]}"


def rows() -> Iterator[Row]:
    """The lines of the table."""
    module = ""
    for line in TABLE.read_text().splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            module = match[1]
        elif line and not line.startswith("#"):
            names, op, kinds, result, parameters = (part.strip() for part in line.split("|", 4))
            written, _, absent = parameters.partition("=>")
            parsed = list(_parameters(written))
            at = next((i for i, p in enumerate(parsed) if p.name == "name"), -1)
            yield Row(
                module,
                tuple(name.rstrip("!~") for name in names.split()),
                op,
                kinds,
                result,
                tuple(p for p in parsed if p.name != "name"),
                at,
                "!" in names,
                "~" not in names,
                absent.strip() or None,
            )


def _parameters(text: str) -> Iterator[Parameter]:
    integers = {match[1] for match in re.finditer(r"(\w+)!", text)}
    signature = ast.parse(f"def f({text.replace('!', '')}): ...").body[0]
    assert isinstance(signature, ast.FunctionDef)
    arguments = signature.args.args
    defaults = [None] * (len(arguments) - len(signature.args.defaults)) + signature.args.defaults
    for argument, default in zip(arguments, defaults, strict=True):
        kind = None if argument.annotation is None else ast.unparse(argument.annotation)
        written = None if default is None else ast.unparse(default)
        yield Parameter(argument.arg, kind, written, argument.arg in integers)


def module_text(module: str) -> str:
    """The source of a module."""
    own = [row for row in rows() if row.module == module]
    body = "\n\n".join(_function(row) for row in own)
    names = sorted(row.called for row in own)
    for row in own:
        for alias in sorted({name.rpartition(".")[2] for name in row.names} - {row.called}):
            body += f"\n\n{alias} = {row.called}"
            names.append(alias)
    used = sorted(word for word in ("Any", "NamedTuple") if re.search(rf"[:(] ?{word}\b", body))
    types = sorted(
        word
        for word in ("Axis", "Floats", "Ints", "Order", "Padding", "Shape", "TensorLike")
        if re.search(rf"\b{word}\b", body)
    )
    lines = [
        f'"""{_PACKAGES[module]}',
        "",
        "Written by clients/tensorflow/tools/operations.py.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        f"from typing import {', '.join(used)}" if used else "",
        "",
        "from gradwire.tf.operations import kinds, rules"
        if "kinds." in body
        else "from gradwire.tf.operations import rules",
        f"from gradwire.tf.operations.types import {', '.join(types)}",
        "from gradwire.tf.tensors import Tensor",
        "from gradwire.tf.unregistered import unregistered" if "unregistered(" in body else "",
        "",
        f"__all__ = {sorted(names)!r}",
        "",
        body,
    ]
    return "\n".join(lines)


def _function(row: Row) -> str:
    name = Parameter("name", "str | None", "None")
    at = len(row.parameters) if row.name_at < 0 else row.name_at
    given = [*row.parameters[:at], name, *row.parameters[at:]]
    signature = ", ".join(parameter.written() for parameter in given)
    answer = "list[Tensor]" if _LISTS.match(row.result) else "Tensor"
    head = ""
    if row.result.startswith("pair"):
        answer, fields = re.fullmatch(r"pair (\w+)\((.*)\)", row.result).groups()  # type: ignore[union-attr]
        members = "".join(f"    {field}: Tensor\n" for field in fields.split())
        head = (
            f'class {answer}(NamedTuple):\n    """What ``{row.called}`` gives."""\n\n{members}\n\n'
        )
    doc = _doc(row)
    body = _body(row, answer)
    if not row.registered:
        tensors = ", ".join(p.name for p in row.parameters if p.tensor)
        computed = body.removeprefix("return ")
        body = f'return unregistered("{row.op}", [{tensors}], lambda: {computed})'
    return f"{head}def {row.called}({signature}) -> {answer}:\n{doc}    {body}\n"


def _body(row: Row, answer: str) -> str:
    function = row.function
    kinds = "None" if row.kinds == "any" else f"kinds.{row.kinds.upper()}"
    rule, _, argument = row.result.partition(" ")
    if rule in _ELEMENTWISE:
        operands = ", ".join(p.name for p in row.parameters)
        return f'return rules.{rule}("{function}", "{row.op}", {kinds}, {operands})'
    tensors = ", ".join(_entry(row, p) for p in row.parameters if p.tensor)
    static = ", ".join(
        f'"{p.name}": {_static(row, p)}'
        for p in row.parameters
        if not p.tensor and p.kind != "Unused"
    )
    call = f'"{function}", "{row.op}", {kinds}, {{{tensors}}}, {{{static}}}'
    places = [p.name for p in row.parameters if p.integer]
    if places:
        call += f", places={tuple(places)!r}"
    if row.refuses:
        call += ", refuses=True"
    if rule in ("list", "spectrum", "batch") or (rule == "complex" and argument):
        name = "complex_list" if rule == "complex" else rule
        return f"return rules.{name}({argument}, {call})"
    if rule == "pair":
        return f"return {answer}(*rules.list(2, {call}))"
    if rule in ("bool", "int32", "float32"):
        return f'return rules.typed("{rule}", {call})'
    return f"return rules.{rule}({call})"


def _entry(row: Row, parameter: Parameter) -> str:
    return f'"{parameter.name}": {parameter.name}'


def _static(row: Row, parameter: Parameter) -> str:
    if row.absent is None:
        return parameter.name
    return f"{row.absent} if {parameter.name} is None else {parameter.name}"


def _doc(row: Row) -> str:
    found = TF.functions.get(f"tf.{row.names[0]}")
    if found is None:
        raise LookupError(f"{row.names[0]} is not in the engine's dialect")
    first = " ".join(found.doc.strip().partition("\n\n")[0].split())
    raw = "r" if "\\" in first else ""
    lines = [f'{raw}"""{first}"""']
    if len(lines[0]) > 96:
        lines = [*textwrap.wrap(f'{raw}"""{first}', 92), '"""']
    return "".join(f"    {line}\n" for line in lines)


def written() -> dict[Path, str]:
    """All modules, formatted."""
    modules = {row.module for row in rows()}
    return {FOLDER / f"{name}.py": _formatted(module_text(name)) for name in sorted(modules)}


def _formatted(text: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format", "--quiet"]):
        text = subprocess.run(  # noqa: S603 - our own interpreter, our own text
            [*ruff, *command, "--config", str(ROOT / "pyproject.toml"), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


def main() -> int:
    """Write the modules, or compare them with ``--check``."""
    stale = [path for path, text in written().items() if not _is(path, text)]
    if "--check" in sys.argv:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(ROOT)} is not what the table says\n")
        return int(bool(stale))
    for path, text in written().items():
        path.write_text(text)
    return 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
