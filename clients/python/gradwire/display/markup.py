"""HTML elements, with all other text escaped."""

from __future__ import annotations

import html


class Markup(str):
    """Text that is HTML; any other text is escaped where it becomes part of it."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | int | None) -> Markup:
    """An element; of attributes, ``class_`` is ``class``, and those that are None are left out.

    >>> element("b", "a < b", class_="sum")
    '<b class="sum">a &lt; b</b>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in ("img", "br", "col"):
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def row(name: str, *children: str, **attributes: str | int | None) -> Markup:
    """An element with a space between its children, for pages that leave out the style.

    Notebooks that are not trusted are such. Where the style makes a flexible box, the spaces are
    not shown.
    """
    spaced = [part for child in children if child for part in (child, Markup(" "))]
    return element(name, *spaced[:-1], **attributes)


def indented(depth: int) -> str:
    """The indent of a name at a depth."""
    return "\N{NO-BREAK SPACE}" * 4 * depth


def joined(*children: str) -> Markup:
    """Joined parts, escaped unless they are markup."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(c) for c in children))
