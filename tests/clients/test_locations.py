from gradwire import Node


def test_a_node_is_parsed_from_a_response():
    document = {"op": "matmul", "id": "h", "line": 2, "column": 5, "unheard": "of"}
    assert Node.read(document) == Node(op="matmul", id="h", line=2, column=5)


def test_an_excerpt_has_a_caret_under_the_column():
    assert Node(line=2, column=5).excerpt("a = 1\nb = x @ w") == [
        "  line 2: b = x @ w",
        "              ^",
    ]


def test_tabs_before_the_column_stay_tabs():
    assert Node(line=1, column=3).excerpt("\t\tx") == ["  line 1: \t\tx", "          \t\t^"]


def test_a_node_without_a_place_in_the_text_has_no_excerpt():
    assert Node(op="matmul").excerpt("x") == []
    assert Node(line=3).excerpt("x") == []
    assert Node(line=1).excerpt(None) == []
    assert Node(line=1).excerpt("x + y") == ["  line 1: x + y"]
