"""PPO with a clipped objective and generalised advantages on a small pendulum-like system."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(8)
STEPS, GAMMA, LAM, CLIP = 32, 0.97, 0.9, 0.2


def discounted_cumulative_sums(x, discount):
    total, sums = 0.0, np.zeros_like(x)
    for i in reversed(range(len(x))):
        total = x[i] + discount * total
        sums[i] = total
    return sums


def mlp(x, sizes, activation="tanh", output_activation=None):
    for size in sizes[:-1]:
        x = layers.Dense(units=size, activation=activation)(x)
    return layers.Dense(units=sizes[-1], activation=output_activation)(x)


def logprobabilities(logits, a):
    logprobabilities_all = tf.nn.log_softmax(logits)
    return tf.reduce_sum(tf.one_hot(a, 2) * logprobabilities_all, axis=1)


observation_input = keras.Input(shape=(2,), dtype="float32")
actor = keras.Model(inputs=observation_input, outputs=mlp(observation_input, [8, 2]))
critic = keras.Model(inputs=observation_input, outputs=mlp(observation_input, [8, 1]))
for net in (actor, critic):
    net.set_weights([rng.normal(0, 0.5, w.shape) for w in net.get_weights()])
policy_optimizer = keras.optimizers.Adam(learning_rate=0.02)
value_optimizer = keras.optimizers.Adam(learning_rate=0.02)


def rollout():
    state = np.array([0.5, 0.0])
    observations, actions, rewards = [], [], []
    uniforms = rng.uniform(size=STEPS)
    for t in range(STEPS):
        probabilities = tf.nn.softmax(actor(state[None].astype("float32")))[0].numpy()
        action = int(uniforms[t] < probabilities[1])
        observations.append(state.astype(np.float32))
        force = 1.0 if action else -1.0
        velocity = state[1] + 0.1 * (force - 0.5 * state[0])
        state = np.array([state[0] + 0.1 * velocity, velocity])
        actions.append(action)
        rewards.append(-float(state[0] ** 2))
    return np.stack(observations), np.array(actions, np.int32), np.array(rewards, np.float32)


@tf.function
def train_policy(observation_buffer, action_buffer, logprobability_buffer, advantage_buffer):
    with tf.GradientTape() as tape:
        ratio = tf.exp(
            logprobabilities(actor(observation_buffer), action_buffer) - logprobability_buffer
        )
        min_advantage = tf.where(
            advantage_buffer > 0, (1 + CLIP) * advantage_buffer, (1 - CLIP) * advantage_buffer
        )
        policy_loss = -tf.reduce_mean(tf.minimum(ratio * advantage_buffer, min_advantage))
    policy_grads = tape.gradient(policy_loss, actor.trainable_variables)
    policy_optimizer.apply_gradients(zip(policy_grads, actor.trainable_variables))
    kl = tf.reduce_mean(
        logprobability_buffer - logprobabilities(actor(observation_buffer), action_buffer)
    )
    return policy_loss, kl


@tf.function
def train_value_function(observation_buffer, return_buffer):
    with tf.GradientTape() as tape:
        error = return_buffer - tf.squeeze(critic(observation_buffer), axis=1)
        value_loss = tf.reduce_mean(error**2)
    value_grads = tape.gradient(value_loss, critic.trainable_variables)
    value_optimizer.apply_gradients(zip(value_grads, critic.trainable_variables))
    return value_loss


history = []
for iteration in range(3):
    observations, actions, rewards = rollout()
    values = np.append(tf.squeeze(critic(observations), axis=1).numpy(), np.float32(0))
    deltas = rewards + GAMMA * values[1:] - values[:-1]
    advantages = discounted_cumulative_sums(deltas, GAMMA * LAM)
    advantages = (advantages - advantages.mean()) / advantages.std()
    returns = discounted_cumulative_sums(rewards, GAMMA)
    old = logprobabilities(actor(observations), actions)
    for _ in range(4):
        loss, kl = train_policy(observations, actions, old, advantages)
        if kl > 1.5 * 0.05:
            break
    for _ in range(4):
        value_loss = train_value_function(observations, returns)
    history.append([float(rewards.sum()), float(loss), float(kl), float(value_loss)])

results = {"history": history, "logits": actor(np.eye(2, dtype="float32")).numpy().tolist()}
