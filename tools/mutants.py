"""Count the mutants that the tests of a commit kill, to compare suites before and after a change.

    python -m venv /tmp/mutants && /tmp/mutants/bin/pip install cosmic-ray==8.7.0 coverage
    /tmp/mutants/bin/python tools/mutants.py BEFORE --save before.json
    /tmp/mutants/bin/python tools/mutants.py AFTER --same before.json --save after.json

To be run in the checkout, which is only read: tests run in a worktree. A digest of the first commit
draws modules and mutants, so that nobody chooses them. What judges a mutant are those that execute
its lines of the ``--nearest`` test files: files that mirror its module, then those that share most
of its rare words; 0 means all.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import re
import shlex
import sqlite3
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast  # type: ignore[import-not-found]
from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import get_operator, operator_names  # type: ignore[import-not-found]
from coverage import CoverageData, CoverageException
from coverage.parser import PythonParser

PACKAGES = (
    "engine/gradwire_engine",
    "engine/gradwire_gpu",
    "engine/gradwire_solvers",
    "service/gradwire_service",
    "clients/python/gradwire",
    "clients/command/gradwire_command",
)
PATHS = ("engine", "service", "clients/python", "clients/command", "clients/tensorflow")
LEAST_LINES, MOST_IDS = 60, 300
FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]{4,}")
Mutant = dict[str, Any]
#: Of a file the tests by the lines they execute, those that fail anyway, and the seconds.
Seen = tuple[dict[int, set[str]], list[str], float]


def run(tree: Path, args: list[str], limit: float = 3600, **env: str) -> tuple[int, str]:
    """The status of a command in the tree and its output; ``timeout`` ends what it started, too."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / x) for x in PATHS), **env}
    limited = ["timeout", "-s", "KILL", f"{limit:.0f}", *args]
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        made = subprocess.run(limited, check=False, cwd=tree, env=env, stdout=out, stderr=out)
        out.seek(0)
        return made.returncode, out.read()


def digest(*parts: object) -> str:
    """What puts that in order from which is drawn."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def drawn(source: str, module: str, commit: str, count: int) -> list[Mutant]:
    """So many mutants, each of another line. What ``|`` joins is left alone: most are types."""
    lines, nodes, made = source.splitlines(True), [*ast_nodes(get_ast(source))], []
    for name in [x for x in operator_names() if not re.search(r"_BitOr_|[Vv]ariable", x)]:
        operator = get_operator(name)()
        spans = [span for node in nodes for span in operator.mutation_positions(node)]
        keys = [(digest(commit, module, x), digest(commit, module, x, name)) for x in spans]
        made += [(*keys[i], span, operator, i) for i, span in enumerate(spans)]
    taken: dict[int, Mutant] = {}
    for _, _, ((start, _), (end, _)), operator, i in sorted(made, key=lambda each: each[:2]):
        if start not in taken and len(taken) < count:
            new, old = mutate_code(source, operator, i).splitlines(True), lines[start - 1 : end]
            place = {"module": module, "nth": places(lines, old).index(start - 1), "line": start}
            taken[start] = place | {"old": old, "new": new[start - 1 : end - len(lines) + len(new)]}
    return [*taken.values()]


def places(lines: list[str], old: list[str]) -> list[int]:
    """Where ``old`` begins in ``lines``."""
    return [i for i in range(len(lines)) if lines[i : i + len(old)] == old]


def nearest(tree: Path, module: str, count: int) -> list[str]:
    """The test files that mirror the module, then those closest to it by cosine of rare words."""
    apart = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["pytest"]["norecursedirs"]
    words: dict[str, set[str]] = {}
    for path in sorted(x.relative_to(tree) for x in tree.glob("tests/**/test_*.py")):
        if not any(x.match(y) for x in path.parents for y in apart):
            words[str(path)] = {*WORD.findall((tree / path).read_text())}
    often = Counter(word for each in words.values() for word in each)
    weight = {word: math.log(len(words) / times) ** 2 for word, times in often.items()}
    own, (home, *parts) = {*WORD.findall((tree / module).read_text())}, Path(module).parts
    names = {f"test_{part.removesuffix('.py')}.py" for part in parts}
    mirrors = {x for x in words if Path(x).parts[1] == home and Path(x).name in names}
    size = {file: math.sqrt(sum(weight[word] for word in words[file])) or 1 for file in words}
    near = {file: sum(weight[word] for word in words[file] & own) / size[file] for file in words}
    return sorted(words, key=lambda x: (x in mirrors, near[x]), reverse=True)[: count or None]


def seen(tree: Path, command: list[str], module: str, file: str) -> Seen:
    """Run a test file; lines that no single test executes, as imports do, are of the whole file."""
    start, lines = time.time(), dict[int, set[str]]()
    (parser := PythonParser(filename=str(tree / module))).parse_source()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rc = Path(folder, "rc")
        rc.write_text(f"[run]\ninclude = {tree / module}\nparallel = true\npatch = subprocess\n")
        options = f"--cov --cov-context=test --cov-report= --cov-config={rc} --maxfail=0 {file}"
        _, out = run(tree, [*command, *options.split()], COVERAGE_FILE=f"{folder}/data")
        for part in Path(folder).glob("data*"):
            # Of a process that was killed, or still writes.
            with contextlib.suppress(CoverageException, sqlite3.Error):
                (data := CoverageData(str(part))).read()
                for line, contexts in data.contexts_by_lineno(str(tree / module)).items():
                    tests = {x.rpartition("|")[0] for x in contexts if x.endswith("|run")}
                    lines.setdefault(parser.first_line(line), set()).update(tests or {file})
    return lines, FAILURE.findall(out), time.time() - start


def judge(tree: Path, command: list[str], mutant: Mutant, known: dict[str, Seen]) -> str:
    """Killed, survived, timeout, uncovered where no test executes it, or gone with its place."""
    path, old = tree / mutant["module"], mutant["old"]
    lines = (source := path.read_text() if path.exists() else "").splitlines(True)
    if len(found := places(lines, old)) <= mutant["nth"]:
        return "gone"
    at, limit = found[mutant["nth"]], 120 + 5 * sum(seconds for *_, seconds in known.values())
    (parser := PythonParser(text=source)).parse_source()
    span = {parser.first_line(at + 1 + i) for i in range(len(old))}
    by = {x: sorted({z for y in span for z in known[x][0].get(y, ())}) for x in known}
    tests = [y for x in by for y in by[x] if x not in by[x] and len(by[x]) <= MOST_IDS]
    args, status = ["-x", *[f"--deselect={y}" for x in known.values() for y in x[1]]], None
    path.write_text("".join([*lines[:at], *mutant["new"], *lines[at + len(old) :]]))
    # First single tests, then files: what a test executes alone, others may read from a cache.
    # Without bytecode: that of two mutants might look alike, by time and size.
    for given in [each for each in (tests, [x for x in by if by[x]]) if each]:
        status, out = run(tree, [*command, *args, *given], limit, PYTHONDONTWRITEBYTECODE="1")
        mutant["by"] = FAILURE.findall(out)[:1]
        if status not in (0, 5):
            break
    path.write_text(source)
    return {None: "uncovered", 0: "survived", 5: "survived", -9: "timeout"}.get(status, "killed")


def main() -> None:
    """Draw mutants or take those of a result, judge each in a worktree, and print the figures."""
    command = f"nice -n 5 {Path.cwd()}/.venv/bin/pytest -n 0 --hypothesis-seed=0"
    parser = argparse.ArgumentParser(epilog=f"The default command: {command}")
    parser.add_argument("commit", help="the commit with the tests")
    parser.add_argument("--same", type=Path, help="judge the mutants of this result again")
    parser.add_argument("--save", type=Path, required=True, help="the result; one may go on")
    parser.add_argument("--pytest", default=command, help="its arguments may deselect tests")
    for name, count in (("modules", 5), ("mutants", 12), ("nearest", 4)):
        parser.add_argument(f"--{name}", type=int, default=count)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tree = Path(folder, "tree").resolve()
        subprocess.check_call(["git", "worktree", "add", "-q", "--detach", str(tree), told.commit])
        judge_all(tree, shlex.split(told.pytest), told)
    subprocess.check_call(["git", "worktree", "prune"])


def judge_all(tree: Path, command: list[str], told: argparse.Namespace) -> None:
    """Print and save what comes of each mutant; nothing may be imported from the checkout."""
    commit = run(tree, ["git", "rev-parse", "HEAD"])[1].strip()
    python = next(x for x in command if x.endswith("pytest")).replace("pytest", "python")
    for package in PACKAGES:
        _, file = run(tree, [python, "-c", f"import {Path(package).name} as x; print(x.__file__)"])
        if not Path(file.strip()).is_relative_to(tree):
            raise SystemExit(f"{package} is not the worktree's, but {file}")
    paths = [path for package in PACKAGES for path in (tree / package).rglob("*.py")]
    long = [str(x.relative_to(tree)) for x in paths if x.read_text().count("\n") > LEAST_LINES]
    long.sort(key=lambda x: digest(commit, x))
    given = told.save if told.save.exists() else told.same
    mutants = json.loads(given.read_text())["mutants"] if given else []
    for x in [] if given else long[: told.modules]:
        mutants += drawn((tree / x).read_text(), x, commit, told.mutants)
    for mutant in [] if given == told.save else mutants:
        mutant["before"] = mutant.pop("outcome", None)
    for module in dict.fromkeys(x["module"] for x in mutants if "outcome" not in x):
        files = nearest(tree, module, told.nearest) if (tree / module).exists() else []
        known = {file: seen(tree, command, module, file) for file in files}
        say(module, *[f"{file}: {y:.0f} s, {len(z)} fail" for file, (_, z, y) in known.items()])
        for mutant in [x for x in mutants if x["module"] == module and "outcome" not in x]:
            mutant["outcome"] = judge(tree, command, mutant, known)
            told.save.write_text(json.dumps({"commit": commit, "mutants": mutants}, indent=1))
    for module in dict.fromkeys(mutant["module"] for mutant in mutants):
        say(f"{module}: {dict(Counter(x['outcome'] for x in mutants if x['module'] == module))}")
    for x in [x for x in mutants if x["outcome"] != "killed"]:
        say(f"{x['outcome']}: {x['module']}:{x['line']}", *x["old"], *x["new"])
    lost = [x for x in mutants if x.get("before") == "killed" and x["outcome"] != "killed"]
    say(f"killed before, and not now: {len(lost)}", *[f"{x['module']}:{x['line']}" for x in lost])


def say(title: str, *lines: str) -> None:
    """Print a title with lines below it."""
    print(title, *[line.strip() for line in lines], sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
