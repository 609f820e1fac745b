"""Headers by name, with repeated ones joined."""

from gradwire_service.wire.headers import headers_of


def test_lines_of_one_name_are_one_list():
    scope = {"headers": [(b"accept", b"a/b"), (b"x", b"1"), (b"accept", b"c/d;q=0.5")]}
    assert headers_of(scope) == {b"accept": b"a/b, c/d;q=0.5", b"x": b"1"}
    assert headers_of(scope) is headers_of(scope)
