"""Regular expressions as TensorFlow reads them: RE2's, of characters, classes those of ASCII."""

from __future__ import annotations

import re
from collections.abc import Callable

from gradwire.tf.errors import invalid

#: The members of classes that Python has not, or with others.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_ESCAPED = {
    "s": (r"[\t\n\f\r ]", r"\t\n\f\r "),
    "S": (r"[^\t\n\f\r ]", r"\x00-\x08\x0b\x0e-\x1f!-\U0010ffff"),
    "z": (r"\Z", None),
}
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\[:(?P<named>\w+):\]|\\(?P<escaped>x\{\w+\}|.)"
    r"|(?P<group>\(\?)(?P<kind>P<\w|:|[ims]+[:)])?|(?P<twice>[*+?}]\+)|\{,|.",
    re.DOTALL,
)


def _compiled(pattern: bytes) -> re.Pattern[str]:
    """Python's expression that finds what RE2's does.

    Raises: ``InvalidArgumentError`` for what either has not.
    """
    text, parts, inside = pattern.decode("utf-8", "surrogateescape"), list[str](), 0
    lines = re.search(r"\(\?[is]*m", text)
    if not text.isascii() and re.search(r"\(\?[ms]*i", text):
        raise _not(pattern, "no case of characters beyond ASCII")
    for token in _TOKEN.finditer(text):
        part, escaped = token[0], token["escaped"]
        if token["quoted"] is not None:
            part = re.escape(token["quoted"])
        elif escaped and escaped.startswith("x{"):
            part = re.escape(chr(int(escaped[2:-1], 16)))
        elif escaped in _ESCAPED:
            part = _ESCAPED[escaped][inside > 0] or "("
        elif escaped and (escaped in "123456789ZpPCXRKhHNkGuU"):
            raise _not(pattern, f"no escape \\{escaped}")
        elif inside and token["named"]:
            part = _CLASSES.get(token["named"], "\\")
        elif not inside and (token["twice"] or (token["group"] and not token["kind"])):
            raise _not(pattern, f"no {part}")
        elif not inside and part == "$" and not lines:
            part = r"\Z"
        elif part == "{,":
            part = r"\{,"
        inside = _inside(text, token, inside)
        parts.append(part)
    try:
        return re.compile("".join(parts), re.ASCII)
    except re.error as error:
        raise _not(pattern, str(error)) from None


def _inside(text: str, token: re.Match[str], inside: int) -> int:
    """Where the class began that the next token is in, or 0; a bracket that is first is no end."""
    if inside:
        return 0 if token[0] == "]" and token.start() > inside else inside
    if token[0] != "[":
        return 0
    return token.end() + (text[token.end() : token.end() + 1] == "^")


def _not(pattern: bytes, why: str) -> Exception:
    return invalid(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {why}")


def full_match(pattern: bytes) -> Callable[[bytes], bool]:
    """Tells whether a pattern describes the whole of a text."""
    expression = _compiled(pattern)
    return lambda text: expression.fullmatch(_decoded(text)) is not None


def replacement(pattern: bytes, rewrite: bytes, everywhere: bool) -> Callable[[bytes], bytes]:
    r"""Replaces what a pattern finds: in ``rewrite``, ``\1`` is its first group and ``\0`` all."""
    expression = _compiled(pattern)
    by = re.findall(r"\\(.)|([^\\]+|\\)", _decoded(rewrite), re.DOTALL)
    for escaped, plain in by:
        known = plain != "\\" and (
            escaped in ("", "\\") or (escaped.isdecimal() and int(escaped) <= expression.groups)
        )
        if not known:
            raise invalid(f"Invalid rewrite: {rewrite!r} for {pattern!r}")

    def written(found: re.Match[str]) -> str:
        return "".join(
            plain or (found[int(escaped)] or "" if escaped.isdecimal() else escaped)
            for escaped, plain in by
        )

    def replaced(given: bytes) -> bytes:
        text, parts, start, last = _decoded(given), list[str](), 0, -1
        while found := expression.search(text, start):
            parts.append(text[start : found.start()])
            if found.end() == last:  # nothing, where the last match ended
                parts.append(text[last : last + 1])
                start = last + 1
                if start > len(text):
                    break
                continue
            parts.append(written(found))
            start = last = found.end()
            if not everywhere:
                break
        return "".join([*parts, text[start:]]).encode("utf-8", "surrogateescape")

    return replaced


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
