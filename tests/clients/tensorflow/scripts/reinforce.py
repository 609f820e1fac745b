"""REINFORCE with a baseline on a contextual bandit: log-probabilities by one-hot and by gather."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
CONTEXTS, ACTIONS, BATCH = 3, 4, 24
payoff = rng.uniform(size=(CONTEXTS, ACTIONS)).astype(np.float32)


class Policy:
    def __init__(self):
        self.W1 = tf.Variable(tf.constant(rng.normal(0, 0.5, (CONTEXTS, 8)), tf.float32))
        self.W2 = tf.Variable(tf.constant(rng.normal(0, 0.5, (8, ACTIONS)), tf.float32))
        self.params = [self.W1, self.W2]

    def logits(self, states):
        return tf.matmul(tf.nn.tanh(tf.matmul(states, self.W1)), self.W2)

    def sample(self, states):
        cumulative = tf.cumsum(tf.nn.softmax(self.logits(states)), axis=1)
        drawn = rng.uniform(size=(len(states), 1)).astype(np.float32)
        chosen = tf.reduce_sum(tf.cast(drawn > cumulative, tf.int32), axis=1)
        return tf.minimum(chosen, ACTIONS - 1)


def entropy(logits):
    p = tf.nn.softmax(logits)
    return -tf.reduce_sum(p * tf.nn.log_softmax(logits), axis=-1)


policy = Policy()
optimizer = tf.keras.optimizers.RMSprop(0.02)
baseline = tf.Variable(0.0, trainable=False)
rewards_by_step, losses, entropies = [], [], []
for step in range(25):
    contexts = rng.integers(0, CONTEXTS, BATCH)
    states = tf.one_hot(contexts, CONTEXTS)
    actions = policy.sample(states)
    rewards = tf.gather_nd(payoff, tf.stack([tf.constant(contexts, tf.int32), actions], axis=1))
    advantages = rewards - baseline
    with tf.GradientTape() as tape:
        logits = policy.logits(states)
        neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        bonus = tf.reduce_mean(entropy(logits))
        loss = tf.reduce_mean(neg_log_prob * tf.stop_gradient(advantages)) - 0.01 * bonus
    grads = tape.gradient(loss, policy.params)
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, policy.params))
    baseline.assign(0.9 * baseline + 0.1 * tf.reduce_mean(rewards))
    rewards_by_step.append(tf.reduce_mean(rewards).numpy())
    losses.append(loss.numpy())
    entropies.append(bonus.numpy())

# the score function's expectation is zero, and its outer product the Fisher information
with tf.GradientTape(persistent=True) as tape:
    log_p = tf.nn.log_softmax(policy.logits(tf.eye(CONTEXTS)))
    probabilities = tf.exp(log_p)
    expected = tf.reduce_sum(tf.stop_gradient(probabilities) * log_p)
scores = tape.gradient(expected, policy.W2)
jacobian = tape.jacobian(log_p, policy.W2)
fisher = tf.einsum("ca,caij,cakl->ijkl", probabilities, jacobian, jacobian)

results = {
    "rewards": [float(each) for each in rewards_by_step[::6]],
    "losses": [float(each) for each in losses[::6]],
    "entropies": [float(each) for each in entropies[::6]],
    "baseline": float(baseline),
    "greedy": tf.argmax(policy.logits(tf.eye(CONTEXTS)), axis=1).numpy().tolist(),
    "zero_score": bool(tf.reduce_max(tf.abs(scores)) < 1e-5),
    "fisher_trace": float(tf.einsum("ijij->", fisher)),
}
