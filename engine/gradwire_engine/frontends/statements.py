"""A text's statements by Python's parser, a few at a time, since it is not to be stopped.

It takes a microsecond for each name, number and sign, during which nothing else runs, and makes
objects of hundreds of bytes of each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from unicodedata import is_normalized

from gradwire_engine import hints
from gradwire_engine.answer import Poll
from gradwire_engine.errors import OverBudget, Place, ProgramSyntaxError
from gradwire_engine.program import refolded

#: Texts up to so many characters are parsed at once, longer ones in pieces of little more.
_PIECE = 16_384
#: Most names, numbers and signs of what must be parsed at once: 65 ms.
_MOST_WORDS = 65_536
_WORD = re.compile(r"[\w.]+|[^\w\s.]")
#: Tokens that decide where statements end: quotes, brackets, and lines that go on or begin afresh.
_SIGN = re.compile(r"""\"\"\"|'''|["'#()\[\]{}]|\\\n|\n(?=[^\s#)\]}\\])""")
_ENDS = {
    '"': re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"', re.DOTALL),
    "'": re.compile(r"[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'", re.DOTALL),
    '"""': re.compile(r'[^"\\]*+(?:(?:\\.|""?(?!"))[^"\\]*+)*+"""', re.DOTALL),
    "'''": re.compile(r"[^'\\]*+(?:(?:\\.|''?(?!'))[^'\\]*+)*+'''", re.DOTALL),
    "#": re.compile(r"[^\n]*"),
}
#: Names and, since what they hold is none, quotes and comments; what is no name is no identifier.
_NAME = re.compile(r"""\"\"\"|\'\'\'|["'#]|(?:[A-Za-z_]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*""")
_DEPTH = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}
#: Words that begin a line of the statement above it.
_CONTINUING = re.compile(r"(?:else|elif|except|finally)\b")
_TOO_LONG = "an expression is longer, or nested deeper, than can be read"
_NAME_PARTS = "give names to the parts"


class Statements(NamedTuple):
    """Some of the statements, whose lines are counted from the one after so many ``above``."""

    above: int
    body: list[ast.stmt]


def statements(text: str, poll: Poll) -> Iterator[Statements]:
    """All statements in order; ``poll`` is called before each of their pieces is read.

    Lines end in a line feed.

    Raises: ``ProgramSyntaxError``, with line and column; ``OverBudget``, where a statement is too
    long to be parsed at once.
    """
    above = 0
    for piece in pieces(text, poll):
        if len(piece) > _MOST_WORDS and next(
            islice(_WORD.finditer(piece), _MOST_WORDS, None), None
        ):
            at = Place(line=above + 1, column=1, pointer="/program")
            hint = "give names to its parts, or send its numbers as a variable"
            raise OverBudget(f"a statement of more than {_MOST_WORDS} words", at=at, hint=hint)
        poll()
        written = piece.rstrip() if len(piece) > _PIECE else piece  # of megabytes of empty lines
        yield Statements(above, _parsed(written, above))
        above += piece.count("\n")


def check_names(text: str, poll: Poll) -> None:
    """Refuse names that Python would fold: one name would be two.

    Raises: ``ProgramSyntaxError``, with line and column.
    """
    if text.isascii() or is_normalized("NFKC", text):
        return
    at = seen = 0
    while (found := _NAME.search(text, at)) is not None:
        word, at = found.group(), found.end()
        seen += 1
        if not seen & 1023:
            poll()
        if word in _ENDS:
            ended = _ENDS[word].match(text, at)
            if ended is None:
                return  # the parser says so
            at = ended.end()
        elif (refusal := refolded(word)) is not None:
            message, hint = refusal
            start = found.start()
            line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
            place = Place(line=line, column=column, pointer="/program")
            raise ProgramSyntaxError(message, at=place, hint=hint)


def pieces(text: str, poll: Poll, size: int = _PIECE) -> Iterator[str]:
    """The text in parts, each of whole statements that stand at its left edge.

    Few are longer than ``size``: a statement that is, and what stands beside it on a line.

    Raises: what ``poll`` does.
    """
    if len(text) <= size:
        yield text
        return
    begin = last = 0
    for end in _edges(text, poll):
        # The last edge before the piece is long enough; behind a longer statement the next one.
        if end - begin > size and last > begin:
            yield text[begin:last]
            begin = last
        last = end
    if last > begin and len(text) - begin > size:
        yield text[begin:last]
        begin = last
    yield text[begin:]


def _edges(text: str, poll: Poll) -> Iterator[int]:
    """The lines that certainly begin a statement, if the text is right.

    After a bracket too many, or a quote that nothing closes, these are all lines: where the parser
    meets that, it looks no further.
    """
    at = depth = begun = seen = 0
    wrong = False
    while (found := _SIGN.search(text, at)) is not None:
        sign, at = found.group(), found.end()
        seen += 1
        if not seen & 1023:
            poll()
        if sign in _DEPTH:
            depth += _DEPTH[sign]
            wrong = wrong or depth < 0
        elif sign in _ENDS and not wrong:
            ended = _ENDS[sign].match(text, at)
            wrong = ended is None
            at = at if ended is None else ended.end()
        elif sign == "\n" and (wrong or not depth):
            if text[begun] != "@" and not _CONTINUING.match(text, at):
                yield at
            begun = at


def _parsed(text: str, above: int) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError as error:
        line, column = above + (error.lineno or 1), max(error.offset or 1, 1)
        at = Place(line=line, column=column, pointer="/program")
        written = hints.for_notation(error.text or "")
        raise ProgramSyntaxError(f"not valid syntax: {error.msg}", at=at, hint=written) from None
    except (RecursionError, MemoryError):
        at = Place(line=above + 1, column=1, pointer="/program")
        raise ProgramSyntaxError(_TOO_LONG, at=at, hint=_NAME_PARTS) from None
    except (ValueError, UnicodeError):
        message = "the text holds a character that no program may hold"
        at = Place(line=above + 1, column=1, pointer="/program")
        raise ProgramSyntaxError(message, at=at) from None
