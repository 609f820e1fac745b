"""Recorded answers that ours differ from, each with the reason."""

from tests.tables import table

#: Expressions of TensorFlow's by reason.
_TENSORFLOW: dict[str, tuple[str, ...]] = table(__file__, "tensorflow")
#: Expressions of PyTorch's by reason.
_TORCH: dict[str, tuple[str, ...]] = table(__file__, "torch")
#: Expressions of JAX's by reason.
_JAX: dict[str, tuple[str, ...]] = table(__file__, "jax")
#: Why the value or a gradient of an expression differs, by library and text.
EXCEPTIONS: dict[tuple[str, str], str] = {
    (library, text): reason
    for library, reasons in (("jax", _JAX), ("tensorflow", _TENSORFLOW), ("torch", _TORCH))
    for reason, texts in reasons.items()
    for text in texts
}
