"""What every answer can be shown as; each way is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import httpx

if TYPE_CHECKING:
    import pandas


class DisplayMixin:
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

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each element: ``path``, ``index``, and what the answer has there.

        Gradients are beside the ``value`` of the variable, as it was sent. A Jacobian or Hessian
        is the matrix, its sides named by elements, sparse if it was given so; what a tape has
        recorded, a row for each instruction. Needs pandas, which ``gradwire[notebook]`` brings.

        >>> client.gradient("sum(w * x**2)", {"w": 2.0, "x": [1.0, 3.0]}).to_pandas()
          path index  value  gradient
        0    w    ()    2.0      10.0
        1    x  (0,)    1.0       4.0
        2    x  (1,)    3.0      12.0
        >>> client.hessian("x**2 * y", {"x": 1.0, "y": 3.0}).to_pandas().loc["x", "y"]
        np.float64(2.0)
        """
        from gradwire.notebook.frames import frame

        return frame(cast("Any", self))
