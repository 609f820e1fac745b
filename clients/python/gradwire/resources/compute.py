"""The methods that compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from gradwire import endpoints
from gradwire.call import Call, Conversation, Reply, Steps
from gradwire.endpoints import Computed, EvaluateOptions, ExplainOptions, program_document
from gradwire.errors import UsageError
from gradwire.explanations import Explanation
from gradwire.methods import sent, sent_either
from gradwire.resources.derivatives import Derivatives
from gradwire.resources.graphs import Drawing, drawing
from gradwire.resources.mapping import (
    MappedFunction,
    MappedProgram,
    mapped,
    progress_of,
    side_by_side,
)
from gradwire.results import Evaluation
from gradwire.tracing.functions import Function
from gradwire.tracing.named import asked
from gradwire.trees import Names, Variables


class Compute(Derivatives):
    """Stateless computations. Each is pure, so it may be retried after a failure."""

    @sent_either
    def evaluate(
        self,
        program: Computed,
        variables: Variables | None = None,
        **options: Unpack[EvaluateOptions],
    ) -> Conversation[Evaluation]:
        r"""The values of ``outputs``, nested as they are, by default of the program's own.

        Further options are ``batch``, ``promotion``, ``exact`` and ``timeout_ms``.

        >>> client.evaluate("y = x**2\nsum(y)", {"x": [1.0, 2.0]}).outputs
        np.float64(5.0)
        """
        return asked(endpoints.evaluation, program, variables, options, moving=())

    @sent_either
    def explain(
        self,
        program: Computed,
        variables: Variables | None = None,
        **options: Unpack[ExplainOptions],
    ) -> Conversation[Explanation]:
        r"""Explain how the service computes a query: its instructions, and the values and adjoints.

        ``nodes`` are the program as it was recorded, each with its value, and as ``adjoint`` with
        the derivative of the target with respect to it. ``instructions`` are what is replayed of
        the ``query``, which is ``"gradient"``, ``"evaluate"``, ``"jacobian"`` or ``"hessian"``;
        with ``time=True`` each is measured. Further options are those of the query, without
        ``batch``, ``keep`` and ``release``.

        >>> answer = client.explain("s = sin(x)\ny = w * s", {"x": 0.5, "w": 2.0}, sources="x")
        >>> {name: (node.value, node.adjoint) for name, node in answer.named()}["s"]
        (np.float64(0.479425538604203), np.float64(2.0))
        >>> [each.op for each in answer.instructions if each.derivative]
        ['cos', 'multiply']
        """
        moving = () if options.get("query") == "evaluate" else options.get("sources")
        return asked(endpoints.explained, program, variables, options, moving)

    @sent
    def request(self, method: str, path: str, document: Any = None) -> Call[Reply]:
        """Send any request of the protocol; return the document and the raw response.

        >>> client.request("GET", "/v1/limits").document["body_bytes"]
        67108864
        """
        given: tuple[Any, Any] = method, path
        if not all(isinstance(part, str) for part in given) or not path.startswith("/"):
            raise UsageError(f"a request has a method and a path, GET and /v1/limits, not {given}")
        sent = dict(document) if isinstance(document, Mapping) else document
        return Call(method, path, sent, lambda reply: reply)

    @sent
    def map(
        self,
        f: Computed,
        *points: Iterable[Any],
        variables: Variables | None = None,
        chunk: int | None = None,
        progress: bool | None = None,
        **options: Unpack[EvaluateOptions],
    ) -> Steps[list[Any]]:
        """Evaluate a program or a function at each of many points, as Python's ``map``.

        A point of a program is its variables by name, beside the ``variables`` that all share;
        further options are as of ``evaluate``. A function, recorded if it is a Python function, has
        a sequence of points for each argument. Consecutive points of one structure are sent in
        chunks, by default of a thousand points or a few megabytes. Long computations show their
        ``progress`` if tqdm is installed.

        >>> client.map("w * x**2", [{"x": 1.0}, {"x": 2.0}], variables={"w": 3.0})
        [np.float64(3.0), np.float64(12.0)]
        >>> client.map(gradwire.grad(np.sin), [0.0, np.pi])
        [np.float64(1.0), np.float64(-1.0)]
        """
        if callable(f):
            if variables is not None or options:
                raise UsageError("a function takes points only, not variables or options")
            function = f if isinstance(f, Function) else Function(f)
            arguments = side_by_side([iter(each) for each in points])
            return mapped(MappedFunction(function), arguments, chunk, progress_of(points, progress))
        program_document(f)  # which refuses what is no program
        if len(points) != 1:
            raise UsageError(f"a program has one sequence of points, not {len(points)}")
        points_of = MappedProgram(f, variables, options)
        return mapped(points_of, iter(points[0]), chunk, progress_of(points, progress))

    @sent
    def draw(
        self,
        program: Computed,
        *point: Any,
        target: Names = None,
        sources: Names = None,
    ) -> Steps[Drawing]:
        """The graph of a program or a function, as a picture that notebooks show.

        With a point, a program's variables by name or a function's arguments, nodes show dtypes and
        shapes. ``target`` and ``sources`` are marked. The program is registered with the service.

        >>> client.draw("mean((tanh(x @ w) - y)**2)", {"x": x, "w": w, "y": y}, sources="w")
        >>> pathlib.Path("loss.svg").write_text(client.draw(loss, w, x, y).svg())
        """
        return drawing(program, point, target, sources)
