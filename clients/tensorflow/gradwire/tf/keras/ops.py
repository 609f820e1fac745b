"""Keras's operations: TensorFlow's by NumPy's names, where these compute the same."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gradwire.tf as tf
from gradwire.tf import absent
from gradwire.tf.keras import activations, operations
from gradwire.tf.keras.symbolic import Operation, is_symbolic

#: Operations by Keras's parameters, which are TensorFlow's first ones in this order. Those of
#: another name in TensorFlow have it after a sign of equality.
_SAME = {
    "x": """abs absolute=abs angle=math.angle arccos=acos arcsin=asin arctan=atan ceil=math.ceil
        cholesky=linalg.cholesky conj=math.conj convert_to_numpy=get_static_value cos cosh
        det=linalg.det eig eigh=linalg.eigh erf=math.erf erfc=math.erfc erfinv=math.erfinv exp
        expm1=math.expm1 floor imag=math.imag inv=linalg.inv is_tensor log=math.log
        log1p=math.log1p log_sigmoid=math.log_sigmoid logdet=linalg.logdet
        logical_not matrix_rank=linalg.matrix_rank negative pinv=linalg.pinv qr=linalg.qr
        real=math.real reciprocal=math.reciprocal relu=nn.relu relu6=nn.relu6 rsqrt=math.rsqrt
        selu=nn.selu sign silu=nn.silu sin sinh slogdet=linalg.slogdet softplus=nn.softplus
        softsign=nn.softsign sqrt square swish=nn.silu tan tanh trace=linalg.trace""",
    "x1 x2": """add arctan2=atan2 cross=linalg.cross divide_no_nan=math.divide_no_nan equal greater
        greater_equal less less_equal logical_and logical_or logical_xor=math.logical_xor matmul
        maximum minimum mod=math.floormod multiply nextafter=math.nextafter not_equal power=pow
        subtract""",
    "x axis": "argsort expand_dims log_softmax=nn.log_softmax sort squeeze stack",
    "x axis keepdims": """all=reduce_all amax=reduce_max amin=reduce_min any=reduce_any
        logsumexp=reduce_logsumexp max=reduce_max min=reduce_min prod=reduce_prod
        std=math.reduce_std sum=reduce_sum var=math.reduce_variance""",
    "x dtype": "cast convert_to_tensor ones_like saturate_cast zeros_like",
    "x num axis": "unstack",
    "x shape": "broadcast_to",
    "x newshape": "reshape",
    "shape dtype": "ones zeros",
    "x x_min x_max": "clip=clip_by_value",
    "x repeats": "tile",
    "x repeats axis": "repeat",
    "x shift axis": "roll",
    "x axes": "transpose",
    "x pad_width mode constant_values": "pad",
    "x negative_slope": "leaky_relu=nn.leaky_relu",
    "x weights minlength": "bincount=math.bincount",
    "x k": "top_k=math.top_k",
    "x block_size": "depth_to_space=nn.depth_to_space space_to_depth=nn.space_to_depth",
    "inputs start_indices shape": "slice",
    "sorted_sequence values side": "searchsorted",
    "start stop step dtype": "arange=range",
    "targets predictions k": "in_top_k=math.in_top_k",
    "a b": "lstsq=linalg.lstsq solve=linalg.solve",
    "variable": "stop_gradient",
    "f": "custom_gradient",
    "function elements": "vectorized_map",
    "pred true_fn false_fn": "cond",
    "cond body loop_vars": "while_loop",
    "": "einsum meshgrid",
}
_IMAGES = {
    "images": """hsv_to_rgb=image.hsv_to_rgb rgb_to_grayscale=image.rgb_to_grayscale
        rgb_to_hsv=image.rgb_to_hsv sobel_edges=image.sobel_edges""",
    "images size interpolation": "resize=image.resize",
    "image1 image2 max_val filter_size filter_sigma k1 k2": "ssim=image.ssim",
}
#: Whose outputs remember their logits, for cross-entropies; and what takes Keras's arguments there.
_ACTIVATIONS = ("elu", "sigmoid", "softmax")
#: What symbolic values have themselves.
_PLAIN = ("shape", "size")
#: Keras's names of parts of this module.
_PARTS = ("linalg", "nn")


def _table(same: dict[str, str]) -> dict[str, tuple[str, list[str]]]:
    """TensorFlow's name of each operation, and Keras's parameters."""
    each = [(name, names.split()) for names, text in same.items() for name in text.split()]
    pairs = [(name.partition("=")[0::2], names) for name, names in each]
    return {ours: (theirs or ours, names) for (ours, theirs), names in pairs}


_FOUND, _FOUND_IMAGES = _table(_SAME), _table(_IMAGES)
_OWN = {
    name: each
    for name, each in vars(operations).items()
    if inspect.isfunction(each) and each.__module__ == operations.__name__
}
__all__ = sorted(  # noqa: PLE0605 - of the tables
    {*_FOUND, *_ACTIVATIONS, *(name for name in _OWN if name[0] != "_")} - {"extract_patches"}
)


def _operation(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes symbolic values, too: then it is an operation of their graph."""

    @functools.wraps(function)
    def applied(*args: Any, **kwargs: Any) -> Any:
        if is_symbolic((args, kwargs)):
            kind = "".join(part.title() for part in name.split("_"))
            return Operation(kind, function=function)(*args, **kwargs)
        return function(*args, **kwargs)

    return applied


def _renamed(name: str, path: str, names: list[str]) -> Callable[..., Any]:
    """A function of TensorFlow's with Keras's parameters.

    Raises:
        NotImplementedError: for arguments that are not among these.
    """
    found: Any = tf
    for part in path.split("."):
        found = getattr(found, part)
    if not names:
        return _operation(name, found)
    theirs = list(inspect.signature(found).parameters)

    def called(*args: Any, **kwargs: Any) -> Any:
        unknown = [*kwargs.keys() - set(names), *map(str, args[len(names) :])]
        if unknown:
            raise NotImplementedError(
                f"keras.ops.{name} does not implement {', '.join(unknown)}; {names} are possible"
            )
        given = dict(zip(names, args, strict=False))
        if given.keys() & kwargs.keys():
            raise TypeError(
                f"{name}() got multiple values for {sorted(given.keys() & kwargs.keys())}"
            )
        given |= kwargs
        return found(**{theirs[names.index(each)]: value for each, value in given.items()})

    called.__name__, called.__doc__ = name, found.__doc__
    parameters = [
        inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names
    ]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return _operation(name, called)


@functools.cache
def _image() -> ModuleType:
    """``keras.ops.image``."""
    module = ModuleType(f"{__name__}.image", "Keras's operations on images.")
    for name, each in _FOUND_IMAGES.items():
        setattr(module, name, _renamed(name, *each))
    patches = _operation("extract_patches", operations.extract_patches)
    vars(module).update(extract_patches=patches)
    absent.name_missing(module, "keras.ops.image")
    return module


@functools.cache
def __getattr__(name: str) -> Any:
    """The operation of a name."""
    if name in _ACTIVATIONS:
        return getattr(activations, name)
    if name in _PARTS:
        return sys.modules[__name__]
    if name == "image":
        return _image()
    if name in _FOUND:
        return _renamed(name, *_FOUND[name])
    if name in __all__:
        own = _OWN[name]
        return own if name in _PLAIN else _operation(name, own)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
