import threading
from types import CellType, ModuleType

from gradwire.tracing.replaced import Replacements, Spot, Substitute


def original():
    return "original"


def substitute():
    return "substitute"


def spots():
    module = ModuleType("made")
    vars(module)["f"] = original
    cell = CellType(original)
    return [Spot(module, "f"), Spot({"f": original}, "f"), Spot(cell, "cell_contents")]


def test_a_substitute_stands_until_the_last_recording_is_over():
    for spot in spots():
        replacements = Replacements()
        with replacements.during([Substitute(spot, original, substitute)]):
            with replacements.during([Substitute(spot, original, substitute)]):
                assert spot.read() is substitute
            assert spot.read() is substitute
            assert replacements.original(spot) is original
        assert spot.read() is original


def test_what_somebody_else_has_put_there_stays():
    for spot in spots():
        replacements = Replacements()
        spot.write(len)
        with replacements.during([Substitute(spot, original, substitute)]):
            assert spot.read() is len
        spot.write(original)
        with replacements.during([Substitute(spot, original, substitute)]):
            spot.write(len)
        assert spot.read() is len


def test_originals_return_after_an_error():
    spot = spots()[0]
    replacements = Replacements()
    try:
        with replacements.during([Substitute(spot, original, substitute)]):
            raise KeyError
    except KeyError:
        assert spot.read() is original


def test_threads_that_record_at_once_leave_originals():
    spot = spots()[0]
    replacements = Replacements()
    seen = set()

    def record():
        for _ in range(500):
            with replacements.during([Substitute(spot, original, substitute)]):
                seen.add(spot.read())

    threads = [threading.Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {substitute}
    assert spot.read() is original
