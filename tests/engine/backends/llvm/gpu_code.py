"""Compiles LLVM text for NVIDIA's GPUs, which needs none."""

from __future__ import annotations

import llvmlite.binding as llvm

TRIPLE = "nvptx64-nvidia-cuda"


def ptx(text: str, processor: str) -> str:
    """A module's code for a GPU such as ``sm_80``, optimised as kernels are."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    machine = target.create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(f'target triple = "{TRIPLE}"\n{text}')
    module.data_layout = str(machine.target_data)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    return str(machine.emit_assembly(module))
