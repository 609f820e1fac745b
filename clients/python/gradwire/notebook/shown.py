"""What every answer can be shown as; each way is imported when it is asked for."""

from __future__ import annotations

from typing import Any, cast

import httpx


class Shown:
    """An answer that can be looked at, and asked for again from a shell."""

    __slots__ = ()

    raw: httpx.Response

    def __repr__(self) -> str:
        from gradwire.notebook.text import text

        return text(cast("Any", self))

    def _repr_html_(self) -> str:
        from gradwire.notebook.cards import card

        return card(cast("Any", self))

    def as_curl(self) -> str:
        r"""The command for a shell that asks the same again, readable throughout.

        Numbers are written so that they mean the same bits. An API key stands in it as
        ``$GRADWIRE_API_KEY``, never as what it is. Of a tape that answers once, it is one
        question more.

        >>> print(client.evaluate("x**2", {"x": 3.0}).as_curl())
        curl --silent --show-error --request POST http://127.0.0.1:8000/v1/evaluate \
          --header 'Content-Type: application/json' \
          --data-binary @- <<'JSON'
        {
          "program": "x**2",
          "variables": {
            "x": 3.0
          }
        }
        JSON
        """
        from gradwire.notebook.commands import curl

        return curl(self.raw)
