"""Actor-critic on a small grid walk: TensorArrays of an episode, Huber loss, returns in reverse."""

from typing import Any, List, Tuple

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(2)
eps = np.finfo(np.float32).eps.item()
STATES, GAMMA, MAX_STEPS = 5, 0.95, 12


class ActorCritic(tf.keras.Model):
    """Combined actor-critic network."""

    def __init__(self, num_actions: int, num_hidden_units: int):
        super().__init__()
        self.common = layers.Dense(num_hidden_units, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


def env_step(state: int, action: int) -> Tuple[int, float, bool]:
    state = max(0, state + (1 if action else -1))
    return state, (1.0 if state == STATES - 1 else -0.1), state == STATES - 1


def one_hot(state: int) -> tf.Tensor:
    return tf.one_hot(state, STATES)[tf.newaxis]


def run_episode(model: tf.keras.Model) -> List[tf.Tensor]:
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    state = 0
    for t in range(MAX_STEPS):
        action_logits_t, value = model(one_hot(state))
        action_probs_t = tf.nn.softmax(action_logits_t)
        action = int(rng.uniform() < float(action_probs_t[0, 1]))
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, action_probs_t[0, action])
        state, reward, done = env_step(state, action)
        rewards = rewards.write(t, reward)
        if done:
            break
    return action_probs.stack(), values.stack(), rewards.stack()


def get_expected_return(rewards: tf.Tensor, gamma: float) -> tf.Tensor:
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted_sum = tf.constant(0.0)
    discounted_sum_shape = discounted_sum.shape
    for i in tf.range(n):
        discounted_sum = rewards[i] + gamma * discounted_sum
        discounted_sum.set_shape(discounted_sum_shape)
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    return (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)


huber_loss = tf.keras.losses.Huber(reduction="sum")


def compute_loss(action_probs: Any, values: Any, returns: Any) -> tf.Tensor:
    advantage = returns - values
    actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
    return actor_loss + huber_loss(values, returns)


model = ActorCritic(2, 8)
model(one_hot(0))
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.03)
rewards_seen, losses, lengths = [], [], []
for episode in range(8):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(model)
        returns = get_expected_return(rewards, GAMMA)
        action_probs, values, returns = [
            tf.expand_dims(x, 1) for x in [action_probs, values, returns]
        ]
        loss = compute_loss(action_probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    rewards_seen.append(float(tf.math.reduce_sum(rewards)))
    losses.append(float(loss))
    lengths.append(int(rewards.shape[0]))

logits, value = model(tf.eye(STATES))
results = {
    "rewards": rewards_seen,
    "losses": losses,
    "lengths": lengths,
    "right": tf.nn.softmax(logits)[:, 1].numpy().tolist(),
    "values": tf.squeeze(value).numpy().tolist(),
}
