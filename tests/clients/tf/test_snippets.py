"""The corpus itself: nothing in it is without an answer, nothing named twice."""

from collections import Counter

from tests.clients.tf import snippets


def test_each_snippet_has_its_recorded_answer():
    for subject in snippets.subjects():
        assert {snippet.id for snippet in snippets.snippets(subject)} == set(
            snippets.answers(subject)
        )


def test_no_two_snippets_have_one_name():
    names = Counter(
        snippet.id for subject in snippets.subjects() for snippet in snippets.snippets(subject)
    )
    assert [name for name, times in names.items() if times > 1] == []
