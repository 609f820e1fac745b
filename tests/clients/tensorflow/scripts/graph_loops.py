"""tf.function with loops and conditions: while_loop, TensorArray, cond, switch_case and scan."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(49)
x = tf.Variable(tf.constant(rng.normal(size=5), tf.float32))


@tf.function
def power(base, exponent):
    result = tf.ones_like(base)
    for _ in tf.range(exponent):
        result *= base
    return result


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@tf.function
def newton_sqrt(a):
    def condition(i, y):
        return tf.logical_and(i < 20, tf.reduce_max(tf.abs(y * y - a)) > 1e-5)

    def body(i, y):
        return i + 1, 0.5 * (y + a / y)

    return tf.while_loop(condition, body, [tf.constant(0), tf.ones_like(a)])


@tf.function
def recurrence(w, inputs):
    outputs = tf.TensorArray(tf.float32, size=tf.shape(inputs)[0])
    state = tf.zeros([])
    for t in tf.range(tf.shape(inputs)[0]):
        if inputs[t] > 0:
            state = tf.tanh(w * state + inputs[t])
        else:
            state = 0.5 * state
        outputs = outputs.write(t, state)
    return outputs.stack()


@tf.function(reduce_retracing=True)
def piecewise(v):
    return tf.cond(tf.reduce_sum(v) > 0, lambda: tf.reduce_sum(v**2), lambda: tf.reduce_sum(-v))


@tf.function
def branch(i, v):
    return tf.switch_case(
        i, [lambda: tf.sin(v), lambda: v**3, lambda: tf.exp(-v)], default=lambda: v
    )


def gradient(function, *sources):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = function(*sources)
    return y, tape.gradient(y, list(sources))


with tf.GradientTape() as tape:
    total = tf.reduce_sum(power(x, tf.constant(3)))
cubes = tape.gradient(total, x)
iterations, roots = newton_sqrt(tf.constant([2.0, 9.0]))
a = tf.constant([2.0, 9.0])
_, (root_slope,) = gradient(lambda a: newton_sqrt(a)[1], a)
outputs, (dw, dinputs) = gradient(recurrence, tf.constant(0.8), tf.constant([1.0, -0.3, 0.5, 2.0]))
scanned = tf.scan(lambda s, e: 0.9 * s + e, tf.constant([1.0, 2.0, 3.0]))
mapped = tf.map_fn(lambda row: tf.reduce_sum(row) ** 2, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
folded = tf.foldl(lambda acc, e: acc * 0.5 + e, tf.constant([1.0, 2.0, 4.0]))
vectorized = tf.vectorized_map(lambda r: tf.tensordot(r, r, 1), tf.reshape(tf.range(6.0), (3, 2)))
pieces = [gradient(piecewise, tf.constant(v)) for v in ([1.0, 2.0], [-1.0, -2.0])]
branches = [gradient(lambda v: branch(tf.constant(i), v), tf.constant(0.7)) for i in range(4)]

results = {
    "cubes": cubes.numpy().tolist(),
    "collatz": [int(collatz(tf.constant(n))) for n in (1, 6, 27)],
    "iterations": int(iterations),
    "roots": roots.numpy().tolist(),
    "root_slope": root_slope.numpy().tolist(),
    "outputs": outputs.numpy().tolist(),
    "recurrence": [float(dw), dinputs.numpy().tolist()],
    "scan": scanned.numpy().tolist(),
    "mapped": mapped.numpy().tolist(),
    "folded": float(folded),
    "vectorized": vectorized.numpy().tolist(),
    "pieces": [[float(y), g.numpy().tolist()] for y, (g,) in pieces],
    "branches": [[float(y), float(g)] for y, (g,) in branches],
    "traces": power.experimental_get_tracing_count(),
}
