"""Programs that are written in the sources: any text that reads as one."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from gradwire_engine.errors import EngineError
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.program import Program


def texts_of(files: Iterable[Path]) -> set[str]:
    """The texts among the constants of Python's files, and in the tables of cases beside them."""
    return {text for file in files for text in (*_texts(_code(file)), *_texts(_tables(file)))}


def programs_of(texts: Iterable[str]) -> Mapping[str, Program]:
    """Those of the texts that are programs of more than a word."""
    found = {}
    for text in texts:
        if re.fullmatch(r"[\w.]*", text) is None:
            try:
                found[text] = parse_text(text)
            except EngineError:
                continue
    return found


def _code(file: Path) -> CodeType:
    return compile(file.read_text(encoding="utf-8"), file, "exec")


def _tables(file: Path) -> list[Any]:
    path = file.with_suffix(".toml")
    return [*tomllib.loads(path.read_text(encoding="utf-8")).values()] if path.exists() else []


def _texts(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, CodeType):
        yield from _texts(constant.co_consts)
    elif isinstance(constant, tuple | frozenset | list):
        for part in constant:
            yield from _texts(part)
