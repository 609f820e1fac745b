"""Variables: those of files, and ``NAME=VALUE``, where the last that is given counts.

A value is a number, JSON, or ``@FILE``; a name may be a path, ``layer.w`` or ``layers[0].w``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from gradwire.trees import Names, is_list
from gradwire.values import encode_variables

from gradwire_command.problems import UnreadableValues, of_values
from gradwire_command.reading.files import excerpt, read

_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+|\[\d+\])*")


def variables_of(files: Sequence[str], words: Sequence[str], field: str = "variables") -> Any:
    """The variables of files, then of assignments; checked, so that errors name them."""
    variables: dict[str, Any] = {}
    for file in files:
        variables |= read(file).by_name()
    for at, word in enumerate(words):
        name, value = _assignment(word, words[at + 1 :])
        _assign(variables, name, value)
    with of_values():
        encode_variables(variables, field)
    return variables


def value_of(text: str, word: str | None = None) -> Any:
    """The value that a text is: a number, JSON, or what ``@FILE`` holds."""
    if text.startswith("@"):
        return read(text[1:]).whole()
    for number in (float, complex):
        try:
            return number(text)
        except ValueError:
            pass
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"{text!r} is no number, no JSON and no @FILE"
        caret = _caret(text, word or text, error)
        raise UnreadableValues(problem, hint=_hint(text), excerpt=caret) from error


def options_of(words: Sequence[str]) -> dict[str, Any]:
    """Options ``NAME=VALUE``: JSON, where a number without a point is an integer, or a word."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            raise click.UsageError(f"expected NAME=VALUE, got {word!r}")
        try:
            found[name.strip()] = json.loads(text)
        except json.JSONDecodeError as error:
            if not text.isidentifier():
                problem = f"{text!r} is neither a word nor JSON"
                raise UnreadableValues(problem, excerpt=_caret(text, word, error)) from error
            found[name.strip()] = text
    return found


def names_of(text: str | None) -> Names:
    """Names as ``w,b``, or nested as JSON: ``{"weights": ["w1", "w2"], "bias": "b"}``."""
    if text is None:
        return None
    if text.lstrip().startswith(("{", "[", '"')):
        try:
            names: Names = json.loads(text)
        except json.JSONDecodeError as error:
            raise click.UsageError(f"{text} is neither names nor JSON: {error}") from error
        return names
    listed = [name.strip() for name in text.split(",")]
    return listed[0] if len(listed) == 1 else listed


def _assignment(word: str, following: Sequence[str]) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals or not _NAME.fullmatch(name.strip()):
        hint = "a value is written x=[1,2,3], and one with spaces 'x=[1, 2, 3]'"
        if "@" in word[:1]:
            hint = f"name it, x={word}, or take its columns or arrays by --values {word[1:]}"
        raise click.UsageError(f"expected NAME=VALUE, got {word!r}\n  hint: {hint}")
    torn = text[:1] in "[{" and following and "=" not in following[0]
    try:
        return name.strip(), value_of(text, word)
    except UnreadableValues as problem:
        if torn and problem.excerpt:
            problem.hint = f"quote a value that has spaces: '{word} {' '.join(following)}'"
        raise


def _assign(variables: dict[str, Any], name: str, value: Any) -> None:
    """Set the value at a path; levels on its way that do not exist are made."""
    *outer, last = re.split(r"[.\[]", name.replace("]", ""))
    level: Any = variables
    for key in outer:
        if isinstance(level, list) and key.isdecimal() and int(key) < len(level):
            level[int(key)] = level = _copied(level[int(key)], name)
        elif isinstance(level, dict):
            level[key] = level = _copied(level.get(key, {}), name)
        else:
            raise UnreadableValues(f"{name} cannot be set: there is nothing at {key}")
    if isinstance(level, dict):
        level[last] = value
    elif last.isdecimal() and int(last) < len(level):
        level[int(last)] = value
    else:
        raise UnreadableValues(f"{name} cannot be set: there is no element {last}")


def _copied(level: Any, name: str) -> Any:
    if isinstance(level, Mapping):
        return dict(level)
    if is_list(level):
        return list(level)
    raise UnreadableValues(f"{name} cannot be set: what is around it is an array, not a level")


def _caret(text: str, word: str, error: json.JSONDecodeError) -> list[str]:
    if text[:1] not in "[{" or not text:
        return []
    if "\n" in word or len(word) > 100:
        return excerpt(error)
    return [f"  {word}", " " * (2 + len(word) - len(text) + error.pos) + f"^ {error.msg}"]


def _hint(text: str) -> str:
    if text and Path(text.partition(":")[0]).is_file():
        return f"@{text} is what the file holds"
    if not text:
        return "a value is a number, JSON such as [1, 2], or @FILE"
    return "text is quoted twice, x='\"text\"'" if text.isidentifier() else ""
