"""Recorded answers that ours differ from, each with the reason."""

#: Expressions of PyTorch's by reason.
_TORCH: dict[str, tuple[str, ...]] = {
    "where a base is negative its exponent has slope 0, not NaN": ("torch.pow(x, other)",),
    "at a tie the first argument has the derivative": (
        "torch.maximum(tied, other)",
        "torch.minimum(tied, other)",
    ),
    "they round the slope 1/6 to float32": ("F.hardsigmoid(4 * x)",),
    "a logarithm that counts as -100 in the value does so in the slope of the target, too": (
        "F.binary_cross_entropy(torch.detach(u), p)",
    ),
    "at (0, 0) the slopes of xlogy are 0, not NaN": (
        "torch.special.xlogy(u, u)",
        "torch.xlogy(origin, holed)",
    ),
    "only the triangle that is read has a derivative": (
        "torch.linalg.eigh(spd)[0]",
        "torch.linalg.eigvalsh(spd)",
    ),
    "the least subgradient at the origin, not NaN": ("torch.hypot(origin, holed)",),
    "a branch of where that was not taken contributes exactly 0": (
        "torch.where(edge > 0, torch.sqrt(edge), 0.0)",
    ),
    "of nothing but -inf the slopes are 0, not NaN": (
        "torch.logsumexp(nothing, 0)",
        "torch.logaddexp(nothing, nothing)",
    ),
    "the adjugate is the derivative of a singular matrix, too": ("torch.linalg.det(flat)",),
}
#: Why the value or a gradient of an expression differs, by library and text.
EXCEPTIONS: dict[tuple[str, str], str] = {
    (library, text): reason
    for library, reasons in (("torch", _TORCH),)
    for reason, texts in reasons.items()
    for text in texts
}
