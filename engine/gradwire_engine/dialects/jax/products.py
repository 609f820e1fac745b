"""``jax.lax``: products over named axes, convolutions, transforms and triangular systems."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.windows import per_axis, span
from gradwire_engine.ops.axes import axes_of, flag, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.linalg.solving import adjoint

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@JAX.macro("lax.dot_general")
def dot_general(b: Builder, lhs: Any, rhs: Any, dimension_numbers: Static) -> Any:
    """Sum of products over contracted axes, batch axes in step.

    ``dimension_numbers`` is ((contracted of lhs, of rhs), (batch axes of lhs, of rhs)).  The
    result has the batch axes, then the other axes of ``lhs``, then those of ``rhs``.
    """
    x, y = b.array(lhs), b.array(rhs)
    letters = iter(string.ascii_letters)
    named: list[dict[int, str]] = [{}, {}]
    shared = []
    for left, right in _pairs(dimension_numbers):
        pairs = [axes_of(left, x.ndim, "dot_general"), axes_of(right, y.ndim, "dot_general")]
        if len(pairs[0]) != len(pairs[1]):
            raise ShapeMismatch("dot_general contracts axes, and batches them, in pairs")
        shared.append([next(letters) for _ in pairs[0]])
        for names, axes in zip(named, pairs, strict=True):
            names.update(zip(axes, shared[-1], strict=True))
    free: list[str] = []
    for names, operand in zip(named, (x, y), strict=True):
        rest = {axis: next(letters) for axis in range(operand.ndim) if axis not in names}
        free += rest.values()
        names.update(rest)
    given = ["".join(names[axis] for axis in sorted(names)) for names in named]
    return recorded("einsum")(b, f"{','.join(given)}->{''.join(shared[1] + free)}", x, y)


def _pairs(dimension_numbers: Any) -> list[Any]:
    """The axes of both operands to contract, and those to batch."""
    pairs = dimension_numbers if _is_pair(dimension_numbers) else ()
    if not pairs or not all(map(_is_pair, pairs)):
        raise BadArgument(
            f"dimension_numbers must be two pairs of axes, got {describe(dimension_numbers)}",
            hint="((contracted of lhs, of rhs), (batch of lhs, of rhs)): (([1], [0]), ([], []))",
        )
    return [[integers(axes, "dimension_numbers") for axes in pair] for pair in pairs]


def _is_pair(x: Any) -> bool:
    return isinstance(x, list | tuple) and len(x) == 2


@JAX.macro("lax.conv_general_dilated")
def conv_general_dilated(
    b: Builder,
    lhs: Any,
    rhs: Any,
    window_strides: Static,
    padding: Static,
    lhs_dilation: Static = None,
    rhs_dilation: Static = None,
    dimension_numbers: Static = None,
    feature_group_count: Static = 1,
) -> Any:
    """Layer of filters ``rhs`` over ``lhs``, as ``conv``, with axes in any order.

    ``dimension_numbers`` names the axes of both and of the result, ("NHWC", "HWIO", "NHWC"):
    batch and channels N and C, channels out and in O and I; ("NCHW", "OIHW", "NCHW") by default.
    """
    x, w = b.promote(lhs, rhs)
    given, filters, wanted = axis_orders(dimension_numbers, x.ndim)
    lengths = "".join(name for name in given if name not in "NC")
    z = recorded("conv")(
        b,
        ordered(b, x, given, f"NC{lengths}"),
        ordered(b, w, filters, f"OI{lengths}"),
        window_strides,
        padding,
        1 if rhs_dilation is None else rhs_dilation,
        feature_group_count,
        1 if lhs_dilation is None else lhs_dilation,
    )
    return ordered(b, z, f"NC{lengths}", wanted)


@JAX.macro("lax.conv_transpose")
def conv_transpose(
    b: Builder,
    lhs: Any,
    rhs: Any,
    strides: Static,
    padding: Static,
    rhs_dilation: Static = None,
    dimension_numbers: Static = None,
    transpose_kernel: Static = False,
) -> Any:
    """Layer of filters over ``lhs`` with ``strides - 1`` zeros between its elements.

    Axes are NHWC and HWIO by default.  Padding "SAME" gives ``stride n`` elements, "VALID"
    ``stride n + max(k - stride, 0)``.  With ``transpose_kernel`` it is the transpose of the
    convolution by the same filters, whose axes then are HWOI.
    """
    x, w = b.promote(lhs, rhs)
    spatial = "HWD"[: x.ndim - 2] if x.ndim < 5 else "HWD"
    order = dimension_numbers or (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C")
    _, filters, _ = axis_orders(order, x.ndim)
    if w.ndim != x.ndim:
        raise ShapeMismatch(f"filters have as many axes as lhs, got {w.shape} for {x.shape}")
    axes = [axis for axis, name in enumerate(filters) if name not in "OI"]
    count = len(axes)
    steps = per_axis(strides, count, "strides")
    dilations = per_axis(1 if rhs_dilation is None else rhs_dilation, count, "rhs_dilation")
    sizes = [span(w.shape[axis], rate) for axis, rate in zip(axes, dilations, strict=True)]
    if isinstance(padding, str):
        padding = [_fractional(padding, k, s) for k, s in zip(sizes, steps, strict=True)]
    if flag(transpose_kernel, "transpose_kernel"):
        w = recorded("swapaxes")(
            b, recorded("flip")(b, w, axes), filters.index("O"), filters.index("I")
        )
    return conv_general_dilated(b, x, w, 1, padding, steps, dilations, order)


def _fractional(padding: str, size: int, stride: int) -> tuple[int, int]:
    """Zeros before and after an axis with ``stride - 1`` zeros between elements."""
    name = padding.upper()
    if name not in ("SAME", "VALID"):
        raise BadArgument("padding is 'SAME', 'VALID' or a pair for each axis")
    total = size + stride - 2 + (max(size - stride, 0) if name == "VALID" else 0)
    halved = name == "SAME" and stride <= size - 1
    before = -(-total // 2) if halved else size - 1
    return before, total - before


def axis_orders(dimension_numbers: Any, ndim: int) -> tuple[str, str, str]:
    """Names of the axes of a layer's input, of its filters and of its result."""
    if dimension_numbers is None:
        axes = string.digits[: max(ndim - 2, 0)]
        return f"NC{axes}", f"OI{axes}", f"NC{axes}"
    orders = tuple(dimension_numbers) if isinstance(dimension_numbers, list | tuple) else ()
    if len(orders) != 3 or any(not isinstance(order, str) for order in orders):
        raise BadArgument("dimension_numbers are three strings, as in ('NHWC', 'HWIO', 'NHWC')")
    given, filters, wanted = orders
    lengths = [set(given) - set("NC"), set(filters) - set("OI"), set(wanted) - set("NC")]
    if any(len(set(order)) != ndim or len(order) != ndim for order in orders) or any(
        names != lengths[0] or len(names) != ndim - 2 for names in lengths
    ):
        raise BadArgument(f"dimension_numbers {orders} do not name {ndim} axes")
    return given, filters, wanted


def ordered(b: Builder, x: Var, given: str, wanted: str) -> Any:
    """The array whose axes are called ``given`` with them as in ``wanted``."""
    order = [given.index(name) for name in wanted]
    return x if order == [*range(x.ndim)] else recorded("transpose")(b, x, order)


@JAX.macro("lax.fft")
def fft(b: Builder, x: Any, fft_type: Static, fft_lengths: Static) -> Any:
    """Discrete Fourier transform over the last axes, padded or cut to ``fft_lengths``.

    ``fft_type`` is "fft", "ifft", "rfft" or "irfft".
    """
    name = fft_type.lower() if isinstance(fft_type, str) else None
    if name not in ("fft", "ifft", "rfft", "irfft"):
        raise BadArgument("fft_type is 'fft', 'ifft', 'rfft' or 'irfft'")
    lengths = integers(fft_lengths, "fft_lengths")
    return recorded(f"fft.{name}n")(b, x, lengths, tuple(range(-len(lengths), 0)))


@JAX.macro("lax.linalg.cholesky")
def cholesky(b: Builder, a: Any, *, symmetrize_input: Static = True) -> Any:
    """Lower Cholesky factor of the Hermitian part of ``a``, or of what its lower triangle gives."""
    x = b.array(a)
    if flag(symmetrize_input, "symmetrize_input"):
        x = recorded("divide")(b, recorded("add")(b, x, adjoint(x)), 2)
    return recorded("cholesky")(b, x)


@JAX.macro("lax.linalg.triangular_solve")
def triangular_solve(
    builder: Builder,
    a: Any,
    b: Any,
    *,
    left_side: Static = False,
    lower: Static = False,
    transpose_a: Static = False,
    conjugate_a: Static = False,
    unit_diagonal: Static = False,
) -> Any:
    """Solution of ``z op(a) = b``, or of ``op(a) z = b`` if ``left_side``.

    ``op(a)`` is one triangle of ``a``, transposed and conjugated as asked.
    """
    below = flag(lower, "lower") != flag(transpose_a, "transpose_a")
    x = recorded("conj")(builder, a) if flag(conjugate_a, "conjugate_a") else a
    x = recorded("matrix_transpose")(builder, x) if transpose_a else x
    solve, turn = recorded("solve_triangular"), recorded("matrix_transpose")
    if flag(left_side, "left_side"):
        return solve(builder, x, b, 0, below, unit_diagonal)
    z = solve(builder, turn(builder, x), turn(builder, b), 0, not below, unit_diagonal)
    return turn(builder, z)
