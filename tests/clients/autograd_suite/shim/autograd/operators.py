"""autograd's differential operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import gradwire
import numpy as np
from gradwire.tracing.structures import flatten, unflatten

Unary = Callable[[Any], Any]


def of_argument(operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of functions of one argument as one of functions of several."""

    @wraps(operator)
    def of_function(f: Any, argnum: Any = 0, *given: Any, **options: Any) -> Any:
        several = isinstance(argnum, (tuple, list))

        def at(*args: Any, **kwargs: Any) -> Any:
            def unary(x: Any) -> Any:
                new = dict(zip(argnum, x, strict=True)) if several else {argnum: x}
                return f(*[new.get(i, arg) for i, arg in enumerate(args)], **kwargs)

            unary.__name__ = getattr(f, "__name__", "function")
            x = tuple(args[i] for i in argnum) if several else args[argnum]
            return operator(unary, x, *given, **options)

        return at

    return of_function


def mapped(function: Unary, nested: Any) -> Any:
    """A function of each array of nested ones."""
    leaves, structure = flatten(nested)
    return unflatten(structure, iter([function(leaf) for leaf in leaves]))


def _conjugate(gradients: Any) -> Any:
    """The gradients of a function of complex numbers as autograd has them."""
    return mapped(np.conj, gradients)


def _check_scalar(value: Any) -> Any:
    """The value of a function of which a gradient is taken."""
    if np.size(value) != 1 or np.result_type(value).kind != "f":
        raise TypeError("grad is of functions of which the value is a real number")
    return value


@of_argument
def grad(f: Unary, x: Any) -> Any:
    return _conjugate(gradwire.grad(lambda x: _check_scalar(f(x)))(x))


@of_argument
def elementwise_grad(f: Unary, x: Any) -> Any:
    return _conjugate(gradwire.grad(f)(x))


@of_argument
def value_and_grad(f: Unary, x: Any) -> Any:
    value, gradient = gradwire.value_and_grad(lambda x: _check_scalar(f(x)))(x)
    return value, _conjugate(gradient)


@of_argument
def grad_and_aux(f: Unary, x: Any) -> Any:
    gradient, aux = gradwire.grad(f, has_aux=True)(x)
    return _conjugate(gradient), aux


@of_argument
def holomorphic_grad(f: Unary, x: Any) -> Any:
    return grad(lambda x: np.real(f(x)))(x)


@of_argument
def deriv(f: Unary, x: Any) -> Any:
    return gradwire.jvp(f, (x,), (mapped(np.ones_like, x),))[1]


@of_argument
def jacobian(f: Unary, x: Any) -> Any:
    return gradwire.jacobian(f)(x)


@of_argument
def hessian(f: Unary, x: Any) -> Any:
    return gradwire.hessian(f)(x)


@of_argument
def make_vjp(f: Unary, x: Any) -> Any:
    return lambda v: _conjugate(gradwire.vjp(f, (x,), np.conj(v))[1][0]), gradwire.function(f)(x)


@of_argument
def make_jvp(f: Unary, x: Any) -> Any:
    return lambda v: gradwire.jvp(f, (x,), (v,))


@of_argument
def make_hvp(f: Unary, x: Any) -> Any:
    return lambda v: gradwire.hvp(f, (x,), (v,))[1][0], gradwire.grad(f)(x)


def hessian_tensor_product(f: Any, argnum: int = 0) -> Any:
    def along(*args: Any, **kwargs: Any) -> Any:
        *rest, vector = args
        return np.tensordot(grad(f, argnum)(*rest, **kwargs), vector, np.ndim(vector))

    return grad(along, argnum)


def tensor_jacobian_product(f: Any, argnum: int = 0) -> Any:
    def along(*args: Any, **kwargs: Any) -> Any:
        *rest, vector = args
        return np.tensordot(vector, f(*rest, **kwargs), axes=np.ndim(vector))

    return jacobian(along, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


def make_ggnvp(
    f: Unary, g: Unary = lambda x: 0.5 * np.sum(x**2, axis=-1), f_argnum: int = 0
) -> Any:
    @of_argument
    def made(f: Unary, x: Any) -> Any:
        def product(v: Any) -> Any:
            value, along = gradwire.jvp(f, (x,), (v,))
            (curved,) = gradwire.hvp(g, (value,), (along,))[1]
            return gradwire.vjp(f, (x,), curved)[1][0]

        return product

    return made(f, f_argnum)


def checkpoint(f: Any) -> Any:
    return gradwire.checkpoint(f)
