import threading
from types import CellType, ModuleType

from gradwire.tracing.patching import Binding, Patch, Patches


def original():
    return "original"


def substitute():
    return "substitute"


def bindings():
    module = ModuleType("made")
    vars(module)["f"] = original
    cell = CellType(original)
    return [Binding(module, "f"), Binding({"f": original}, "f"), Binding(cell, "cell_contents")]


def test_a_substitute_is_removed_after_the_last_recording():
    for binding in bindings():
        replacements = Patches()
        with replacements.during([Patch(binding, original, substitute)]):
            with replacements.during([Patch(binding, original, substitute)]):
                assert binding.read() is substitute
            assert binding.read() is substitute
            assert replacements.original(binding) is original
        assert binding.read() is original


def test_replacements_by_others_are_kept():
    for binding in bindings():
        replacements = Patches()
        binding.write(len)
        with replacements.during([Patch(binding, original, substitute)]):
            assert binding.read() is len
        binding.write(original)
        with replacements.during([Patch(binding, original, substitute)]):
            binding.write(len)
        assert binding.read() is len


def test_originals_are_restored_after_an_error():
    binding = bindings()[0]
    replacements = Patches()
    try:
        with replacements.during([Patch(binding, original, substitute)]):
            raise KeyError
    except KeyError:
        assert binding.read() is original


def test_concurrent_recordings_restore_the_originals():
    binding = bindings()[0]
    replacements = Patches()
    seen = set()

    def record():
        for _ in range(500):
            with replacements.during([Patch(binding, original, substitute)]):
                seen.add(binding.read())

    threads = [threading.Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {substitute}
    assert binding.read() is original
