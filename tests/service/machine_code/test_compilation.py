"""Machine code in worker processes: compiled in a child process, which may die."""

import logging
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query, native
from gradwire_engine.polling import no_deadline
from gradwire_engine.shared_budget import SharedBudget
from gradwire_service.app import create_app
from gradwire_service.machine_code import CodeCache, compilation
from gradwire_service.machine_code.compilation import (
    CompilationFailed,
    Compiler,
    GpuCompiler,
    compile_apart,
    is_compiled,
)
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics

from tests.fleet.fleets import replica
from tests.processes import until
from tests.service.workers.processes import workers

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.compiler import Postponed, Source

pytestmark = pytest.mark.skipif(
    not (native.is_available() and sys.platform == "linux"), reason="no machine code here"
)

PROGRAM = "y = x\nfor i in range(3):\n    y = tanh(sin(y) * y + exp(-y * y))\nsum(y)"
#: A metric, when something is compiled.
COMPILED = 'gradwire_kernels_total{outcome="compiled"}'
ANSWER = """define void @kernel(ptr %pointers) {
  %to = load ptr, ptr %pointers
  store i64 42, ptr %to
  ret void
}
"""


def descendants():
    """The ids of this process's children, whoever started them."""
    found = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in found for pid in pids}


def test_texts_come_back_as_object_files():
    before = descendants()
    sources = [Source(ANSWER), Source(ANSWER.replace("42", "43"), optimised=False)]
    found, seconds = compile_apart(sources)
    assert [code[:4] for code in found] == [b"\x7fELF"] * 2
    assert found[0] != found[1]
    assert seconds > 0
    assert descendants() == before


@pytest.mark.parametrize("text", ["no code", ANSWER.replace("store i64 42", "store i64 %none")])
def test_what_cannot_be_compiled_fails_here_alone(text):
    before = descendants()
    with pytest.raises(CompilationFailed):
        compile_apart([Source(ANSWER), Source(text)])
    assert descendants() == before


@pytest.mark.thorough
def test_what_another_process_forks_compiles_beside_the_threads_of_libraries():
    """A fork beside threads of OpenBLAS has a lock that nobody opens: in 20, one of both hung."""
    done = subprocess.run([sys.executable, "-c", THREADED], capture_output=True, check=True)
    assert done.stdout == b"20"


THREADED = f"""
import numpy as np
from threadpoolctl import threadpool_limits
from gradwire_service.machine_code.compilation import CompilationFailed, CompilingProcess
from gradwire_engine.backends.llvm.compiler import Source
threadpool_limits(2)
compiling, a = CompilingProcess(), np.ones((600, 600))
for number in range(20):
    a = a @ a / 600
    (code,), seconds = compiling.compile([Source({ANSWER!r}.replace("42", str(number)))])
    assert code[:4] == b"\\x7fELF" and seconds > 0
    a = a @ a / 600
try:
    compiling.compile([Source("no code")])
except CompilationFailed:
    print(number + 1, end="")
"""


ORPHANING = """
import time
from gradwire_engine import native
from gradwire_service.machine_code import compilation
compilation._SECONDS = 1
compilation._received = lambda connection: time.sleep(3600)
native.compile_texts = lambda sources: time.sleep(3600)
compilation.compile_apart([None])
"""


@pytest.mark.thorough
def test_a_child_whose_parent_was_killed_ends_by_itself():
    parent = subprocess.Popen([sys.executable, "-c", ORPHANING])
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    while not (found := children.read_text().split()):
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    until(lambda: has_ended(found[0]))


def has_ended(pid):
    try:
        return "zombie" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_child_that_is_killed_fails_here_alone():
    long = "\n".join([ANSWER.replace("@kernel", f"@kernel{number}") for number in range(20_000)])
    before = descendants()
    with ThreadPoolExecutor(1) as pool:
        compiled = pool.submit(compile_apart, [Source(long)])
        while not (child := descendants() - before):
            assert not compiled.done()
        os.kill(child.pop(), signal.SIGKILL)
        with pytest.raises(CompilationFailed):
            compiled.result()


def test_a_child_has_none_of_our_connections():
    """Waiting for the other end of one to close would mean waiting for the child, too."""
    reading, writing = os.pipe()
    os.close(writing)
    compile_apart([Source(ANSWER)])
    assert os.read(reading, 1) == b""
    os.close(reading)


@pytest.fixture
def compiler():
    """Compiles what is not in a cache of its own."""
    return Compiler(CodeCache(SharedBudget(1 << 24), Metrics()))


@pytest.mark.thorough
def test_a_child_that_answers_too_much_fails_here_alone(monkeypatch):
    before = descendants()
    monkeypatch.setattr(compilation, "_MOST_CODE_BYTES", 1000)
    with pytest.raises(CompilationFailed) as caught:
        compile_apart([Source(ANSWER)] * 100)
    assert caught.value.seconds > 0
    assert descendants() == before


def test_a_child_has_limited_memory():
    before = descendants()
    text = ANSWER.replace("i64 42", "[99999999 x i64] zeroinitializer")
    with pytest.raises(CompilationFailed):
        compile_apart([Source(text)])
    assert descendants() == before


def test_nothing_is_compiled_twice_for_a_tenant(compiler, monkeypatch):
    sources = [Source(ANSWER), Source(ANSWER.replace("42", "43")), Source(ANSWER)]
    made = compiler(sources, "alice")
    assert made[0] == made[2] != made[1]
    assert compiler(sources[:1], "bob") == made[:1]

    def refused(_sources):
        raise AssertionError

    monkeypatch.setattr(compiler, "_compiled", refused)
    assert compiler(sources, "alice") == made
    for source in (sources[0]._replace(optimised=False), Source(ANSWER.replace("42", "44"))):
        with pytest.raises(AssertionError):
            compiler([source], "alice")
    with pytest.raises(AssertionError):
        compiler(sources[1:2], "bob")


def test_one_who_has_compiled_too_much_waits():
    codes = CodeCache(SharedBudget(1 << 24), Metrics(), seconds_per_minute=0.01)
    compiler = Compiler(codes)
    with pytest.raises(CompilationFailed):
        compiler([Source("no code")], "alice")
    codes.put("alice", {}, 0.1)
    with pytest.raises(Postponed) as caught:
        compiler([Source(ANSWER)], "alice")
    assert caught.value.seconds > 60
    assert compiler([Source(ANSWER)], "bob")


KERNEL = """
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @kernel() {
  ret void
}
"""


def test_kernels_of_a_gpu_are_compiled_once_for_a_tenant_and_never_postponed(monkeypatch):
    codes = CodeCache(SharedBudget(1 << 24), Metrics(), seconds_per_minute=0.01)
    codes.put("alice", {}, 0.1)  # she has compiled too much
    texts = [KERNEL, KERNEL.replace("@kernel", "@other")]
    made = GpuCompiler(codes)(texts, "alice")
    assert [b".entry kernel" in made[0], b".entry other" in made[1]] == [True, True]
    assert GpuCompiler(codes)(texts[:1], "bob") == made[:1]

    def refused(_texts):
        raise AssertionError

    monkeypatch.setattr("gradwire_gpu.compile_texts", refused)
    assert GpuCompiler(codes)(texts, "alice") == made
    with pytest.raises(AssertionError):
        GpuCompiler(codes)(texts[1:], "bob")


def test_what_kernels_of_a_gpu_take_counts():
    codes = CodeCache(SharedBudget(1 << 24), Metrics(), seconds_per_minute=0.001)
    GpuCompiler(codes)([KERNEL], "alice")
    with pytest.raises(Postponed):
        Compiler(codes)([Source(ANSWER)], "alice")


@pytest.mark.thorough
async def test_a_restart_compiles_nothing(tmp_path):
    settings = {"processes": 1, "inline_microseconds": 0, "code_cache": tmp_path / "code"}
    document = {"program": PROGRAM, "variables": {"x": [0.1 * i for i in range(101)]}}
    found = []
    for run in "first", "second":
        (tmp_path / run).mkdir()
        async with replica(tmp_path / run, **settings) as service, service.client() as client:
            compiled = cached = 0.0
            while not compiled + cached:
                answer = await client.post("/v1/gradient", json=document)
                assert answer.status_code == 200, answer.text
                compiled, cached = [
                    await service.metric("gradwire_kernels_total", outcome=outcome)
                    for outcome in ("compiled", "cached")
                ]
            seconds = await service.metric("gradwire_machine_code_seconds_total")
        found.append((compiled > 0, cached > 0, seconds > 0))
    assert found == [(True, False, True), (False, True, False)]


@pytest.mark.thorough
def test_an_engine_goes_over_to_what_the_child_compiled(compiler):
    engine = Engine(backend=native.native_backend(compiler))
    program, x = engine.parse(PROGRAM), np.linspace(-2, 2, 101)
    query = Query("gradient", sources=["x"])

    def ask():
        call = engine.call(program, {"x": Leaf(x)}, query)
        answer = call.replay(no_deadline)
        (path,) = call.entry.paths
        names = [i.op.name for i in path.executable.replayed.instructions]
        return answer, "native" in names

    first, is_native = ask()
    assert not is_native
    while not is_native:
        answer, is_native = ask()
    np.testing.assert_allclose(answer.value, first.value, rtol=1e-13)
    np.testing.assert_allclose(answer.gradients, first.gradients, rtol=1e-11)


def test_machine_code_is_for_worker_processes(monkeypatch):
    assert is_compiled(Settings(processes=2))
    assert not is_compiled(Settings(processes=0))
    assert not is_compiled(Settings(processes=2, machine_code=False))
    monkeypatch.setattr(native, "find_spec", lambda _name: None)
    assert not is_compiled(Settings(processes=2))


@pytest.mark.parametrize("installed", [False, True])
def test_the_log_says_where_nothing_is_compiled(monkeypatch, caplog, installed):
    if not installed:
        monkeypatch.setattr(native, "find_spec", lambda _name: None)
    with caplog.at_level(logging.INFO, "gradwire"):
        create_app(Settings(processes=1, store="memory:"))
    assert ("machine code is off" in caplog.text) == (not installed)


@pytest.mark.thorough
@pytest.mark.parametrize("machine_code", [False, True])
async def test_the_service_says_whether_it_compiles(served, machine_code):
    async with served(processes=1, machine_code=machine_code) as client:
        assert (await client.get("/readyz")).json()["machine_code"] == machine_code
        metrics = (await client.get("/metrics")).text
        assert f"gradwire_machine_code {float(machine_code)}" in metrics


@pytest.mark.thorough
async def test_answers_of_workers_stay_the_same(served):
    """Those by machine code are those by NumPy."""
    x = np.linspace(-2, 2, 10_000)
    document = {"program": PROGRAM, "variables": {"x": x.tolist()}}
    async with served(processes=1, inline_microseconds=0) as client:
        found, compiled = [], False
        while not compiled:
            compiled = COMPILED in (await client.get("/metrics")).text
            before = workers(client)
            answer = await client.post("/v1/gradient", json=document)
            assert answer.status_code == 200, answer.text
            found.append(answer.json())
        assert workers(client) == before
    for one in found[1:]:
        np.testing.assert_allclose(
            one["gradients"]["x"], found[0]["gradients"]["x"], rtol=1e-9, atol=1e-13
        )
