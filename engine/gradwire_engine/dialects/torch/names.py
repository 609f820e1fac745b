"""PyTorch's names: ``torch.``, ``torch.special.``, ``torch.linalg.``, ``torch.nn.functional.``."""

from __future__ import annotations

from gradwire_engine.dialects.torch.scalars import PyTorch

_FUNCTIONAL = "torch.nn.functional."
TORCH = PyTorch(
    "torch",
    {"torch.": "torch.", "F.": _FUNCTIONAL, "nn.functional.": _FUNCTIONAL},
    synonyms={"axis": "dim", "keepdims": "keepdim", "x1": "input", "x2": "other"},
)
_entry = TORCH.entry
#: Names of dtypes that only PyTorch has.
DTYPES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "bool": "bool",
}


def _several(names: str, operation: str, parameters: str, *spaces: str) -> None:
    """Enter functions that stand in ``torch`` and under ``spaces``."""
    for name in names.split():
        full = " ".join([name, *[f"{space}.{name}" for space in spaces]])
        _entry(full, operation or name, parameters)


_entry("sin cos tan sinh cosh asin acos atan asinh acosh atanh arcsin arccos arctan", "", "input")
_entry("arcsinh arccosh arctanh sqrt rsqrt square exp log log2 log10 abs absolute", "", "input")
_entry("neg negative positive sign reciprocal ceil floor trunc fix isnan isinf", "", "input")
_entry("isfinite logical_not bitwise_not real imag angle conj deg2rad rad2deg relu", "", "input")
_entry("selu", "", "input")
_entry("celu", "", "input alpha=1.0")
_entry("sgn", "sign", "input")
_entry("conj_physical", "conj", "input")
_entry("resolve_conj resolve_neg", "copy", "input")
_entry("detach", "stop_gradient", "input")
_several("round", "", "input * decimals=0", "special")
_several("erf erfc erfinv expm1 exp2 log1p sinc", "", "input", "special")
_several("sigmoid", "", "input", "nn.functional")
_several("tanh", "", "input", "nn.functional")
_entry("special.expit", "", "input")
_several("xlogy", "", "input other", "special")
_entry("special.xlog1py", "", "input other")
_entry("mul multiply maximum minimum floor_divide remainder", "", "input other")
_entry("gcd lcm", "", "input other")
_entry("signbit isposinf isneginf", "", "input")
_entry("isclose allclose", "", "input other rtol=1e-5 atol=1e-8 equal_nan=False")
_entry("equal", "array_equal", "input other")
_entry("eq", "equal", "input other")
_entry("ne not_equal", "not_equal", "input other")
_entry("gt greater", "greater", "input other")
_entry("ge greater_equal", "greater_equal", "input other")
_entry("lt less", "less", "input other")
_entry("le less_equal", "less_equal", "input other")
_entry("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor", "", "input other")
_entry("atan2 arctan2", "arctan2", "input other")
_entry("hypot logaddexp logaddexp2 nextafter", "", "input other")
_entry("frexp", "", "input")
_entry("pow", "power", "input exponent")
_entry("nan_to_num", "", "input nan=0.0 posinf=None neginf=None")
_entry("clamp clip", "clip", "input min=None max=None")
_entry("complex", "", "real imag")

_REDUCED = "input dim:axis=None keepdim:keepdims=False"
_entry("sum mean prod", "", f"{_REDUCED} * dtype=None")
_entry("all any", "", _REDUCED)
_entry("amax", "max", _REDUCED)
_entry("amin", "min", _REDUCED)
_entry("argmax argmin", "", _REDUCED)
_entry("count_nonzero", "", "input dim:axis=None")
_several("logsumexp", "", "input dim:axis keepdim:keepdims=False", "special")
_entry("cumsum cumprod", "", "input dim:axis * dtype=None")
_entry("diff", "", "input n=1 dim:axis=-1 prepend=None append=None")
_entry("argsort", "", "input dim:axis=-1 descending=False stable=False")

_entry("stack", "", "tensors dim:axis=0")
_entry("hstack vstack dstack row_stack column_stack", "", "tensors")
_entry("hsplit vsplit dsplit", "", "input indices_or_sections")
_entry("unsqueeze", "", "input dim:axis")
_entry("reshape", "", "input shape")
_entry("permute", "transpose", "input dims:axes")
_entry("transpose swapdims", "swapaxes", "input dim0:axis1 dim1:axis2")
_entry("swapaxes", "swapaxes", "input axis0:axis1 axis1:axis2")
_entry("movedim moveaxis", "moveaxis", "input source destination")
_entry("flip", "", "input dims:axis")
_entry("fliplr flipud", "", "input")
_entry("rot90", "", "input k=1 dims:axes=(0,1)")
_entry("roll", "", "input shifts dims:axis=None")
_entry("tile", "", "input dims")
_entry("broadcast_to", "", "input shape")
_entry("broadcast_tensors", "broadcast_arrays", "tensors:arrays")
_entry("unbind", "", "input dim:axis=0")
_entry("ravel", "", "input")
_entry("index_select", "take", "input dim:axis index:indices")
_entry("take", "take", "input index")
_entry("tril triu", "", "input diagonal:k=0")
_entry("diag", "", "input diagonal:k=0")
_entry("diagflat", "", "input offset:k=0")
_entry("diagonal", "", "input offset=0 dim1:axis1=0 dim2:axis2=1")
_entry("trace", "", "input")

_entry("tensor as_tensor", "array", "data dtype=None")
_entry("asarray", "array", "obj dtype=None")
_entry("clone", "copy", "input")
_entry("zeros_like ones_like empty_like", "", "input * dtype=None")
_entry("full", "", "size fill_value * dtype=None")
_entry("full_like", "", "input fill_value * dtype=None")
_entry("eye", "", "n m:M=None * dtype='float64'")
_entry("linspace", "", "start end:stop steps:num * dtype=None")
_entry("logspace", "", "start end:stop steps:num base=10.0 * dtype=None")
_entry("scalar_tensor", "array", "s * dtype='float64'")

_several("matmul", "", "input other", "linalg")
_entry("mm bmm", "matmul", "input mat2")
_entry("mv", "matmul", "input vec")
_entry("dot", "", "input tensor")
_entry("vdot", "", "input other")
_entry("inner", "", "input other")
_entry("outer ger", "outer", "input vec2")
_entry("kron", "", "input other")
_entry("tensordot", "", "a b dims:axes=2")
_entry("linalg.cross", "cross", "input other * dim:axis=-1")
_entry("linalg.vecdot", "vecdot", "x y * dim:axis=-1")
_entry("linalg.multi_dot", "", "tensors")
for _name in ("det", "slogdet"):
    _entry(_name, _name, "input")
    _entry(f"linalg.{_name}", _name, "A")
_entry("inverse", "inv", "input")
_entry("linalg.inv", "inv", "A")
_entry("matrix_power linalg.matrix_power", "matrix_power", "input n")
_entry("linalg.diagonal", "diagonal", "A * offset=0 dim1:axis1=-2 dim2:axis2=-1")
_entry("linalg.norm", "norm", "input ord=None dim:axis=None keepdim:keepdims=False")
_entry("linalg.vector_norm", "", "x ord=2 dim:axis=None keepdim:keepdims=False")
_entry("linalg.cholesky", "", "input * upper=False")
_entry("cholesky", "", "input upper=False")

_entry("nn.functional.relu nn.functional.relu6 nn.functional.selu", "", "input")
_entry("nn.functional.silu nn.functional.mish nn.functional.softsign", "", "input")
_entry("nn.functional.hardswish nn.functional.hardsigmoid nn.functional.logsigmoid", "", "input")
_entry("nn.functional.elu nn.functional.celu", "", "input alpha=1.0")
_entry("nn.functional.leaky_relu", "", "input negative_slope=0.01")
_entry("nn.functional.hardtanh", "", "input min_val=-1.0 max_val=1.0")
_entry("nn.functional.gelu", "", "input * approximate='none'")

_several("pixel_shuffle", "", "input upscale_factor", "nn.functional")
_several("pixel_unshuffle", "", "input downscale_factor", "nn.functional")
_entry(
    "nn.functional.grid_sample",
    "",
    "input grid mode='bilinear' padding_mode='zeros' align_corners=False",
)
_entry("nn.functional.affine_grid", "", "theta size align_corners=False")
_entry("nn.functional.local_response_norm", "", "input:x size alpha=1e-4 beta=0.75 k=1.0")
_entry(
    "nn.functional.group_norm",
    "",
    "input:x num_groups:groups weight=None bias=None eps:epsilon=1e-5",
)

_several("i0 digamma", "", "input", "special")
_entry("lgamma special.gammaln", "gammaln", "input")
_entry("special.psi", "digamma", "input")
_several("polygamma", "", "n input:x", "special")
_entry("mvlgamma special.multigammaln", "multigammaln", "input p:d")
_entry("special.i0e special.i1 special.i1e special.ndtr special.ndtri special.erfcx", "", "input")
_entry("special.log_ndtr", "", "input")
_entry("special.bessel_j0", "j0", "input")
_entry("special.bessel_j1", "j1", "input")
_entry("special.bessel_y0", "y0", "input")
_entry("special.bessel_y1", "y1", "input")
_entry("special.modified_bessel_i0", "i0", "input")
_entry("special.modified_bessel_i1", "i1", "input")
_entry("special.modified_bessel_k0", "k0", "input")
_entry("special.modified_bessel_k1", "k1", "input")
_entry("special.zeta", "", "input other")
_entry("special.legendre_polynomial_p", "eval_legendre", "input:x n")
_entry("special.chebyshev_polynomial_t", "eval_chebyt", "input:x n")
_entry("special.chebyshev_polynomial_u", "eval_chebyu", "input:x n")
_entry("special.hermite_polynomial_h", "eval_hermite", "input:x n")
_entry("special.hermite_polynomial_he", "eval_hermitenorm", "input:x n")
_entry("special.laguerre_polynomial_l", "eval_laguerre", "input:x n")
_entry("copysign fmax fmin fmod", "", "input other")
_entry("heaviside", "", "input values")
_entry("float_power", "", "input exponent")
_entry("lerp", "", "input end weight")
_entry("nansum", "", f"{_REDUCED} * dtype=None")
_entry("nanmean", "", _REDUCED)
_entry("block_diag", "", "tensors:arrs")
_entry("matrix_exp linalg.matrix_exp", "expm", "input")
_entry("linalg.eig linalg.eigvals linalg.svdvals", "", "A")
_entry("linalg.eigh linalg.eigvalsh", "", "A UPLO='L'")
_entry("linalg.svd", "", "A full_matrices=True")
_entry("pinverse", "pinv", "input rcond=1e-15")
_entry("linalg.cond", "", "A p=None")
_entry("linalg.tensorinv", "", "A ind=2")
_entry("linalg.tensorsolve", "", "A B dims:axes=None")

_entry("nn.functional.embedding", "embedding", "input:ids weight padding_idx=None")
_entry(
    "nn.functional.embedding_bag",
    "embedding_bag",
    "input:ids weight offsets=None * mode='mean' per_sample_weights=None "
    "include_last_offset=False padding_idx=None",
)
_entry("nn.functional.glu", "", "input dim:axis=-1")

_entry("logcumsumexp", "", "input dim:axis")
_entry("special.entr", "", "input")
_entry("special.gammainc igamma", "gammainc", "input other")
_entry("special.gammaincc igammac", "gammaincc", "input other")
_entry("trapezoid trapz", "trapezoid", "y x=None * dx=1.0 dim:axis=-1")
_entry("cumulative_trapezoid", "", "y x=None * dx=1.0 dim:axis=-1")
_entry("cov", "", "input * correction:ddof=1 fweights=None aweights=None")
_entry("corrcoef", "", "input")
_entry("tensor_split", "array_split", "input indices_or_sections dim:axis=0")
_entry("vander", "", "x N=None increasing=False")
_entry("bitwise_left_shift bitwise_right_shift", "", "input other")
_entry("masked_fill", "where", "input:y mask:condition value:x")

for _name in ("fft.fft", "fft.ifft", "fft.rfft", "fft.irfft"):
    _entry(_name, _name, "input n=None dim:axis=-1 norm=None")
    _entry(f"{_name}2", f"{_name}2", "input s=None dim:axes=(-2,-1) norm=None")
    _entry(f"{_name}n", f"{_name}n", "input s=None dim:axes=None norm=None")
_entry("fft.fftshift", "fft.fftshift", "input dim:axes=None")
_entry("fft.ifftshift", "fft.ifftshift", "input dim:axes=None")
_entry("fft.hfft", "fft.hfft", "input n=None dim:axis=-1 norm=None")
_entry("fft.ihfft", "fft.ihfft", "input n=None dim:axis=-1 norm=None")
_entry("fft.fftfreq", "fft.fftfreq", "n d=1.0")
_entry("fft.rfftfreq", "fft.rfftfreq", "n d=1.0")
