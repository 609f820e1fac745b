import re
from pathlib import Path
from typing import Any

import pytensor
import pytest

PAGE = Path(__file__).parents[3] / "docs/reference/adapters.md"


@pytest.mark.filterwarnings("ignore:.*ArviZ:FutureWarning")
def test_the_examples_of_the_documentation_run(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 9
    shown: dict[str, Any] = {}
    quickly = pytensor.config.change_flags(linker="py", cxx="")  # without compiling C code
    with quickly:
        for block in blocks:
            exec(compile(block, PAGE.name, "exec"), shown)
