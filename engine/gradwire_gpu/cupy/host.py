"""Which operations the host computes though there is a GPU, and which no graph can capture."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.tape import ArrayType, Type

#: CuPy has no such function of SciPy's.
ABSENT = frozenset(
    "agm airy_function banded_solution betaincc betainccinv binomial_quantile "
    "continuous_riccati_solution dawsn discrete_riccati_solution elliprc elliprd elliprf "
    "elliprg elliprj erfi fresnel_c fresnel_s hankel1_complex hankel2_complex hyp0f1 hyp1f1 "
    "hyp2f1 hyperu iv ive jv kv kve logm modstruve ndtri_exp orthogonal_polynomial "
    "poisson_quantile spence spherical_in spherical_jn spherical_kn sqrtm stdtr stdtrit "
    "stein_solution struve sylvester_solution times_wofz wofz yv".split()
)
#: CuPy's function orders its results otherwise, takes one matrix after the other, or does not
#: reduce large angles exactly.
OTHERWISE = frozenset("coo_solution cosdg cotdg eig lu sindg tandg".split())
#: CuPy's function takes real numbers only.
REAL = frozenset("erf erfc erfcx exp1 expi spherical_yn".split())
#: How many terms or steps are computed depends on the operands' values.
DEPENDING = frozenset(
    "agm_share algebraic_integral beta_density betainc betainc_in_ab digamma_rise expm "
    "gamma_density gammainc_in_a iv_in_order ive_in_order jv_in_order kv_in_order kve_in_order "
    "log_beta_density log_gamma_density nonzero_indices owens_t "
    "series_in_parameters stdtr_in_df yv_in_order".split()
)
#: A library of CUDA's is called, for which the host waits, be it to see whether it has failed.
WAITING = frozenset(
    "cholesky cofactors cofactors_along det eigh eigvalsh fourth_derivative_of_det inv "
    "log_absolute_determinant "
    "orthonormal_complement parted pseudoinverse reduced_qr reduced_svd slogdet solution svdvals "
    "unitary_factor".split()
)
#: CuPy calls no cuBLAS while a graph is captured, nor puts a list of arrays together.
UNCAPTURED = frozenset("congruence matmul sampled_product stacked triangular_solution".split())


def on_host(op: Op, types: Sequence[Type] = ()) -> bool:
    """True if the host computes ``op`` of operands of these types."""
    if op.name in REAL:
        return any(isinstance(kind, ArrayType) and kind.dtype.kind == "c" for kind in types)
    return op.name in ABSENT or op.name in OTHERWISE


def is_capturable(op: Op, types: Sequence[Type] = ()) -> bool:
    """True if a graph captures the kernel, for operands of these types.

    The kernel neither waits for the device nor copies to it nor calls cuBLAS: a contraction is
    captured by other means. A loop that is no kernel asks how many passes it makes.
    """
    if isinstance(op, Loop):
        return False
    return not (op.name in DEPENDING | WAITING | UNCAPTURED or on_host(op, types))
