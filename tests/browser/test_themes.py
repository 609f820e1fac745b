"""The page looks as it did, light and dark: pictures compared at an eighth of their size.

At that size other fonts and smoothing hardly show; a colour, a column or a tab that is gone does.
``NEW_PICTURES=1 pytest tests/browser/test_themes.py`` keeps new ones, to be looked at.
"""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

PICTURES = Path(__file__).with_name("pictures")
SIZE = {"width": 1200, "height": 900}
#: Of 255, in the mean and of one block of 64 × 64 pixels.
MEAN, BLOCK = 4.0, 24.0


def small(png):
    """The colours of a picture, each of 8 × 8 pixels."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    return np.asarray(picture.reduce(8), dtype=float)


def blocks(colours):
    """The means of 8 × 8 of these."""
    height, width = (side // 8 * 8 for side in colours.shape[:2])
    cut = colours[:height, :width].reshape(height // 8, 8, width // 8, 8, 3)
    return cut.mean(axis=(1, 3))


#: Where each tab shows that it has its answer.
SHOWN = {"Answer": "[aria-label=Value]", "Tape": ".node", "Plot": ".bars", "Code": "pre"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_looks_as_it_did(visit, theme):
    opened = visit(color_scheme=theme, viewport=SIZE, reduced_motion="reduce")
    for tab, shown in SHOWN.items():
        opened.page.get_by_role("tab", name=tab).click()
        expect(opened.page.get_by_role("tabpanel").locator(shown).first).to_be_attached()
        opened.settle()
        assert_looks_as_it_did(opened.page, theme, tab)


def assert_looks_as_it_did(page, theme, tab):
    """Compare the page with a picture."""
    # How long the answer took is not the same each time.
    page.locator(".time").evaluate_all("(all) => all.forEach((one) => one.remove())")
    seen = small(page.screenshot(caret="hide"))
    kept = PICTURES / f"{theme}-{tab.lower()}.png"
    if os.environ.get("NEW_PICTURES"):
        kept.parent.mkdir(exist_ok=True)
        Image.fromarray(seen.round().astype("uint8")).save(kept)
    expected = np.asarray(Image.open(kept), dtype=float)
    assert np.abs(seen - expected).mean() < MEAN, tab
    assert np.abs(blocks(seen) - blocks(expected)).max() < BLOCK, tab


def test_the_themes_differ():
    """The comparison sees what it is for."""
    light, dark = (
        np.asarray(Image.open(PICTURES / f"{theme}-answer.png"), dtype=float)
        for theme in ("light", "dark")
    )
    assert np.abs(light - dark).mean() > 100
    tape = np.asarray(Image.open(PICTURES / "light-tape.png"), dtype=float)
    assert np.abs(blocks(light) - blocks(tape)).max() > BLOCK
