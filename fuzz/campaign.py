"""Fuzz the decoders, each in its own process; inputs that raise unexpected errors are saved.

Atheris is imported from the folder in which ``make fuzz`` installs it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Fuzz one decoder, which ends this process."""
    import atheris

    with atheris.instrument_imports(include=["gradwire_service.wire", "decoders"]):
        from decoders import decode
    from seeds import seeds, words

    corpus = folder / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, body in enumerate(seeds()[name]):
        (corpus / f"seed-{number}").write_bytes(body)
    dictionary = folder / f"{name}-words"  # one thread each, since several run at once
    dictionary.write_text("".join(f'"{word.decode()}"\n' for word in words()))
    options = [
        f"-max_total_time={seconds}",
        f"-artifact_prefix={folder}/{name}-",
        f"-dict={dictionary}",
        "-max_len=8192",
        "-timeout=5",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda body: decode(name, body))
    atheris.Fuzz()


def main() -> int:
    """Fuzz the named decoders, or all; returns the number that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("decoders", nargs="*", help="all, if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each decoder")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"), help="for what is found")
    parser.add_argument("--here", action="store_true", help="one decoder, in this process")
    asked = parser.parse_args()
    if asked.here:
        fuzz(asked.decoders[0], asked.folder, asked.seconds)
    from decoders import DECODERS

    def fuzzed(name: str) -> subprocess.CompletedProcess[str]:
        common = f"--folder={asked.folder}", f"--seconds={asked.seconds}"
        command = [sys.executable, __file__, "--here", *common, name]
        return subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)

    names, failed = asked.decoders or list(DECODERS), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, ended in zip(names, pool.map(fuzzed, names), strict=True):
            runs = re.search(r"number_of_executed_units: (\d+)", ended.stderr)
            print(f"{name}: {runs[1] if runs else 'no'} bodies read", flush=True)
            if ended.returncode:
                print(ended.stderr[-4000:])
                failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
