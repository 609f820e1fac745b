"""Names of the items that functions of several results give, as the libraries' named tuples do."""

from __future__ import annotations

from typing import Any

#: The items' names, and the functions that give such lists.
_NAMED = {
    "sign logabsdet": "slogdet torch.slogdet torch.linalg.slogdet",
    "sign log_abs_determinant": "tf.linalg.slogdet",
    "eigenvalues eigenvectors": "eigh eig torch.linalg.eigh torch.linalg.eig",
    "U S Vh": "svd torch.linalg.svd",
    "U S V": "torch.svd",
    "Q R": "qr torch.linalg.qr torch.qr",
    "q r": "tf.linalg.qr",
    "lu p": "tf.linalg.lu",
    "P L U": "torch.linalg.lu torch.lu_unpack",
    "LU pivots": "torch.linalg.lu_factor",
    "LU pivots info": "torch.linalg.lu_factor_ex",
    "mantissa exponent": "torch.frexp",
    "solution residuals rank singular_values": "torch.linalg.lstsq",
    "solution cloned_coefficient": "torch.triangular_solve",
    "inverse info": "torch.linalg.inv_ex",
    "L info": "torch.linalg.cholesky_ex",
    "result info": "torch.linalg.solve_ex",
    "min max": "torch.aminmax",
    "hist bin_edges": "torch.histogram",
    "values indices": "tf.math.top_k torch.topk torch.sort torch.max torch.min torch.median "
    "torch.nanmedian torch.mode torch.kthvalue torch.cummax torch.cummin",
}
_BY_FUNCTION = {
    function: tuple(names.split())
    for names, functions in _NAMED.items()
    for function in functions.split()
}


class Results(list[Any]):
    """A list whose items have names, too."""

    names: tuple[str, ...] = ()


def with_names(function: str, result: Any) -> Any:
    """The result of a function, with the names of its items where they have some."""
    if type(result) is not list:
        return result
    names = _BY_FUNCTION.get(function, ())
    if len(result) != len(names):
        return result
    results = Results(result)
    results.names = names
    return results
