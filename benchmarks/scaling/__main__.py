"""Print the tables of docs/explanation/scaling.md: ``python -m scaling --only cost``."""

from __future__ import annotations

import argparse
from importlib import import_module
from time import process_time

from scaling import cost

NAMES = ("cost", "checked", "sizing", "spreading", "zones", "ends", "shards")


def main() -> None:
    """Read the options, then print one part after another."""
    parser = argparse.ArgumentParser(description="Print the tables of the page on scaling.")
    parser.add_argument("--only", choices=NAMES, action="append", help="one of them; repeatable")
    parser.add_argument("--price", type=float, default=cost.PRICE, help="$ for a core-hour")
    options = parser.parse_args()
    for name in options.only or NAMES:
        start = process_time()
        report = import_module(f"scaling.{name}").report
        for table in report(options.price) if name == "cost" else report():
            print(f"\n{table}", flush=True)
        print(f"\n({name}: {process_time() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
