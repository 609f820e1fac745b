"""Recorded answers that ours differ from, each with the reason."""

#: Why the value or a gradient of an expression differs, by library and text.
EXCEPTIONS: dict[tuple[str, str], str] = {}
