"""The methods that differentiate: gradients, Jacobians, Hessians and products with them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from gradwire import endpoints
from gradwire.call import Call, Conversation, Reply
from gradwire.endpoints import (
    CheckOptions,
    Computed,
    DerivativeOptions,
    GradientOptions,
    HessianOptions,
    JacobianOptions,
    ProgramAt,
)
from gradwire.errors import UsageError
from gradwire.methods import Awaiting, Blocking, also_of, sent_either
from gradwire.results import Check, Gradient, Hessian, Hvp, Jacobian, Jvp
from gradwire.tracing import transforms
from gradwire.tracing.functions import Function, Runs
from gradwire.tracing.named import asked
from gradwire.tracing.points import Argnums
from gradwire.tracing.transforms import Axes
from gradwire.trees import Names, Variables, outermost
from gradwire.usage import is_function, public, used

Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class PointFunction(Protocol[R_co]):
    """A function of variables, given as one mapping, by name, or both."""

    def __call__(self, variables: Variables | None = None, /, **named: Any) -> R_co: ...


class Derivatives:
    """Derivatives of a program's ``target``, by default its output.

    Each takes the options ``target``, ``outputs`` (names of further values to return), ``batch``
    (names of variables, or of ``output_gradients``, ``tangents`` or ``vectors``, with an axis of
    examples, the first or as given by name: everything in the answer then has a first axis of
    examples), ``unconnected_gradients`` (``"zero"`` for zeros instead of missing derivatives),
    ``promotion`` (``"strict"`` makes mixing dtypes an error), ``exact`` (no rewriting that changes
    rounding: the same bits as the recorded operations, one by one, in NumPy) and ``timeout_ms``;
    all but ``jvp`` and ``hvp`` also ``sources``.

    Each also takes a Python function, with its arguments by name in place of variables. Then names
    are those of its arguments, ``batch`` is refused, and integers among the arguments that are
    differentiated, by default all, become floats. ``grad``,
    ``value_and_grad``, ``jacobian``, ``hessian``, ``jvp`` and ``hvp`` of a function whose arguments
    are not given by name are those of ``gradwire``, by this client's service, and so are ``vjp``,
    ``vmap`` and ``function``.
    """

    @public
    def function(self, python: Callable[Q, R]) -> Function[Q, R]:
        """A Python function that this client's service evaluates, as ``gradwire.function``.

        >>> client.function(lambda w: np.sum(w**2))(np.array([1.0, 2.0]))
        np.float64(5.0)
        """
        return Function(python, cast(Runs, self))

    @public
    def vjp(self, f: Callable[..., Any], primals: Sequence[Any], cotangents: Any) -> Any:
        """A value and the gradients of its sum weighted by cotangents, as ``gradwire.vjp``.

        >>> client.vjp(lambda w: w**2, (np.array([1.0, 2.0]),), np.array([1.0, 10.0]))[1]
        (array([ 2., 40.]),)
        """
        return transforms.vjp(f, primals, cotangents, client=cast(Runs, self))

    @public
    def vmap(
        self, f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0
    ) -> Function[..., Any]:
        """A Python function mapped over an axis of its arguments, as ``gradwire.vmap``.

        >>> client.vmap(lambda w: np.sum(w**2))(np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([ 5., 25.])
        """
        return transforms.vmap(f, in_axes, out_axes, client=cast(Runs, self))

    @sent_either
    def gradient(
        self,
        program: Computed,
        variables: Variables | None = None,
        **options: Unpack[GradientOptions],
    ) -> Conversation[Gradient]:
        """A target's value, and its gradient at every source.

        ``gradients`` has exactly the structure of ``sources`` (names nested in lists and
        mappings; one name gives one array; without it, all of ``variables``), and each gradient
        the dtype and shape of its source. Of a target that is not scalar it is the gradient of the
        sum of its elements, weighted by ``output_gradients`` where they are given. With
        ``sparse_gradients`` that in a variable of which only slices ``x[ids]`` are read is a
        ``SparseArray`` of these, repeats listed, or of one index ``"summed"``.

        >>> client.gradient("sum(w * x**2)", {"w": 2.0, "x": [1.0, 3.0]}, sources="x").gradients
        array([ 4., 12.])
        """
        return asked(endpoints.gradient, program, variables, options, options.get("sources"))

    @sent_either
    def check(
        self, program: Computed, variables: Variables | None = None, **options: Unpack[CheckOptions]
    ) -> Conversation[Check]:
        """The gradient beside central differences of the target's values.

        Elements are moved by ``step`` times their size, or times one if that is larger. A source
        is ``ok`` within ``atol`` and ``rtol`` of its largest difference; by default the precision
        of its dtype decides. In a batch, a source's check is that of its worst example.

        >>> client.check("log(det(a))", {"a": [[2.0, 1.0], [0.5, 3.0]]}).ok
        True
        """
        return asked(endpoints.check, program, variables, options, options.get("sources"))

    @also_of(transforms.jacobian)
    @sent_either
    def jacobian(
        self,
        program: Computed,
        variables: Variables | None = None,
        **options: Unpack[JacobianOptions],
    ) -> Conversation[Jacobian]:
        """The derivative of each element of a target, one array, in each element of the sources.

        ``jacobian`` has the structure of ``sources``; ``mode`` takes it by rows (``reverse``), by
        columns (``forward``), or, by default, by whichever are fewer. Of the ``format`` ``"coo"``
        each array is a ``SparseArray`` of what may differ from zero, which is all that is computed.

        >>> client.jacobian("stack([x * y, x + y])", {"x": 2.0, "y": 3.0}).jacobian
        {'x': array([3., 1.]), 'y': array([2., 1.])}
        """
        return asked(endpoints.jacobian, program, variables, options, options.get("sources"))

    @also_of(transforms.hessian)
    @sent_either
    def hessian(
        self,
        program: Computed,
        variables: Variables | None = None,
        **options: Unpack[HessianOptions],
    ) -> Conversation[Hessian]:
        """A target's second derivatives in each pair of sources, and its gradients.

        ``hessian`` has the structure of ``sources`` twice: ``hessian["x"]["y"]`` is the Jacobian
        in ``y`` of the gradient in ``x``. ``format`` is as of ``jacobian``.

        >>> client.hessian("sum(x**3)", {"x": [1.0, 2.0]}, sources="x").hessian
        array([[ 6.,  0.],
               [ 0., 12.]])
        """
        return asked(endpoints.hessian, program, variables, options, options.get("sources"))

    @also_of(transforms.jvp)
    @sent_either
    def jvp(
        self,
        program: Computed,
        variables: Variables,
        tangents: Variables,
        **options: Unpack[DerivativeOptions],
    ) -> Conversation[Jvp]:
        """A target's derivative along tangents, in the target's structure.

        ``tangents`` go by name, each nested as what it is a direction of, a variable or an
        intermediate; along all else nothing moves.

        >>> client.jvp("x * y", {"x": [1.0, 2.0], "y": 3.0}, {"x": [1.0, -1.0]}).jvp
        array([ 3., -3.])
        """
        moving = [*outermost(tangents, "tangents")]
        return asked(endpoints.jvp, program, variables, options, moving, tangents)

    @also_of(transforms.hvp)
    @sent_either
    def hvp(
        self,
        program: Computed,
        variables: Variables,
        vectors: Variables,
        **options: Unpack[DerivativeOptions],
    ) -> Conversation[Hvp]:
        """The Hessian times vectors and the gradients, both in the structure of the vectors.

        The Hessian itself is never made: this costs as much as a few gradients. ``vectors`` go by
        name, as the tangents of ``jvp``.

        >>> client.hvp("sum(x**4)", {"x": [1.0, 2.0]}, {"x": [1.0, -1.0]}).hvp
        {'x': array([ 12., -48.])}
        """
        moving = [*outermost(vectors, "vectors")]
        return asked(endpoints.hvp, program, variables, options, moving, vectors)

    @overload
    def value_and_grad(
        self, program: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
    ) -> Function[..., Any]: ...
    @overload
    def value_and_grad(
        self: Blocking, program: Computed, *, target: Names = None, sources: Names = None
    ) -> PointFunction[tuple[Any, Any]]: ...
    @overload
    def value_and_grad(
        self: Awaiting, program: Computed, *, target: Names = None, sources: Names = None
    ) -> PointFunction[Coroutine[Any, Any, tuple[Any, Any]]]: ...
    @public
    def value_and_grad(
        self: Any,
        program: Computed,
        argnums: Argnums = 0,
        *,
        has_aux: bool = False,
        target: Names = None,
        sources: Names = None,
    ) -> Function[..., Any] | PointFunction[Any]:
        """A function of the variables that returns ``(value, gradients)``.

        What SciPy's optimisers take with ``jac=True``:

        >>> f = client.value_and_grad("sum((x - target)**2)", sources="x")
        >>> found = scipy.optimize.minimize(lambda x: f(x=x, target=3.0), np.zeros(2), jac=True)
        >>> found.x.round(6)
        array([3., 3.])
        """
        if is_function(program) and target is None and sources is None:
            return transforms.value_and_grad(program, argnums, has_aux=has_aux, client=self)
        return _of_variables(self, "value_and_grad", program, argnums, has_aux, target, sources)

    @overload
    def grad(
        self, program: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
    ) -> Function[..., Any]: ...
    @overload
    def grad(
        self: Blocking, program: Computed, *, target: Names = None, sources: Names = None
    ) -> PointFunction[Any]: ...
    @overload
    def grad(
        self: Awaiting, program: Computed, *, target: Names = None, sources: Names = None
    ) -> PointFunction[Coroutine[Any, Any, Any]]: ...
    @public
    def grad(
        self: Any,
        program: Computed,
        argnums: Argnums = 0,
        *,
        has_aux: bool = False,
        target: Names = None,
        sources: Names = None,
    ) -> Function[..., Any] | PointFunction[Any]:
        """The gradient of a Python function, as ``gradwire.grad``.

        Of a program, or with ``sources`` or a ``target`` by name, it is a function of the variables
        that returns the gradients.

        >>> client.grad(lambda w: np.sum(w**2))(np.array([1.0, 2.0]))
        array([2., 4.])
        >>> client.grad("sum(w**2)", sources="w")(w=[1.0, 2.0])
        array([2., 4.])
        """
        if is_function(program) and target is None and sources is None:
            return transforms.grad(program, argnums, has_aux=has_aux, client=self)
        return _of_variables(self, "grad", program, argnums, has_aux, target, sources)


def _of_variables(
    client: Any,
    name: Literal["grad", "value_and_grad"],
    program: Computed,
    argnums: Argnums,
    has_aux: bool,
    target: Names,
    sources: Names,
) -> PointFunction[Any]:
    """The gradients of a program, or its value with them, as a function of the variables."""
    if argnums != 0 or has_aux:
        raise UsageError(
            "argnums and has_aux go with a Python function alone",
            hint="sources and target go by name",
        )
    options = GradientOptions(target=target, sources=sources)

    def query(at: ProgramAt, given: GradientOptions) -> Call[Any]:
        call = endpoints.gradient(at, given)

        def read(reply: Reply) -> Any:
            answer = call.read(reply)
            return answer.gradients if name == "grad" else (answer.value, answer.gradients)

        return replace(cast("Call[Any]", call), read=read)

    @public
    def of_variables(variables: Variables | None = None, /, **named: Any) -> Any:
        with used(name):
            given = variables if not named else {**outermost(variables or {}), **named}
            conversation = asked(query, program, given, options, sources)
        return client.run(conversation)

    of_variables.__name__ = of_variables.__qualname__ = name
    return of_variables
