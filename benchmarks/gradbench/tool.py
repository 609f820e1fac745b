"""The tool of tools/gradwire: ``PYTHONPATH=benchmarks python -m gradbench.tool``."""

from __future__ import annotations

from gradbench.tools.gradwire.run import main

if __name__ == "__main__":
    main()
