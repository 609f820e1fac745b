import io

import numpy as np
import pytest
from gradwire.display.cells import Cells, cells
from gradwire.display.heatmaps import ABOVE, BELOW, ODD, colours, largest, picture, png, tint
from hypothesis import given
from hypothesis.extra import numpy as hnp

Image = pytest.importorskip("PIL.Image")


def shown(array) -> Cells:
    made = cells(np.asarray(array), (99, 99))
    assert made is not None
    return made


@given(hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2).map(lambda s: (*s, 4))))
def test_other_libraries_can_read_the_pictures(image):
    read = Image.open(io.BytesIO(png(image)))
    assert read.mode == "RGBA"
    np.testing.assert_array_equal(np.asarray(read), image)


def test_colour_shows_sign_and_opacity_shows_magnitude():
    made = shown([[4.0, -4.0, 1.0, 0.0, np.nan, -np.inf, 1e-30]])
    colour = colours(made, largest(made))[0]
    assert [tuple(each[:3]) for each in colour[:3]] == [ABOVE, BELOW, ABOVE]
    assert colour[0, 3] == colour[1, 3] == 255
    assert colour[2, 3] == pytest.approx(255 / 2, abs=5)  # the square root of a quarter
    assert colour[3, 3] == 0
    assert [tuple(each) for each in colour[4:6]] == [(*ODD, 255)] * 2
    assert 0 < colour[6, 3] < 64  # nonzero values are visible


def test_opposite_phases_have_opposite_hues():
    made = shown(np.exp(2j * np.pi * np.arange(8) / 8)[None])
    hues = colours(made, 1.0)[0, :, :3].astype(int)
    distances = np.abs(hues[:4] - hues[4:]).sum(-1)
    assert (distances > 200).all()
    assert len({tuple(hue) for hue in hues}) == 8


def test_tints_keep_text_readable():
    assert tint(0.0, 1.0) is tint(1.0, 0.0) is None
    assert tint(2.0, 2.0) == f"background:rgba({','.join(map(str, ABOVE))},0.40)"
    assert tint(-0.5, 2.0) == f"background:rgba({','.join(map(str, BELOW))},0.20)"
    assert tint(np.nan, 1.0) == f"background:rgba({','.join(map(str, ODD))},0.45)"
    assert str(tint(1j, 1.0)).startswith("background:rgba(")


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_pictures_have_a_limited_size(array):
    drawn = picture(shown(array), 1.0, (40, 150))
    words = dict(
        part.split("=")
        for part in drawn.replace('"', "").split()
        if "width=" in part or "height=" in part
    )
    assert 14 <= int(words["width"]) <= 150
    assert 14 <= int(words["height"]) <= 40
