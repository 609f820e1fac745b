import json

import pytest
from gradwire import codec


def test_requests_are_messagepack_and_problems_json():
    document = {"detail": "nothing", "missing": ["sha256:0"], "limit": 1.5}
    assert codec.decode(codec.encode(document)) == document
    assert codec.decode(codec.encode(document), "application/msgpack; v=1") == document
    for media_type in (codec.PROBLEM_MEDIA_TYPE, "application/json", ""):
        assert codec.decode(json.dumps(document).encode(), media_type) == document


def test_invalid_documents_are_refused():
    with pytest.raises(ValueError, match="Expecting value"):
        codec.decode(b"<html>", "text/html")
    with pytest.raises(ValueError, match="trailing bytes after the document, from byte 1"):
        codec.decode(b"<html>")
