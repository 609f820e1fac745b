"""The methods that compute."""

from __future__ import annotations

from typing import Unpack

from gradwire import questions
from gradwire.call import Call, sent
from gradwire.derivatives import Derivatives
from gradwire.requests import Options, Program, point
from gradwire.results import Evaluation
from gradwire.trees import Variables


class Compute(Derivatives):
    """Stateless computations. Each is pure, so that it may be sent again after a failure."""

    @sent
    def evaluate(
        self, program: Program, variables: Variables | None = None, **options: Unpack[Options]
    ) -> Call[Evaluation]:
        r"""The values of ``outputs``, nested as they are, by default of the program's own.

        Further options are ``batch``, ``promotion``, ``exact`` and ``timeout_ms``.

        >>> client.evaluate("y = x**2\nsum(y)", {"x": [1.0, 2.0]}).outputs
        np.float64(5.0)
        """
        return questions.evaluation(point(program, variables), options)
