"""Every operation that is differentiated anywhere is checked here, if NumPy or SciPy has it."""

import re
from pathlib import Path

#: What autograd, JAX, PyTorch, TensorFlow, CasADi and ONNX differentiate, together.
OPERATIONS = """
elementwise arithmetic: add; sub; mul; div; neg; pow; pow_const; remainder; floor_divide (zero);
  maximum; minimum; fmax; fmin; abs; sign (zero); floor/ceil/round (zero); clip; reciprocal;
  square; hypot; copysign; where; nan_to_num; lerp; heaviside (zero)
exp, log, trig, hyperbolic: sqrt; cbrt; rsqrt; exp; exp2; expm1; log; log2; log10; log1p;
  logaddexp; logaddexp2; sin; cos; tan; arcsin; arccos; arctan; sinh; cosh; tanh; arcsinh;
  arccosh; arctanh; arctan2; sinc; deg2rad
activations and losses: sigmoid; logit; relu; relu6; leaky_relu; elu; selu; celu; softplus;
  softsign; silu; gelu; mish; hardswish/hardsigmoid/hardtanh; log_sigmoid; softmax; log_softmax;
  glu; layer_norm; cross entropy (labels); binary cross entropy with logits; huber / smooth l1
special functions: erf; erfc; erfinv; erfcx; gammaln; gamma; digamma; polygamma; multigammaln;
  ndtr; ndtri; log_ndtr; i0; i1; i0e; i1e; j0/j1; y0/y1; jv (integer order); iv; k0/k1; zeta in
  q; gammainc in x; gammainc in a; beta / betaln; betainc in x; betainc in a,b; xlogy; xlog1py;
  entr; rel_entr/kl_div; expi/exp1; spence; dawsn; fresnel; hyp1f1 in x; hyp2f1 in x; lambertw;
  owens_t
reductions: sum; mean; prod; prod with a zero; max; min; var; std (ddof 1); logsumexp; norm 2;
  norm 1 / inf; norm at 0 (finite?); nansum / nanmean; median; quantile; nanmax; ptp; argmax
  (zero); trapezoid; average (weights); cov / corrcoef
sort and cumulative: sort; argsort gather; top_k; partition; cumsum; cumprod; cummax;
  cumlogsumexp; diff; gradient; interp (1-d table); searchsorted gather; histogram (zero);
  convolve 1d
linear algebra: dot vec; matmul; matvec; batched matmul; outer; inner/tensordot; einsum; kron;
  trace; transpose; cross; vander; inv; pinv; det; slogdet; solve; solve_triangular; cho_solve;
  cholesky; qr; lu; lstsq; eigh values; eigh vectors (abs); eigvalsh; eig values (abs); svd
  singular values; svd U (abs); nuclear norm; matrix_power; expm; sqrtm; logm/funm;
  solve_sylvester; solve_banded / tridiagonal; multi_dot; tril / triu; diag / diagonal;
  block_diag; cond number; toeplitz; cdist
shape, index, gather, scatter: reshape; ravel; expand/squeeze; broadcast_to; concatenate; stack;
  split; tile; repeat; roll; flip; rot90; moveaxis/swapaxes; pad constant; pad reflect/edge;
  slice (strided); negative-step slice; gather by integer array; 2-d index pairs; boolean mask;
  take_along_axis; scatter set; scatter add; scatter max/min; scatter multiply; dynamic slice;
  dynamic update slice; meshgrid; linspace in ends; select / piecewise
segment and sparse: segment_sum; segment_max/min; segment_prod; segment mean; embedding lookup;
  sparse (COO) @ dense; sparse solve
convolution, pooling, Fourier, image: conv2d (stride, padding); conv transpose; grouped /
  depthwise; max pool; average pool; im2col / unfold; resize bilinear; grid sample /
  map_coordinates; pixel shuffle; batch norm; attention; fft (abs); ifft (real); rfft (abs);
  irfft; fft2 / fftn; fftshift
complex: real/imag/conj; complex mul/div; complex abs/angle; complex exp/log/sqrt; complex pow;
  complex matmul; complex solve
control flow and higher-order (value-dependent): scan with carry; fixed-count loop (reverse);
  while, reverse mode; cond; switch; map / vmap; associative scan; implicit root (custom_root);
  ODE solve (adjoint); linear solve given as matvec; checkpoint / remat; gradient inside a
  gradient
random (reparametrised, fixed key): normal (location, scale); gamma in shape; Gumbel softmax;
  dropout
"""
#: Those that a program has, but neither NumPy nor SciPy as a function of arrays.
ELSEWHERE = {
    "norm at 0 (finite?)": "a convention, which differences cannot tell",
    "sparse solve": "gradwire.program, with sparse.coo_solve",
    "conv transpose": "gradwire.program, with conv_transpose",
    "resize bilinear": "gradwire.program, with resize_image",
    "scan with carry": "gradwire.scan, in test_control",
    "fixed-count loop (reverse)": "gradwire.fori, in test_control",
    "while, reverse mode": "gradwire.while_loop, in test_control",
    "cond": "gradwire.cond, in test_control",
    "switch": "gradwire.switch, in test_control",
    "map / vmap": "gradwire.vmap, in test_transforms",
    "associative scan": "gradwire.program, with lax.associative_scan",
    "implicit root (custom_root)": "gradwire.custom_root, in test_solvers",
    "ODE solve (adjoint)": "gradwire.odeint, in test_solvers",
    "linear solve given as matvec": "gradwire.program, with cg",
    "checkpoint / remat": "gradwire.checkpoint, in test_control",
    "gamma in shape": "gradwire.program, with random.gamma",
}


def operations() -> set[str]:
    text = re.sub(r"\n  +", " ", OPERATIONS.strip())
    return {name for line in text.splitlines() for name in line.partition(": ")[2].split("; ")}


def checked() -> set[str]:
    found = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        found |= set(re.findall(r'^ +\(?\s*"([^"]+)",', path.read_text(), flags=re.MULTILINE))
    return found


def test_every_operation_is_checked_or_said_to_be_elsewhere():
    assert len(operations()) == 268
    assert operations() - checked() == ELSEWHERE.keys()
