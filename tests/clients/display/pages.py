"""A strict parser of HTML."""

import re
from html.parser import HTMLParser

VOID = {"img", "br", "col", "hr", "input", "meta", "link"}
INLINE = {"b", "span", "img"}
ALLOWED = set("div b span style table tr th td img details summary pre".split())


class Page(HTMLParser):
    """Parses HTML strictly: every element is closed, and nothing runs or loads anything.

    Without the style, which untrusted notebooks remove, words must still be separated.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        #: The text with only blocks and cells separated, as without the style.
        self.unstyled: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.images = 0
        self.feed(text)
        self.close()
        assert self.open == []
        assert "".join(self.unstyled).split() == self.text.split()

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        self.stand_apart(tag)
        self.attributes += attrs
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name in ("src", "href"):
                assert re.match(r"data:image/(png|svg\+xml);base64,", value)
                self.images += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.stand_apart(tag)

    def stand_apart(self, tag: str) -> None:
        if tag not in INLINE:
            self.unstyled.append("\n")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
            self.unstyled.append(data)
        else:
            assert "url(" not in data
            assert "@import" not in data

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
