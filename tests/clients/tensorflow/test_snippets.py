"""Every snippet of the corpus has a recorded result and a unique id."""

from collections import Counter

from tests.clients.tensorflow import snippets


def test_each_snippet_has_a_recorded_result():
    for subject in snippets.subjects():
        assert {snippet.id for snippet in snippets.snippets(subject)} == set(
            snippets.answers(subject)
        )


def test_snippet_ids_are_unique():
    names = Counter(
        snippet.id for subject in snippets.subjects() for snippet in snippets.snippets(subject)
    )
    assert [name for name, times in names.items() if times > 1] == []
