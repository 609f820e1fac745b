"""HTML, put together so that nothing in it is taken for markup by accident."""

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


def joined(*children: str) -> Markup:
    """Parts one after the other, those that are no markup escaped."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(c) for c in children))
