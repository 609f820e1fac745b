"""Machine instructions that a GPU executes for each element: counted in the code, not measured.

``PYTHONPATH=benchmarks:engine python -m gpu.executed --nvdisasm PATH``

NVIDIA's ``ptxas`` makes machine code of the launches, and ``nvdisasm`` writes it as text; both are
of the CUDA toolkit, and need no GPU.
"""

from __future__ import annotations

import argparse
import heapq
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_gpu.cupy.groups import kernels_of
from gradwire_gpu.nvptx.compiler import ptx
from gradwire_gpu.nvptx.launches import Launch
from measure import table
from peers.workloads import CHAIN

from gpu.tools import LIMITS, go_on

#: Elements: enough for a thread to begin several together.
_ELEMENTS = 1 << 22
_FUNCTIONS = "sqrt exp expm1 exp2 log log1p log2 sin cos tan tanh sinh cosh erf erfc".split()
_FUNCTIONS += "arcsin arccos arctan arcsinh arccosh arctanh".split()
#: Programs of one vector ``x``, and what they are differentiated with respect to.
PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "chain: values": (CHAIN.replace("sum(h - b)", "h - b"), ()),
    "chain: sum and gradient": (CHAIN, ("x",)),
    "-x": ("-x", ()),
    **{f"{name}(x)": (f"{name}(x)", ()) for name in _FUNCTIONS},
    "1 / x": ("1 / x", ()),
}
_LABEL = re.compile(r"^(\.L_x_\d+):")
_LINE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@(?P<guard>\S+)\s+)?(?P<code>[^;]+?)\s*;")
_JUMP = re.compile(r"^BRA\b.*`\((\.L_x_\d+)\)")
_ENDS = re.compile(r"^(EXIT|RET|CALL)\b")


class Block(NamedTuple):
    """Instructions without a jump between them, and the numbers of the blocks that may follow."""

    instructions: list[str]
    followers: list[int]


def blocks_of(listing: str) -> list[Block]:
    """The blocks of the first function of a listing; calls are of what is seldom, and end one."""
    made: list[list[str]] = [[]]
    labels: dict[str, int] = {}
    jumps: dict[int, tuple[str | None, bool]] = {}
    for line in listing.splitlines():
        if label := _LABEL.match(line):
            made.append([])
            labels[label[1]] = len(made) - 1
        elif found := _LINE.match(line):
            code = found["code"]
            made[-1].append(code)
            jump = _JUMP.match(code)
            if jump or _ENDS.match(code):
                jumps[len(made) - 1] = jump and jump[1], found["guard"] is not None
                made.append([])
    blocks = []
    for number, instructions in enumerate(made):
        target, goes_on = jumps.get(number, (None, True))
        followers = [labels[target]] if target in labels else []
        if goes_on and number + 1 < len(made):
            followers.append(number + 1)
        blocks.append(Block([code for code in instructions if code != "NOP"], followers))
    return blocks


def usual_pass(blocks: Sequence[Block]) -> list[str]:
    """The instructions of the shortest cycle through the block that stores most.

    What is seldom is behind jumps that are not taken here, and takes longer.
    """
    start = max(range(len(blocks)), key=lambda k: _count(blocks[k].instructions, "STG"))
    before: dict[int, int] = {}
    lengths = {start: 0}
    waiting = [(0, start)]
    while waiting:
        length, number = heapq.heappop(waiting)
        if length > lengths[number]:
            continue
        length += len(blocks[number].instructions)
        for follower in blocks[number].followers:
            if follower == start:
                return [code for k in _path(before, number) for code in blocks[k].instructions]
            if length < lengths.get(follower, length + 1):
                lengths[follower], before[follower] = length, number
                heapq.heappush(waiting, (length, follower))
    raise ValueError("no loop stores anything")


def _path(before: dict[int, int], number: int) -> list[int]:
    path = [number]
    while path[-1] in before:
        path.append(before[path[-1]])
    return path[::-1]


def _count(instructions: Sequence[str], kind: str) -> int:
    return sum(code.startswith(kind) for code in instructions)


def largest_launch(text: str, sources: Sequence[str]) -> Launch:
    """The launch of most threads of a program of a vector of floats."""
    engine = Engine(LIMITS)
    query = Query("gradient", sources=list(sources)) if sources else Query("evaluate")
    call = engine.call(engine.parse(text), {"x": Leaf(np.zeros(_ELEMENTS, "f"))}, query)
    call.compile(go_on)
    kernels = kernels_of(call.entry.paths[0].executable.tape, go_on)
    launches = [order for kernel in kernels for order in kernel.program.orders]
    return max((x for x in launches if isinstance(x, Launch)), key=lambda x: x.blocks)


def listed(text: str, processor: str, ptxas: str, nvdisasm: str) -> str:
    """The machine code of a launch's text."""
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx(text))
        subprocess.run([ptxas, "-arch", processor, str(source), "-o", str(made)], check=True)
        return subprocess.run(
            [nvdisasm, "-c", str(made)], check=True, capture_output=True, text=True
        ).stdout


def _tool(name: str) -> str | None:
    """A program of the toolkit: of a wheel, or the installed one."""
    packages = find_spec("nvidia")
    for folder in (packages and packages.submodule_search_locations) or ():
        for found in sorted(Path(folder).glob(f"*/bin/{name}")):
            return str(found)
    return shutil.which(name)


def _lines(processor: str, ptxas: str, nvdisasm: str) -> Iterator[Sequence[str]]:
    for what, (text, sources) in PROGRAMS.items():
        launch = largest_launch(text, sources)
        executed = usual_pass(blocks_of(listed(launch.text, processor, ptxas, nvdisasm)))
        elements = _count(executed, "LDG")
        kinds = Counter(re.split(r"[ .]", code)[0] for code in executed)
        shown = ", ".join([f"{n / elements:.3g} {kind}" for kind, n in kinds.most_common(8)])
        yield what, f"{len(executed) / elements:.4g}", str(elements), shown


def main() -> None:
    """Read the options and print a table."""
    parser = argparse.ArgumentParser(description="Count the instructions of launches.")
    parser.add_argument("--processor", default="sm_90", help="whose machine code is counted")
    parser.add_argument("--ptxas", default=_tool("ptxas"), help="NVIDIA's assembler")
    parser.add_argument("--nvdisasm", default=_tool("nvdisasm"), help="NVIDIA's disassembler")
    options = parser.parse_args()
    for name in ("ptxas", "nvdisasm"):
        if getattr(options, name) is None:
            parser.error(f"{name}, of the CUDA toolkit, is not installed; say where: --{name} PATH")
    head = ["", "instructions an element", "elements of a pass", "the commonest, an element"]
    lines = [*_lines(options.processor, options.ptxas, options.nvdisasm)]
    print(table(f"machine code for {options.processor}", head, lines))


if __name__ == "__main__":
    main()
