"""Headers by name, with repeated ones joined."""

from gradwire_service.wire.headers import headers_of


def test_repeated_headers_are_joined():
    scope = {"headers": [(b"accept", b"a/b"), (b"x", b"1"), (b"accept", b"c/d;q=0.5")]}
    assert headers_of(scope) == {b"accept": b"a/b, c/d;q=0.5", b"x": b"1"}
    assert headers_of(scope) is headers_of(scope)
