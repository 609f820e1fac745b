"""Sliders, grids, generators and files beside the editor."""

import base64
import io
import json

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASTE
from tests.browser.links import text_of

#: A file dropped on an element.
DROP = """(element, { name, bytes }) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
  const options = { dataTransfer: data, bubbles: true, cancelable: true, composed: true };
  for (const type of ["dragover", "drop"]) element.dispatchEvent(new DragEvent(type, options));
}"""


@pytest.fixture
def typed(visit):
    """Opens the page with a program and variables, controls shown."""

    def start(program, variables, **context):
        opened = visit(**context)
        opened.page.get_by_label("with respect to").fill("")
        opened.write_variables(json.dumps(variables))
        opened.write(program)
        opened.controls()
        return opened

    return start


def gradients(opened):
    """Where the gradients are shown."""
    return opened.page.get_by_label("Gradients", exact=True)


def json_text(opened):
    """The JSON text of the variables."""
    opened.page.get_by_role("radio", name="JSON").check()
    lines = opened.page.locator(".editor.variables .cm-line").all_inner_texts()
    opened.controls()
    return json.loads("\n".join(lines))


def sent(opened, path):
    """A leaf of the last request, as an array."""
    asked = [one for one in opened.requests if one.method == "POST"][-1].post_data_json
    leaf = asked["variables"][path]
    return np.frombuffer(base64.b64decode(leaf["base64"]), leaf["dtype"]).reshape(leaf["shape"])


def npy(array, version=None):
    """The bytes of an .npy file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def choose(opened, *files):
    """Choose files by the button."""
    payloads = [{"name": n, "mimeType": "application/octet-stream", "buffer": b} for n, b in files]
    opened.page.get_by_label("Files").set_input_files(payloads)


def drop(locator, name, content):
    """Drop a file on an element."""
    locator.evaluate(DROP, {"name": name, "bytes": base64.b64encode(content).decode()})


def test_a_slider_changes_the_text_and_the_answer(typed):
    opened = typed("x**2 + y", {"x": 3, "deep": {"y": 1}, "y": 0})
    slider = opened.page.get_by_label("x, slider", exact=True)
    slider.fill("5")
    expect(gradients(opened)).to_contain_text("10")
    assert json_text(opened) == {"x": 5, "deep": {"y": 1}, "y": 0}
    slider.press("ArrowRight")
    expect(gradients(opened)).to_contain_text("10.1")


def test_a_slider_keeps_its_range_while_it_is_dragged_and_goes_on_at_its_end(typed):
    opened = typed("x**2", {"x": 3})
    mouse = opened.page.mouse
    slider = opened.page.get_by_label("x, slider", exact=True)
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] * 0.3, y)
    mouse.down()
    seen = []
    for share in (0.5, 0.8, 0.1, 0.002, 0.6, 1.0):
        mouse.move(box["x"] + box["width"] * share, y)
        seen.append(slider.evaluate("(one) => [one.min, one.max, Number(one.value)]"))
    assert {(low, high) for low, high, _ in seen} == {("0", "10")}
    values = [value for _, _, value in seen]
    assert values == pytest.approx([5, 8, 1, 0, 6, 10], abs=0.5)
    expect(gradients(opened)).to_contain_text("20")
    mouse.up()
    assert slider.evaluate("(one) => [one.min, one.max, one.value]") == ["0", "20", "10"]


def test_numbers_that_are_none_yet_stay_as_typed(typed):
    opened = typed("x**2", {"x": 3})
    field = opened.page.get_by_label("x", exact=True)
    field.fill("-")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(gradients(opened)).to_contain_text("6")
    field.press("End")
    field.press_sequentially("4e1")
    expect(gradients(opened)).to_contain_text("−80")
    field.press("ArrowUp")
    expect(field).to_have_value("-39")
    field.fill("inf")
    assert json_text(opened) == {"x": "Infinity"}
    expect(opened.page.get_by_label("x, slider", exact=True)).to_be_disabled()


def test_integers_booleans_and_complex_numbers(typed):
    variables = {"n": {"value": 3, "dtype": "int64"}, "on": True, "z": {"re": 3, "im": 4}}
    opened = typed("abs(z)**2 * n if on else 0 * abs(z)", variables)
    page = opened.page
    expect(page.get_by_label("n, slider", exact=True)).to_have_attribute("step", "1")
    page.get_by_label("n", exact=True).fill("2.5")
    expect(page.get_by_label("n", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("n", exact=True).fill("4")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("100")
    page.get_by_label("z.im", exact=True).fill("0")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("36")
    page.get_by_label("on", exact=True).uncheck()
    expect(page.get_by_label("Value", exact=True)).to_contain_text("0")
    expected = {"n": {"value": 4, "dtype": "int64"}, "on": False, "z": {"re": 3, "im": 0}}
    assert json_text(opened) == expected


def test_a_grid_has_a_field_for_each_element(typed):
    opened = typed("sum(m**2 * v)", {"m": [[1, 2], [3, 4]], "v": [1, 10]})
    grid = opened.page.get_by_role("group", name="m")
    expect(grid.get_by_role("textbox")).to_have_count(4)
    grid.get_by_label("m[1, 0]").fill("-5")
    expect(gradients(opened)).to_contain_text("−10")
    assert json_text(opened)["m"] == [[1, 2], [-5, 4]]


def test_rows_of_a_spreadsheet_are_pasted_into_a_grid(typed):
    opened = typed("sum(m**2)", {"m": [[1, 2, 3], [4, 5, 6]]})
    cell = opened.page.get_by_label("m[0, 1]")
    cell.evaluate(PASTE, "20\t30\r\n50\t6e1\r\n")
    expect(opened.page.get_by_label("m[1, 2]")).to_have_value("60")
    assert json_text(opened) == {"m": [[1, 20, 30], [4, 50, 60]]}
    opened.page.get_by_label("m[0, 1]").evaluate(PASTE, "1\t2\t3")
    expect(opened.page.get_by_role("alert")).to_contain_text("do not fit here")
    assert json_text(opened) == {"m": [[1, 20, 30], [4, 50, 60]]}


def test_text_that_is_no_json_is_not_overwritten_by_controls(typed):
    opened = typed("x", {"x": 1})
    text = '{"x": 1, "y"'
    opened.write_variables(text)
    opened.controls()
    section = opened.page.get_by_role("region", name="Variables")
    expect(section).to_contain_text("cannot be read")
    expect(opened.page.get_by_label("x, slider", exact=True)).to_have_count(0)
    opened.page.get_by_role("button", name="Show it").click()
    expect(opened.page.get_by_role("textbox", name="Variables, as JSON")).to_have_text(
        '{"x": 1, "y"'
    )


def add(opened, name, value):
    """Add a variable by name."""
    opened.page.get_by_label("Name of the new variable").fill(name)
    opened.page.get_by_label("Value of the new variable").fill(value)
    opened.page.get_by_role("button", name="Add", exact=True).click()


def test_variables_are_added_by_name(typed):
    opened = typed("sum(x) + a.b", {"x": [1, 2]})
    expect(opened.page.locator(".problem")).to_be_visible()
    add(opened, "a.b", "0.5")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("3.5")
    for name, value, fault in [
        ("x", "1", "There is x already"),
        ("2x", "1", "A name has letters"),
        ("y", "[1,", "A value is a number"),
        ("y", "[9007199254740993]", "no number with all digits"),
        ("y", "[1e400]", "1e400 is too large"),
        ("y", "normal(3.5)", "whole numbers of elements"),
    ]:
        add(opened, name, value)
        expect(opened.page.locator(".add [role=alert]")).to_contain_text(fault)
        expect(opened.page.get_by_label("Name of the new variable")).to_have_value(name)
    opened.page.get_by_role("button", name="Remove a.b").click()
    expect(opened.page.get_by_label("a.b, slider", exact=True)).to_have_count(0)
    add(opened, "y", "-inf")
    expect(opened.page.get_by_label("y", exact=True)).to_have_value("-Infinity")


def test_a_formula_makes_a_large_variable_and_is_kept_in_the_link(typed):
    opened = typed("mean(x**2)", {})
    add(opened, "x", "normal(1000, 3)")
    row = opened.page.locator("[data-path=x]")
    expect(row).to_contain_text("float64[1000, 3]")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("0.9")
    formula = opened.page.get_by_label("x, formula")
    formula.fill("normal(1000, 3")
    expect(row.get_by_role("alert")).to_contain_text("write a formula such as")
    expect(row).to_contain_text("float64[1000, 3]")
    formula.fill("ones(4)")
    expect(row).to_contain_text("float64[4]")
    formula.fill("normals(4)")
    opened.page.wait_for_url(lambda url: "normals(4)" in text_of(url))
    opened.page.reload()
    expect(opened.page.get_by_label("x, formula")).to_have_value("normals(4)")
    expect(opened.page.locator(".notice")).to_contain_text("x has the formula normals(4)")
    opened.page.get_by_label("x, formula").fill("linspace(0, 3, 3)")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("3.75")
    opened.page.get_by_role("button", name="Remove x").click()
    expect(opened.page.get_by_text("There are none yet")).to_be_visible()


NUMBERS = np.array([[0, 1, 2], [3, 100, 5]])
DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64"
ARRAYS = [
    *[NUMBERS.astype(dtype) for dtype in [*DTYPES.split(), "complex64", "complex128"]],
    np.asfortranarray(NUMBERS.astype("float32")),
    np.asfortranarray(np.arange(24.0).reshape(2, 3, 4) - 1j),
    NUMBERS.astype(">f8"),
    np.asfortranarray((NUMBERS + 2j * NUMBERS).astype(">c16")),
    np.asfortranarray(NUMBERS.astype(">i2")),
    np.float64(2.5),
    np.array([np.nan, -np.inf, 5e-324]),
    np.zeros((0, 3)),
]


def test_files_of_numpy_are_sent_bit_for_bit(typed):
    opened = typed("0", {})
    files = [(f"a{i}.npy", npy(np.asanyarray(array))) for i, array in enumerate(ARRAYS)]
    choose(opened, *files, *[(f"v{v}.npy", npy(ARRAYS[0], (v, 0))) for v in (1, 2, 3)])
    expect(opened.page.get_by_role("status").get_by_text("v3.npy is v3.")).to_be_visible()
    opened.write("len(a0)")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("2")
    for i, array in enumerate(map(np.asanyarray, ARRAYS)):
        arrived = sent(opened, f"a{i}")
        assert arrived.dtype == array.dtype.newbyteorder("=")
        assert arrived.shape == array.shape
        np.testing.assert_array_equal(arrived, array)
    for version in (1, 2, 3):
        np.testing.assert_array_equal(sent(opened, f"v{version}"), ARRAYS[0])
    row = opened.page.locator("[data-path=a15]")
    expect(row).to_contain_text("complex128[2, 3, 4]")


#: Files that cannot be read, and why.
UNREADABLE = [
    ("cut.npy", npy(np.zeros(10))[:-8], "the file ends after 72 of the array's 80 bytes"),
    ("head.npy", npy(np.zeros(10))[:11], "header"),
    ("text.npy", npy(np.array(["a", "bc"])), "elements are of the type '<U2'"),
    ("long.npy", npy(np.zeros(2, "f16")), "elements are of the type '<f16'"),
    ("record.npy", npy(np.zeros(2, "f8,i4")), "elements are of the type [('f0'"),
    ("new.npy", b"\x93NUMPY\x07\x00" + bytes(100), "version 7"),
    ("a.npz", b"PK\x03\x04" + bytes(100), "save each array by itself"),
    ("photo.csv", b"\x89PNG\x00\x00", "neither an .npy file nor a table"),
    ("empty.csv", b"", "it is empty"),
    ("only.csv", b"a,b\n", "a header and no rows"),
    ("ragged.csv", b"1,2\n3\n", "line 2 has 1 columns, and the first line has 2"),
    ("words.csv", b"1,2\n3,four\n", "line 2: “four” is no number"),
    ("quote.csv", b'a,b\n"1,2\n', "line 2: a quote is not closed"),
]


def test_a_file_that_cannot_be_read_says_why(typed):
    opened = typed("x", {"x": 7})
    for name, content, fault in UNREADABLE:
        choose(opened, (name, content))
        said = opened.page.locator(".variables-section [role=status]")
        expect(said).to_contain_text(f"{name} is not loaded: ")
        expect(said).to_contain_text(fault)
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("7")
    assert json_text(opened) == {"x": 7}


def test_tables_with_and_without_a_header(typed):
    opened = typed("0", {})
    header = '\ufeffHeight (cm),"kind, of",été\r\n1.5,cat,NA\r\n\r\n-2e1,dog,3\r\n'
    files = {
        "pets.csv": header.encode(),
        "matrix.csv": b"1,2\n3,\n",
        "column.txt": b"# saved by numpy\n1\n2.5\n-inf\n",
        "european.csv": b"1,5;2\n3;4,25\n",
        "blanks.txt": b" 1e0   2\n 3  nan\n",
        "tabs.tsv": b"a\ta\n1\t2\n",
    }
    choose(opened, *files.items())
    notes = opened.page.locator(".variables-section [role=status]")
    expect(notes).to_contain_text("its columns are pets.Height_cm, pets.été.")
    expect(notes).to_contain_text("kind, of is left out: “cat” in line 2 is no number.")
    opened.write("sum(pets.Height_cm)")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("−18.5")
    expected = {
        "pets.Height_cm": [1.5, -20],
        "pets.été": [np.nan, 3],
        "matrix": [[1, 2], [3, np.nan]],
        "column": [1, 2.5, -np.inf],
        "european": [[1.5, 2], [3, 4.25]],
        "blanks": [[1, 2], [3, np.nan]],
        "tabs.a": [1],
        "tabs.a_2": [2],
    }
    for path, values in expected.items():
        np.testing.assert_array_equal(sent(opened, path), values)


def test_a_file_dropped_on_a_variable_takes_its_place_until_it_is_removed(typed):
    opened = typed("sum(x)", {"x": 3, "y": 1})
    drop(opened.page.locator("[data-path=x]"), "measured.npy", npy(np.arange(5.0)))
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("10")
    expect(opened.page.locator("[data-path=x]")).to_contain_text("measured.npy")
    opened.page.get_by_role("button", name="Remove x").click()
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("3")


def test_a_file_dropped_elsewhere_is_a_variable_of_its_name(typed):
    opened = typed("sum(x)", {"x": 3})
    drop(opened.page.locator(".editor.program"), "my data.csv", b"1\n2\n")
    expect(opened.page.locator("[data-path=my_data]")).to_contain_text("float64[2]")
    expect(opened.page.get_by_role("textbox", name="Program")).to_have_text("sum(x)")
