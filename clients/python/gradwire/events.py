"""Server-sent events, read from the bytes of a stream as they arrive.

The format is that of the HTML standard, section 9.2: lines of ``field: value``, an empty line ends
an event, and a line that begins with a colon is a comment.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

#: The media type of a stream of events.
MEDIA_TYPE: Final = "text/event-stream"
#: The kind of a comment, which only says that the connection is alive.
COMMENT: Final = ""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream: its kind, its text, and the id after which a stream can go on."""

    kind: str
    data: str
    id: str | None = None

    @property
    def document(self) -> Any:
        """The JSON of its text; ``ValueError`` if it is none."""
        return json.loads(self.data)


class EventReader:
    """Reads the events of one stream from pieces of any length."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._kind = "message"
        self._data: list[str] = []
        self._id: str | None = None

    def read(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that end in this piece."""
        # A line may end with \r\n, in two pieces: a \r at the end waits for what follows it.
        text = self._rest + self._text.decode(piece)
        held = text[-1:] if text.endswith("\r") else ""
        lines = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + held
        for line in lines:
            event = self._line(line)
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerEvent | None:
        if line.startswith(":"):
            return ServerEvent(COMMENT, line[1:].strip(), self._id)
        if not line:
            return self._event()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._kind = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value
        return None

    def _event(self) -> ServerEvent | None:
        kind, data = self._kind, "\n".join(self._data)
        is_empty = not self._data
        self._kind, self._data = "message", []
        return None if is_empty else ServerEvent(kind, data, self._id)
