"""Kernels written by hand are accepted by LLVM and by NVIDIA's assembler."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("llvmlite")

from tests.engine.gpu.nvptx import kernels
from tests.engine.gpu.nvptx.assembling import TARGETS, assembled, assembles, inexact, ptx_of
from tests.engine.gpu.nvptx.instructions import ALL, kernels_of

targets = pytest.mark.parametrize("target", TARGETS)


@targets
@pytest.mark.parametrize("name", kernels.ALL)
def test_llvm_makes_ptx_for_the_target(name, target):
    ptx = ptx_of(kernels.ALL[name], target)
    assert f".target {target}" in ptx
    assert f".visible .entry {name}(" in ptx


@assembles
@targets
@pytest.mark.parametrize("name", kernels.ALL)
def test_the_assembler_accepts_it_without_a_warning(name, target):
    (found,) = assembled(ptx_of(kernels.ALL[name], target), target).items()
    assert found[0] == name
    assert 0 < found[1].registers <= 64
    assert found[1].shared_bytes == (256 if name == "block_sum" else 0)


#: So many values live at once that 24 registers do not hold them.
CROWDED = "\n".join(
    [
        "define ptx_kernel void @crowded(ptr addrspace(1) %x) {",
        *(f"  %p{i} = getelementptr double, ptr addrspace(1) %x, i64 {i}" for i in range(40)),
        *(f"  %v{i} = load volatile double, ptr addrspace(1) %p{i}" for i in range(40)),
        *(f"  store volatile double %v{i}, ptr addrspace(1) %p{39 - i}" for i in range(40)),
        "  ret void",
        "}",
    ]
)


@assembles
@targets
def test_registers_that_are_spilled_are_an_error(target):
    ptx = ptx_of(CROWDED, target)
    assembled(ptx, target)
    with pytest.raises(AssertionError, match="spill"):
        assembled(ptx, target, "--maxrregcount=24")


@assembles
@targets
def test_what_is_no_ptx_is_an_error(target):
    ptx = re.sub(r"add.rn.f64", "add.rn.f65", ptx_of(kernels.SAXPY, target))
    with pytest.raises(AssertionError, match="f65"):
        assembled(ptx, target)


@pytest.mark.thorough
@targets
def test_instructions_round_as_the_host_does(target):
    assert inexact(ptx_of(kernels_of(ALL), target)) == []


@targets
def test_instructions_that_do_not_are_found(target):
    """An exponential of the processor's own is right to some digits."""
    exponential = (
        "%s = fptrunc double %m to float\n"
        "  %e = call float @llvm.nvvm.ex2.approx.f(float %s)\n"
        "  %r = fpext float %e to double"
    )
    text = kernels.SAXPY.replace("%r = fadd double %m, %vy", exponential)
    ptx = ptx_of(f"{text}declare float @llvm.nvvm.ex2.approx.f(float)\n", target)
    assert [one.split()[0] for one in inexact(ptx)] == ["ex2.approx.f32"]


@pytest.mark.thorough
@assembles
@targets
def test_the_assembler_knows_every_instruction(target):
    assert len(assembled(ptx_of(kernels_of(ALL), target), target)) == len(ALL)
