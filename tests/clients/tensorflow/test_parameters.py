"""Each parameter of ``gradwire.tf`` is used, and has the name that it has in TensorFlow 2.21."""

import ast
import inspect
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tensorflow.public import public_callables

RECORDED: dict[str, list[str]] = json.loads((Path(__file__).parent / "signatures.json").read_text())
CALLABLES = public_callables()
FUNCTIONS = {name: value for name, value in CALLABLES.items() if inspect.isfunction(value)}

#: Parameters without a meaning here, by design: no value of theirs changes a result.
MEANINGLESS = {
    "tensor_array_name": "names of operations in a graph, which is not built",
    "num_parallel_batches": "speed",
    "num_parallel_reads": "speed",
    "buffer_output_elements": "speed",
    "prefetch_input_elements": "speed",
    "device": "where on devices elements lie",
    "target_device": "where on devices elements lie",
    "source_device": "where on devices elements lie",
    "expand_animations": "animations, which are refused",
    "values": "the graph that a name is in, which is not built",
    "experimental_enable_variable_lifting": "graphs, which are not built",
    "experimental_relax_shapes": "speed",
    "experimental_compile": "speed",
    "experimental_follow_type_hints": "speed",
    "copy": "tensors cannot be changed, so that none is copied",
    "partial": "a value is known, or none of it is",
    "tensor": "a question whose answer is always the same here",
    "cuda_only": "a question whose answer is always the same here",
    "min_cuda_compute_capability": "a question whose answer is always the same here",
    "data": "what messages show besides",
    "control_inputs": "the order of operations, which is that of calls",
    "name": "names of operations in a graph, which is not built",
    "scope": "names of operations in a graph, which is not built",
    "loss_collection": "collections of a graph, which is not built",
    "layout": "where on devices a tensor lies",
    "colocate_with_first_write_call": "where on devices a tensor lies",
    "aggregation": "how copies on several devices become one",
    "aggregation_method": "how sums are computed",
    "gate_gradients": "the order in which gradients are computed",
    "parallel_iterations": "speed",
    "back_prop": "memory",
    "swap_memory": "memory",
    "free_memory": "memory",
    "checkpoint": "what checkpoints hold, which tables are no part of",
    "experimental_is_anonymous": "names of resources, which there are none of",
    "initial_num_buckets": "memory",
    "unroll": "speed",
    "synchronized": "means over several devices",
    "num_parallel_calls": "speed",
    "deterministic": "the order of elements, which is always the same here",
    "buffer_size": "speed",
    "jit_compile": "speed",
    "run_eagerly": "debugging",
    "reduce_retracing": "speed",
    "autograph": "Python's control flow works without",
    "recursive": "Python's control flow works without",
    "experimental_optional_features": "Python's control flow works without",
    "experimental_implements": "speed",
    "experimental_autograph_options": "Python's control flow works without",
    "experimental_attributes": "speed",
    "auto_scale_loss": "half precision, which layers do not compute in",
    "validate": "checks, which are always made",
    "validate_args": "checks, which are always made",
    "validate_indices": "checks, which are always made",
    "validate_shape": "checks, which are always made",
    "use_locking": "threads, of which there is one",
    "caching_device": "where on devices a variable lies",
    "device_name": "where on devices is computed",
    "allow_fast_lookup": "speed",
    "a_is_sparse": "speed",
    "b_is_sparse": "speed",
    "sorted": "the order of the greatest, which is always theirs",
    "stable": "the order of equals, which is always theirs",
    "unique": "speed",
    "shift": "TensorFlow does not use it either",
    "summarize": "how much of an array messages show",
    "stateful": "whether graphs may leave a call out",
    "infer_shape": "checks of graphs",
    "shape_invariants": "checks of graphs",
    "fallback_to_while_loop": "speed",
    "warn": "speed",
    "expand_composites": "composite tensors, which are always leaves here",
    "options": "of files and threads",
    "training": "such a layer computes the same in training",
}


@cache
def _parsed(file: str) -> dict[int, ast.FunctionDef]:
    tree = ast.parse(Path(file).read_text())
    return {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _node(function: Callable[..., Any]) -> ast.FunctionDef | None:
    function = inspect.unwrap(function)
    code = function.__code__
    if not Path(code.co_filename).exists():  # the __init__ of a dataclass
        return None
    found = _parsed(code.co_filename)
    near = [line for line in found if line >= code.co_firstlineno]
    node = found[min(near)] if near else None
    return node if node is not None and node.name == function.__name__ else None


def _parameters(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [each.arg for each in (*named, *starred)]


def unused(node: ast.FunctionDef) -> list[str]:
    """The parameters that no expression of a function reads; none if it raises or is a hook."""
    body = [
        each
        for each in node.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    if not body or isinstance(body[0], (ast.Raise, ast.Pass)) or node.name.startswith("on_"):
        return []
    read = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
    return [
        name
        for name in _parameters(node)
        if name not in read and name not in MEANINGLESS and name not in ("self", "cls")
    ]


@pytest.mark.thorough
def test_no_public_function_takes_a_parameter_that_it_does_not_use():
    found = {
        name: parameters
        for name, value in FUNCTIONS.items()
        if (node := _node(value)) is not None and (parameters := unused(node))
    }
    assert found == {}


def test_unused_parameters_are_found():
    source = "def f(a, b, *args, jit_compile=None, **_):\n    'Text.'\n    return a\n"
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    assert unused(node) == ["b", "args", "_"]


@pytest.mark.thorough
def test_no_list_of_parameters_has_a_sink():
    sinks = [
        f"{name}({parameter})"
        for name, value in FUNCTIONS.items()
        if (node := _node(value)) is not None
        for parameter in _parameters(node)
        if parameter.startswith("_")
    ]
    assert sinks == []


@pytest.mark.thorough
def test_nearly_all_public_functions_are_read():
    read = [name for name, value in FUNCTIONS.items() if _node(value) is not None]
    assert len(read) > 0.9 * len(FUNCTIONS)


#: Names that differ: of classes that are not called by users, of aliases, and of first arguments.
OTHER_NAMES = {
    "DType", "DType.__init__", "RaggedTensor", "RaggedTensor.__init__", "data.Dataset",
    "data.Dataset.__init__", "TensorSpec.is_compatible_with", "as_dtype", "convert_to_tensor",
    "sparse.softmax", "keras.layers.Bidirectional.call", "keras.layers.RMSNormalization.call",
    "keras.layers.RNN.build", "keras.layers.RNN.call", "keras.layers.RNN.compute_mask",
    "keras.layers.Bidirectional.compute_mask", "keras.layers.SimpleRNNCell.call",
    "keras.optimizers.Adadelta.update_step",
}  # fmt: skip


def unknown(name: str) -> list[str]:
    """The parameters that TensorFlow's function does not have, if it does not take any."""
    theirs = RECORDED[name]
    if any(each.startswith("*") for each in theirs):
        return []
    return [
        each.name
        for each in inspect.signature(CALLABLES[name]).parameters.values()
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        if each.name not in (*theirs, "self", "cls", "name")
    ]


def test_parameters_have_tensorflows_names():
    names = RECORDED.keys() & CALLABLES.keys()
    assert len(names) > 2000
    assert {name: found for name in names - OTHER_NAMES if (found := unknown(name))} == {}
