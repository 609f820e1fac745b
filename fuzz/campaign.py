"""Fuzz the decoders, each in its own process; inputs that raise unexpected errors are saved.

Atheris is imported from the folder in which ``make fuzz`` installs it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile

import atheris

with atheris.instrument_imports(include=["gradwire_service.wire", "decoders"]):
    from decoders import DECODERS, decode
from seeds import seeds, words


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Fuzz one decoder, which ends this process."""
    options = [
        f"-max_total_time={seconds}",
        f"-artifact_prefix={folder}/{name}-",
        f"-dict={folder}/words",
        "-max_len=8192",
        "-timeout=5",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        "-print_final_stats=1",
    ]
    corpus = str(folder / "corpus" / name)
    atheris.Setup([sys.argv[0], *options, corpus], lambda body: decode(name, body))
    atheris.Fuzz()


def fuzzed(name: str, folder: Path, seconds: int) -> tuple[int, str]:
    """Fuzz one decoder in a process that has all that this one imported: its status and report."""
    with TemporaryFile() as report:
        child = os.fork()
        if not child:
            os.dup2(report.fileno(), 2)
            fuzz(name, folder, seconds)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        report.seek(0)
        return os.waitstatus_to_exitcode(status), report.read().decode(errors="replace")


def main() -> int:
    """Fuzz the named decoders, or all; returns the number that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("decoders", nargs="*", help="all, if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each decoder")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"), help="for what is found")
    asked = parser.parse_args()
    names, failed, bodies = asked.decoders or list(DECODERS), 0, seeds()
    for name in names:
        corpus = asked.folder / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        for number, body in enumerate(bodies[name]):
            (corpus / f"seed-{number}").write_bytes(body)
    (asked.folder / "words").write_text("".join(f'"{word.decode()}"\n' for word in words()))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = pool.map(lambda name: fuzzed(name, asked.folder, asked.seconds), names)
        for name, (status, report) in zip(names, ended, strict=True):
            runs = re.search(r"number_of_executed_units: (\d+)", report)
            print(f"{name}: {runs[1] if runs else 'no'} bodies read", flush=True)
            if status:
                print(report[-4000:])
                failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
