"""The methods that compute: evaluate, gradient, value_and_grad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

from gradwire import codec
from gradwire.call import Call, Reply, sent, sent_later
from gradwire.results import Evaluation, Gradient, shared_fields, unconnected_sources
from gradwire.trees import Names, Variables, outermost
from gradwire.values import decode_gradients, decode_named, encode_seeds, encode_variables

#: Source text, a graph, or a reference to a registered program.
Program: TypeAlias = "str | Mapping[str, Any]"
Promotion: TypeAlias = Literal["numpy", "strict"]
UnconnectedGradients: TypeAlias = Literal["none", "zero"]


class PointCall(Protocol):
    """A function of variables, given as one mapping, by name, or both."""

    def __call__(
        self, variables: Variables | None = None, /, **named: Any
    ) -> Call[tuple[Any, Any]]: ...


class Compute:
    """Stateless computations. Each is pure, so that it may be sent again after a failure."""

    @sent
    def evaluate(
        self,
        program: Program,
        variables: Variables | None = None,
        *,
        outputs: Names = None,
        promotion: Promotion | None = None,
        timeout_ms: float | None = None,
    ) -> Call[Evaluation]:
        r"""The values of a program's outputs.

        ``outputs`` names what to return, nested as the answer shall be; without it, it is the
        program's own output. ``timeout_ms`` limits the work on the service's side.

        >>> client.evaluate("y = x**2\nsum(y)", {"x": [1.0, 2.0]}).outputs
        np.float64(5.0)
        """
        variables = {} if variables is None else variables

        def read(reply: Reply) -> Evaluation:
            values = decode_named(reply.document["outputs"], outputs)
            return Evaluation(outputs=values, **shared_fields(reply, variables))

        fields = {"outputs": outputs, "promotion": promotion, "timeout_ms": timeout_ms}
        return Call("POST", "/v1/evaluate", _document(program, variables, fields), read)

    @sent
    def gradient(
        self,
        program: Program,
        variables: Variables | None = None,
        *,
        target: Names = None,
        sources: Names = None,
        outputs: Names = None,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | None = None,
        promotion: Promotion | None = None,
        timeout_ms: float | None = None,
    ) -> Call[Gradient]:
        """A target's value, and its gradient at every source.

        ``gradients`` has exactly the structure of ``sources`` (names nested in lists and
        mappings; one name gives one array; without it, all of ``variables``), and each gradient
        the dtype and shape of its source. Of a target that is not scalar it is the gradient of the
        sum of its elements, weighted by ``output_gradients`` where they are given. ``outputs``
        names further values to return.

        >>> answer = client.gradient("mean((x @ w - y)**2)", {"w": w, "x": x, "y": y}, sources="w")
        >>> w -= 0.1 * answer.gradients
        """
        variables = {} if variables is None else variables

        def read(reply: Reply) -> Gradient:
            return Gradient(
                value=decode_named(reply.document["value"], target),
                gradients=decode_gradients(reply.document["gradients"], sources, variables),
                outputs=decode_named(reply.document.get("outputs"), outputs),
                unconnected=unconnected_sources(reply.document),
                **shared_fields(reply, variables),
            )

        fields = {
            "target": target,
            "sources": sources,
            "outputs": outputs,
            "output_gradients": encode_seeds(output_gradients, target),
            "unconnected_gradients": unconnected_gradients,
            "promotion": promotion,
            "timeout_ms": timeout_ms,
        }
        return Call("POST", "/v1/gradient", _document(program, variables, fields), read)

    @sent_later
    def value_and_grad(
        self, program: Program, *, target: Names = None, sources: Names = None
    ) -> PointCall:
        """A function of the variables that returns ``(value, gradients)``.

        What SciPy's optimisers take with ``jac=True``:

        >>> f = client.value_and_grad("sum((x @ w - y)**2)", sources="w")
        >>> scipy.optimize.minimize(lambda w: f(w=w, x=x, y=y), w0, jac=True)
        """

        def value_and_grad(
            variables: Variables | None = None, /, **named: Any
        ) -> Call[tuple[Any, Any]]:
            point = variables if not named else {**outermost(variables or {}), **named}
            call = Compute.gradient(self, program, point, target=target, sources=sources)

            def read(reply: Reply) -> tuple[Any, Any]:
                answer = call.read(reply)
                return answer.value, answer.gradients

            return Call(call.method, call.path, call.document, read)

        return value_and_grad


def _document(program: Program, variables: Variables, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A request's body: what was left out is not sent."""
    given = {name: field for name, field in fields.items() if field is not None}
    return {
        "program": program,
        "variables": encode_variables(variables),
        "encoding": codec.ARRAY_ENCODING,
        **given,
    }
