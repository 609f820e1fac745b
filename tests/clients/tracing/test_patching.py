import threading
from types import CellType, ModuleType

from gradwire.tracing.numpy_trace import NumpyTrace
from gradwire.tracing.patching import Binding, MethodByContext, Patch, Patches, aware


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


def elsewhere(read):
    """What another thread reads."""
    found = []
    thread = threading.Thread(target=lambda: found.append(read()))
    thread.start()
    thread.join()
    return found[0]


def in_a_recording(read):
    """What the code that records reads, and what another thread does meanwhile."""
    with NumpyTrace(lambda terms: terms).recording():
        return read(), elsewhere(read)


def test_a_module_shows_substitutes_to_the_code_that_records_alone():
    module = ModuleType("made")
    vars(module).update(f=original, other=len)
    substitutes = {original: substitute}
    kind = Binding(module, "__class__")
    with Patches().during([Patch(kind, ModuleType, aware(ModuleType, substitutes.get))]):
        for _ in range(3):  # also where the interpreter has learned what it finds
            assert in_a_recording(lambda: module.f) == (substitute, original)
            assert in_a_recording(lambda: module.other) == (len, len)
            assert module.f is original
        assert vars(module)["f"] is original
    assert type(module) is ModuleType


def test_a_method_is_a_substitute_for_the_code_that_records_alone():
    class Law:
        def density(self):
            return self, "original"

        def __call__(self):
            return "original"

    def density(self):
        return self, "substitute"

    law, kept = Law(), vars(Law)["density"]
    patches = [
        Patch(Binding(Law, "density"), kept, MethodByContext(kept, density)),
        Patch(
            Binding(Law, "__call__"),
            vars(Law)["__call__"],
            MethodByContext(vars(Law)["__call__"], lambda self: "substitute"),
        ),
    ]
    with Patches().during(patches):
        assert in_a_recording(lambda: law.density()[1]) == ("substitute", "original")
        assert in_a_recording(lambda: Law.density) == (density, kept)
        assert in_a_recording(law) == ("substitute", "original")
    assert vars(Law)["density"] is kept
