"""Elementary functions of one number give the same bits on a GPU as on this processor."""

from __future__ import annotations

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")
pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.functions.forms import DOUBLES, SINGLES, Form  # noqa: E402
from gradwire_engine.backends.llvm.functions.library import (  # noqa: E402
    NAMES,
    functions_text,
    operands,
    symbol,
)

from tests.engine.backends.llvm.function_arrays import (  # noqa: E402
    SPECIAL,
    arrays,
    held,
    of_all_exponents,
    of_moderate_size,
)
from tests.engine.backends.llvm.gpu_code import ptx  # noqa: E402

pytestmark = pytest.mark.gpu
THREADS = 128


def kernel(name: str, form: Form) -> str:
    """A kernel that calls a function for each of ``n`` elements."""
    kind, arguments = form.element, range(operands(name))
    pointers = ", ".join([f"ptr addrspace(1) %a{k}" for k in arguments])
    loads = [
        f"  %p{k} = getelementptr {kind}, ptr addrspace(1) %a{k}, i64 %i\n"
        f"  %x{k} = load {kind}, ptr addrspace(1) %p{k}\n"
        for k in arguments
    ]
    given = ", ".join([f"{kind} %x{k}" for k in arguments])
    return (
        f"{functions_text([name], form)}\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
        f"define void @kernel({pointers}, ptr addrspace(1) %out, i64 %n) {{\nentry:\n"
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
        f"  %first = mul i32 %block, {THREADS}\n  %index = add i32 %first, %thread\n"
        "  %i = zext i32 %index to i64\n  %inside = icmp slt i64 %i, %n\n"
        "  br i1 %inside, label %element, label %done\nelement:\n"
        f"{''.join(loads)}  %z = call {kind} @{symbol(name, form)}({given})\n"
        f"  %at = getelementptr {kind}, ptr addrspace(1) %out, i64 %i\n"
        f"  store {kind} %z, ptr addrspace(1) %at\n  br label %done\ndone:\n  ret void\n}}\n"
        '!nvvm.annotations = !{!0}\n!0 = !{ptr @kernel, !"kernel", i32 1}\n'
    )


def on_gpu(name: str, form: Form, *xs: np.ndarray) -> np.ndarray:
    """A function of arrays, computed on the GPU."""
    module = cupy.cuda.function.Module()
    module.load(ptx(kernel(name, form), "sm_80").encode())
    operands_there = [cupy.asarray(x) for x in xs]
    z = cupy.empty_like(operands_there[0])
    blocks = (-(-z.size // THREADS),)
    function = module.get_function("kernel")
    function(blocks, (THREADS,), (*operands_there, z, np.int64(z.size)))
    return np.asarray(cupy.asnumpy(z))


@pytest.mark.parametrize("form", [DOUBLES, SINGLES], ids=lambda form: form.element)
@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_gives_the_same_bits(name, form):
    rng = np.random.default_rng(6)
    values = np.concatenate([SPECIAL, of_all_exponents(100_000), of_moderate_size(100_000)])
    xs = [held(rng.permutation(values), form) for _ in range(operands(name))]
    found, expected = on_gpu(name, form, *xs), arrays(name, (form, ""))(*xs)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    number = ~np.isnan(expected)
    assert found[number].tobytes() == expected[number].tobytes()
