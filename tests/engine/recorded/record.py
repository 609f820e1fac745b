"""Record what a library gives for its cases: ``python record.py torch|jax|tensorflow``."""

import functools
import json
import math
import operator
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def packed(x: Any) -> dict[str, Any] | None:
    """An array as JSON, its numbers to the last digit; complex ones as their parts in turn."""
    if x is None:
        return None
    array = np.ascontiguousarray(x)
    flat = array.view(array.real.dtype) if array.dtype.kind == "c" else array
    return {
        "dtype": array.dtype.name,
        "shape": list(np.shape(x)),
        "data": flat.reshape(-1).tolist(),
    }


def seed_like(result: np.ndarray) -> np.ndarray:
    """Weights of the results, of no structure."""
    k = np.arange(1, result.size + 1)
    weights = np.cos(k) + (1j * np.sin(2 * k) if result.dtype.kind == "c" else 0)
    return weights.reshape(result.shape).astype(result.dtype)


def differentiable(array: np.ndarray) -> bool:
    """True if gradients live in arrays like this."""
    return array.dtype.kind in "fc"


def evaluated(text: str, names: dict[str, Any]) -> Any:
    """The value of the last line, an expression, after those before it."""
    before, _, last = text.rpartition("\n")
    scope = {"math": math, "functools": functools, "operator": operator} | names
    exec(before, scope)
    return eval(last, scope)


def by_torch(text: str, variables: dict[str, np.ndarray]) -> tuple[Any, dict[str, Any]]:
    """PyTorch's result and gradients."""
    import torch

    torch.set_default_dtype(torch.float64)
    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    given = {name: torch.tensor(value) for name, value in variables.items()}
    for name, value in variables.items():
        given[name].requires_grad_(differentiable(value))
    result = torch.as_tensor(evaluated(text, names | given))
    value = result.detach().resolve_conj().resolve_neg().numpy()
    gradients: dict[str, Any] = {}
    if differentiable(value) and result.requires_grad:
        seed = torch.as_tensor(seed_like(value))
        (seed.conj() * result).real.sum().backward()
        gradients = {
            name: None if x.grad is None else x.grad.resolve_conj().numpy()
            for name, x in given.items()
            if x.requires_grad
        }
    return value, gradients


def by_jax(text: str, variables: dict[str, np.ndarray]) -> tuple[Any, dict[str, Any]]:
    """JAX's result and gradients, which it gives conjugated."""
    import jax
    import jax.flatten_util
    import jax.scipy
    from jax import lax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)
    names = {"jax": jax, "jnp": jnp, "lax": lax}
    moving = {name: jnp.asarray(v) for name, v in variables.items() if differentiable(v)}
    fixed = {name: jnp.asarray(v) for name, v in variables.items() if name not in moving}

    def result(given: Any) -> Any:
        return jnp.asarray(evaluated(text, names | fixed | given))

    value = np.asarray(result(moving))
    if not differentiable(value) or not moving:
        return value, {}
    seed = seed_like(value).conj()
    gradients = jax.grad(lambda given: jnp.real(seed * result(given)).sum())(moving)
    return value, {name: np.conj(np.asarray(g)) for name, g in gradients.items()}


def by_tensorflow(text: str, variables: dict[str, np.ndarray]) -> tuple[Any, dict[str, Any]]:
    """TensorFlow's result and gradients."""
    import tensorflow as tf

    given = {name: tf.constant(value) for name, value in variables.items()}
    with tf.GradientTape() as tape:
        for name, value in variables.items():
            if differentiable(value):
                tape.watch(given[name])
        result = tf.convert_to_tensor(evaluated(text, {"tf": tf, "np": np} | given))
        value = result.numpy()
        if not differentiable(np.asarray(value)):
            return value, {}
        weighted = tf.math.conj(tf.constant(seed_like(np.asarray(value)))) * result
        target = tf.reduce_sum(tf.math.real(weighted))
    moving = {name: given[name] for name, v in variables.items() if differentiable(v)}
    gradients = tape.gradient(target, moving)
    return value, {
        n: None if g is None else tf.convert_to_tensor(g).numpy() for n, g in gradients.items()
    }


RECORDERS = {"torch": by_torch, "jax": by_jax, "tensorflow": by_tensorflow}


def main(library: str) -> None:
    """Evaluate the library's cases, and write its answers."""
    cases = runpy.run_path(str(HERE / "cases" / f"{library}.py"))["CASES"]
    lines = []
    for text, variables in cases:
        arrays = {name: np.asarray(value) for name, value in variables.items()}
        try:
            value, gradients = RECORDERS[library](text, arrays)
        except Exception as error:
            raise RuntimeError(f"{library} does not take {text}") from error
        case = {
            "text": text,
            "variables": {name: packed(v) for name, v in arrays.items()},
            "value": packed(value),
            "gradients": {name: packed(g) for name, g in gradients.items()},
        }
        lines.append(json.dumps(case))
    (HERE / f"{library}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    sys.stdout.write(f"{len(lines)} answers of {library}\n")


if __name__ == "__main__":
    main(sys.argv[1])
