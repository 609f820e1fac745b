"""The presentations of every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from gradwire import hooks

if TYPE_CHECKING:
    import pandas


class DisplayMixin:
    """An answer with presentations for terminals, notebooks, pandas and the shell."""

    __slots__ = ()

    raw: httpx.Response

    def __repr__(self) -> str:
        return hooks.display().text(self)

    def _repr_html_(self) -> str:
        return hooks.display().card(self)

    def as_curl(self) -> str:
        r"""The shell command that repeats the request, as readable JSON.

        Numbers are written with the same bits. An API key is written as ``$GRADWIRE_API_KEY``,
        never in clear. For a tape that answers once, the command is a second request.

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
        return hooks.display().curl(self.raw)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each element: ``path``, ``index`` and the answer's values.

        Gradients are beside the ``value`` of the variable, as it was sent. A Jacobian or Hessian
        is a matrix with elements as labels, sparse if the answer is. A tape's recording and an
        explanation have a row for each instruction. Needs pandas, which ``gradwire[notebook]``
        installs.

        >>> client.gradient("sum(w * x**2)", {"w": 2.0, "x": [1.0, 3.0]}).to_pandas()
          path index  value  gradient
        0    w    ()    2.0      10.0
        1    x  (0,)    1.0       4.0
        2    x  (1,)    3.0      12.0
        >>> client.hessian("x**2 * y", {"x": 1.0, "y": 3.0}).to_pandas().loc["x", "y"]
        np.float64(2.0)
        """
        return hooks.display().frame(self)
