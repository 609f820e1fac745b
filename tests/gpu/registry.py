"""Every operation on a GPU beside NumPy: what fails, and how far apart the results are.

    python -m tests.gpu.registry [--host] [--captured] [--edges] [--most 4] [NAME ...]

``--host`` tries also what is declared to be computed on the host; ``--captured`` captures in a
graph what is declared to be capturable, and compares what its launch gives; ``--edges`` compares
element by element at infinities, NaN, zeros, the largest and the smallest numbers.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.engine.ops.kernel_calls import KernelCall, edge_calls, few_of_each, kernel_calls

#: Roundings by which results may differ, in parts of the largest element.
ROUNDINGS = 4096


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _of_eigenvectors(w: Any, v: Any) -> list[Any]:
    return [w, (v * w[..., None, :]) @ _adjoint(v), _adjoint(v) @ v]


def _of_singular_vectors(u: Any, s: Any, vh: Any) -> list[Any]:
    return [s, (u * s[..., None, :]) @ vh, _adjoint(u) @ u, vh @ _adjoint(vh)]


def _of_reflections(q: Any, r: Any) -> list[Any]:
    return [q @ r, np.abs(np.diagonal(r, 0, -2, -1)), _adjoint(q) @ q]


#: What is unique of results that are not: vectors may have another sign or phase.
UNIQUE: dict[str, Callable[..., list[Any]]] = {
    "eigh": _of_eigenvectors,
    "reduced_svd": _of_singular_vectors,
    "reduced_qr": _of_reflections,
    "orthonormal_complement": lambda q: [q @ _adjoint(q)],
}


@dataclass
class Outcome:
    """How the calls of an operation went."""

    name: str
    calls: int = 0
    #: Largest difference, in roundings of the largest element.
    roundings: float = 0.0
    failed: str = ""
    first: str = ""

    def fail(self, call: KernelCall, why: str) -> None:
        """Keep the first failure."""
        if not self.failed:
            self.failed, self.first = why, str(call)


def differences(call: KernelCall, result: Any, *, each: bool = False) -> float:
    """Roundings between a result and NumPy's, of the largest element or of ``each`` itself.

    Raises: ``AssertionError`` for another type or other places that are not finite.
    """
    parts, expected = _parts(result), _parts(call.result)
    assert len(parts) == len(expected), f"{len(parts)} results, not {len(expected)}"
    for x, y in zip(parts, expected, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape), (
            f"gives {x.dtype}{list(x.shape)}, not {y.dtype}{list(y.shape)}"
        )
    if call.op.name in UNIQUE and all(np.isfinite(y).all() for y in expected):
        parts, expected = (UNIQUE[call.op.name](*p) for p in (parts, expected))
    pairs = zip(parts, expected, strict=True)
    return max([_roundings(x, y, each=each) for x, y in pairs], default=0.0)


def _roundings(x: Any, y: Any, *, each: bool) -> float:
    if y.dtype.kind not in "fc":
        assert np.array_equal(x, y), f"gives {x.ravel()[:4]}, not {y.ravel()[:4]}"
        return 0.0
    finite = np.isfinite(y)
    assert np.array_equal(np.isfinite(x), finite), "is finite elsewhere"
    if y.dtype.kind == "f":
        assert np.array_equal(x[~finite], y[~finite], equal_nan=True), "has other infinities"
    wide = np.result_type(y.dtype, np.float64)
    x, y, limits = x[finite].astype(wide), y[finite].astype(wide), np.finfo(y.dtype)
    sizes = np.maximum(np.abs(y), limits.tiny)
    scale = sizes if each else np.max(sizes, initial=limits.tiny)
    return float(np.max(np.abs(x - y) / scale / limits.eps, initial=0.0))


def _parts(result: Any) -> list[Any]:
    return [np.asarray(x) for x in (result if isinstance(result, list | tuple) else [result])]


def outcomes(
    calls: Sequence[KernelCall], compute: Callable[[KernelCall], Any], *, each: bool = False
) -> Iterator[Outcome]:
    """Make the calls, operation by operation."""
    by_name: dict[str, list[KernelCall]] = {}
    for call in calls:
        by_name.setdefault(call.op.name, []).append(call)
    for name, own in sorted(by_name.items()):
        outcome = Outcome(name)
        for call in own:
            outcome.calls += 1
            try:
                with np.errstate(all="ignore"):
                    apart = differences(call, compute(call), each=each)
            except Exception as error:  # noqa: BLE001 - all failures are listed
                where = traceback.extract_tb(error.__traceback__)[-1]
                line = str(error).splitlines()[0] if str(error) else ""
                at = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
                outcome.fail(call, f"{type(error).__name__}: {line[:300]} ({at})")
                continue
            outcome.roundings = max(outcome.roundings, apart)
            if not apart <= ROUNDINGS:
                outcome.fail(call, f"differs by {apart:.3g} roundings")
        yield outcome


def on_device(x: Any) -> Any:
    """Arrays and numbers of NumPy's, also in lists, as CuPy's."""
    import cupy

    if isinstance(x, list | tuple):
        return type(x)([on_device(item) for item in x])
    return cupy.asarray(x) if isinstance(x, np.ndarray | np.generic) else x


def on_host(x: Any) -> Any:
    """Arrays of CuPy's, also in tuples and lists, as NumPy's."""
    import cupy

    if isinstance(x, list | tuple):
        return [on_host(item) for item in x]
    assert isinstance(x, cupy.ndarray), f"gives {type(x).__name__}, not an array on the device"
    return cupy.asnumpy(x)


def walked(call: KernelCall) -> Any:
    """The result of a kernel on the device."""
    from gradwire_gpu.cupy.namespace import namespace

    return on_host(call.op.kernel(namespace(), *map(on_device, call.operands)))


def captured(call: KernelCall) -> Any:
    """The result of a graph in which the kernel was captured, after it has run once."""
    import cupy
    from gradwire_gpu.cupy.namespace import namespace
    from gradwire_gpu.cupy.requirements import collected, holding

    operands = [on_device(x) for x in call.operands]
    call.op.kernel(namespace(), *operands)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream, collected() as requirements:
        stream.begin_capture()
        try:
            result = call.op.kernel(namespace(), *operands)
        finally:
            graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
    holding(requirements)
    return on_host(result)


def report(title: str, found: Sequence[Outcome]) -> int:
    """Print what failed, then how exact the rest is; the number of operations that failed."""
    failed = [outcome for outcome in found if outcome.failed]
    print(f"\n== {title}: {len(found) - len(failed)} of {len(found)} operations agree")
    for outcome in failed:
        print(f"FAILED {outcome.name}: {outcome.failed}\n    {outcome.first[:300]}")
    least = sorted([o for o in found if not o.failed], key=lambda o: -o.roundings)[:25]
    listed = ", ".join(f"{o.name} {o.roundings:.3g}" for o in least if o.roundings > 8)
    print(f"most roundings: {listed}")
    return len(failed)


def main() -> int:
    """Compute, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--captured", action="store_true")
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    from gradwire_gpu.cupy import host

    start = time.monotonic()
    calls = list(few_of_each(kernel_calls(), asked.most))
    calls = [call for call in calls if not asked.names or call.op.name in asked.names]
    away = [call for call in calls if host.on_host(call.op, call.types)]
    calls = [call for call in calls if not host.on_host(call.op, call.types)]
    failed = report("on the device", list(outcomes(calls, walked)))
    if asked.host:
        report("declared to be of the host", list(outcomes(away, walked)))
    if asked.captured:
        capturable = [call for call in few_of_each(calls, 1) if host.is_capturable(call.op)]
        capturable = [call for call in capturable if call.op.name != "contract"]
        failed += report("captured", list(outcomes(capturable, captured)))
    if asked.edges:
        edges = [c for c in edge_calls() if not asked.names or c.op.name in asked.names]
        edges = [call for call in edges if not host.on_host(call.op, call.types)]
        failed += report("at the edges", list(outcomes(edges, walked, each=True)))
    print(f"{len(calls)} calls in {time.monotonic() - start:.0f} s")
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
