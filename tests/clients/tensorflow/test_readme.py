import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[3] / "clients" / "tensorflow" / "README.md"


@pytest.mark.thorough
def test_the_example_of_the_readme_runs():
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    shown: dict[str, Any] = {}
    exec(compile(block, README.name, "exec"), shown)
