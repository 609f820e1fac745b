"""How Sphinx builds the guide; ``make docs-site`` runs it on a copy of this folder."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers.data import JsonLexer
from pygments.token import Keyword, Name, Number, Text
from sphinx.application import Sphinx

project = "Gradwire"
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # the anchors of GitHub, to any heading that pages link to
html_theme = "furo"
html_title = "Gradwire"
html_favicon = "icon.svg"
html_copy_source = False
html_show_copyright = False
html_use_index = False


class Exchange(RegexLexer):
    """Requests and answers as the pages write them: one line of HTTP, then JSON."""

    tokens: ClassVar = {
        "root": [
            (
                r"([A-Z]+)( )(\S+)(\n)((?:.|\n)*)",
                bygroups(Keyword, Text, Name, Text, using(JsonLexer)),
            ),
            (
                r"(\d+)( )(\S+)(\n)((?:.|\n)*)",
                bygroups(Number, Text, Name, Text, using(JsonLexer)),
            ),
        ]
    }


def setup(app: Sphinx) -> None:
    """Replace Sphinx's lexer of whole HTTP messages."""
    app.add_lexer("http", Exchange)
