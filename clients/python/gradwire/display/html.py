"""Reports for notebooks, as HTML that neither runs nor loads anything.

Words are separated by spaces, for notebooks that are not trusted, where the style is left out.
Colours are the page's own, light or dark; numbers of a grid are orange above zero and blue below,
the larger, the stronger.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.blocks import Block, Listing, Picture, Problem, Remarks, Table, Title
from gradwire.display.figures import brief, digits, sizes
from gradwire.display.reports import report

#: Rows and columns of arrays that are shown as numbers; larger ones open.
MOST_INLINE = (4, 6)
#: Elements of those that open as a whole.
MOST_OPENED = 240
#: Characters of a listing that are shown.
LONGEST = 4000
ABOVE, BELOW, ODD = "240,96,18", "52,120,246", "192,38,211"

_MONO = 'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
_RULES = f"""
.gw{{font:13px/1.5 system-ui,sans-serif;color:inherit;max-width:100%;overflow-x:auto}}
.gw b{{font-size:15px;font-weight:600}}
.gw .gw-more,.gw th{{opacity:.66;font-weight:500!important}}
.gw .gw-warn{{border-left:3px solid #d98a00;padding-left:9px;margin:6px 0}}
.gw table{{border-collapse:collapse!important;border:0!important;margin:4px 0!important;
 font-size:13px!important}}
.gw tr{{background:none!important;border:0!important}}
.gw td,.gw th{{text-align:left!important;border:0!important;padding:3px 18px 3px 0!important;
 max-width:none!important;white-space:nowrap;color:inherit}}
.gw td,.gw pre{{{_MONO};font-size:12px}}
.gw table.gw-grid{{margin:0!important}}
.gw table.gw-grid td,.gw table.gw-grid th{{text-align:right!important;padding:1px 7px!important}}
.gw summary{{cursor:pointer}}
.gw pre{{margin:2px 0 2px 16px!important;padding:0!important;background:none!important;
 color:inherit!important;white-space:pre;overflow-x:auto}}
"""


class Markup(str):
    """Text that is HTML; any other text is escaped where it becomes part of it."""

    __slots__ = ()


def card(shown: Any) -> str:
    """An answer or a recorded function as HTML, of some hundred kilobytes at most."""
    return card_of(*(part for block in report(shown) for part in _parts(block)))


def card_of(*parts: Markup) -> str:
    """A card of these parts, with the style of all cards."""
    style = element("style", Markup(_RULES.strip().replace("\n", "")))
    return str(element("div", style, *parts, class_="gw"))


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element; ``class_`` is ``class``, ``font_weight`` is ``font-weight``, None is left out.

    >>> element("b", "a < b", class_="sum")
    '<b class="sum">a &lt; b</b>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(c if isinstance(c, Markup) else html.escape(c) for c in children)
    return Markup(f"<{name}{given}>{inner}</{name}>")


def _parts(block: Block) -> Iterator[Markup]:
    match block:
        case Title(name, about):
            yield element("div", element("b", name), " ", about)
        case Table():
            if block.title:
                note = element("span", block.note, class_="gw-more")
                yield element("div", element("b", block.title), " ", note)
            yield from _table(block)
        case Problem(sentence, excerpt):
            place = [element("pre", "\n".join(line[2:] for line in excerpt))] if excerpt else []
            yield element("div", sentence, *place, class_="gw-warn")
        case Listing(summary, text, is_open):
            cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n…"
            yield _details(summary, cut, is_open)
        case Picture(image):
            yield Markup(image)
        case Remarks(parts):
            yield element("div", " · ".join(parts), class_="gw-more")


def _table(table: Table) -> Iterator[Markup]:
    cells = table.cells()
    if not cells:
        return
    scale = _largest(np.array([line[1:] for line in cells[1:]])) if table.is_matrix else 0.0
    lines = [element("tr", *(element("th", name) for name in cells[0]))]
    lines += [element("tr", *(_cell(cell, scale) for cell in line)) for line in cells[1:]]
    if table.more:
        lines.append(element("tr", element("td", f"… and {table.more:,} more", colspan=99)))
    yield element("table", *lines, class_="gw-grid" if table.is_matrix else None)


def _cell(cell: Any, scale: float) -> Markup:
    """Words, a number whose background is opaque at ``scale``, or an array."""
    if isinstance(cell, str):
        return element("td", cell)
    cell = cell[()] if isinstance(cell, np.ndarray) else cell  # a number without axes
    if isinstance(cell, (float, int, np.generic)):
        return element("td", digits(cell), title=str(cell), style=_tint(cell, scale))
    if isinstance(cell, np.ndarray) and cell.size and cell.ndim <= 2:
        lines = np.atleast_2d(cell)
        if all(np.array(lines.shape) <= MOST_INLINE):
            scale = _largest(lines)
            grid = [element("tr", *(_cell(each, scale) for each in line)) for line in lines]
            return element("td", element("table", *grid, class_="gw-grid"))
    with np.printoptions(precision=4, threshold=MOST_OPENED, linewidth=100):
        return element("td", _details(brief(cell), str(cell)))


def _details(summary: str, opened: str, is_open: bool = False) -> Markup:
    pre = element("pre", opened)
    return element("details", element("summary", summary), pre, open="" if is_open else None)


def _largest(array: NDArray[Any]) -> float:
    """The greatest size of a finite element."""
    return float(sizes(array[np.isfinite(array)]).max(initial=0.0))


def _tint(number: Any, scale: float) -> str | None:
    """The background of a number; zero, and all where the scale is zero, have none."""
    if not np.isfinite(number):
        return f"background:rgba({ODD},.45)"
    share = float(sizes(np.asarray(number))) / scale if scale else 0.0
    colour = ABOVE if number.real > 0 else BELOW
    return f"background:rgba({colour},{0.4 * share**0.5:.2f})" if share else None
