"""Facts known of values while a tape is under construction."""

from gradwire_engine.check import interpret


class Interpreted:
    """Values of a tape under construction, for these inputs."""

    def __init__(self, b, inputs):
        self.b, self.inputs = b, inputs

    def value(self, var):
        return interpret(self.b.tape([var]), self.inputs)[var.slot]

    integers = value
