"""Run all, save the outcomes and write the page: ``python -m solvers --save after``."""

from __future__ import annotations

import argparse

from solvers.page import COLUMNS, write
from solvers.records import read, save
from solvers.runs import run_all


def main() -> None:
    """Read the options; without one, write the page from what is saved."""
    parser = argparse.ArgumentParser(description="Write docs/explanation/solvers.md.")
    parser.add_argument("--save", choices=COLUMNS, help="run all first, for this column")
    options = parser.parse_args()
    if options.save:
        save(options.save, run_all(quick=False))
    write({column: read(column) for column in COLUMNS})


if __name__ == "__main__":
    main()
