"""The page shows what ``gradwire open`` puts into its address."""

import subprocess
import sys

import numpy as np
from playwright.sync_api import expect


def fragment(service, *words, cwd=None):
    """What follows the address in the link that the command prints."""
    command = [sys.executable, "-m", "gradwire_command", "open", *words, "--print"]
    told = subprocess.run(
        [*command, "--url", service], cwd=cwd, check=True, capture_output=True, text=True
    )
    page, _, rest = told.stdout.strip().partition("/#")
    assert page == service
    return f"#{rest}"


def test_the_page_reads_the_commands_link(visit, service, tmp_path):
    np.save(tmp_path / "y.npy", np.array([1, 2], np.int8))
    words = ["sum(é * x**3 * y)", "x=[1,2]", "y=@y.npy", "é=1", "--sources", "x"]
    opened = visit(fragment(service, *words, "--query", "gradient", cwd=tmp_path))
    expect(opened.page.get_by_label("Gradients", exact=True)).to_contain_text("[3, 24]")
    expect(opened.page.get_by_label("with respect to")).to_have_value("x")


def test_the_page_asks_the_query_of_the_link(visit, service):
    opened = visit(fragment(service, "x**3", "x=2", "--query", "hessian"))
    expect(opened.page.get_by_label("Hessian", exact=True)).to_contain_text("12")
