"""DDPG: actor and critic with Polyak-averaged targets, actions of one dimension."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(12)
STATE, ACTION, UPPER, GAMMA, TAU = 3, 1, 2.0, 0.95, 0.05


class OUActionNoise:
    def __init__(self, std, theta=0.15, dt=1e-1):
        self.theta, self.std, self.dt, self.x = theta, std, dt, np.zeros(ACTION)

    def __call__(self):
        pull = self.theta * -self.x * self.dt
        self.x = self.x + pull + self.std * np.sqrt(self.dt) * rng.normal(size=ACTION)
        return self.x


def get_actor():
    inputs = layers.Input(shape=(STATE,))
    out = layers.Dense(12, activation="relu")(inputs)
    outputs = layers.Dense(ACTION, activation="tanh")(out)
    outputs = outputs * UPPER
    return keras.Model(inputs, outputs)


def get_critic():
    state_input = layers.Input(shape=(STATE,))
    state_out = layers.Dense(8, activation="relu")(state_input)
    action_input = layers.Input(shape=(ACTION,))
    action_out = layers.Dense(8, activation="relu")(action_input)
    concat = layers.Concatenate()([state_out, action_out])
    outputs = layers.Dense(1)(layers.Dense(12, activation="relu")(concat))
    return keras.Model([state_input, action_input], outputs)


def update_target(target, original, tau):
    target_weights, original_weights = target.get_weights(), original.get_weights()
    for i in range(len(target_weights)):
        target_weights[i] = original_weights[i] * tau + target_weights[i] * (1 - tau)
    target.set_weights(target_weights)


actor, critic, target_actor, target_critic = get_actor(), get_critic(), get_actor(), get_critic()
for net, target in ((actor, target_actor), (critic, target_critic)):
    net.set_weights([rng.normal(0, 0.3, w.shape) for w in net.get_weights()])
    target.set_weights(net.get_weights())
critic_optimizer = keras.optimizers.Adam(0.01)
actor_optimizer = keras.optimizers.Adam(0.005)


@tf.function
def update(state_batch, action_batch, reward_batch, next_state_batch):
    with tf.GradientTape() as tape:
        target_actions = target_actor(next_state_batch, training=True)
        y = reward_batch + GAMMA * target_critic([next_state_batch, target_actions], training=True)
        critic_value = critic([state_batch, action_batch], training=True)
        critic_loss = tf.math.reduce_mean(tf.math.square(y - critic_value))
    critic_grad = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(critic_grad, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actions = actor(state_batch, training=True)
        actor_loss = -tf.math.reduce_mean(critic([state_batch, actions], training=True))
    actor_grad = tape.gradient(actor_loss, actor.trainable_variables)
    actor_optimizer.apply_gradients(zip(actor_grad, actor.trainable_variables))
    return critic_loss, actor_loss


noise, history, returns = OUActionNoise(std=0.2), [], []
buffer, state = [], rng.normal(size=STATE)
for step in range(30):
    action = tf.squeeze(actor(tf.constant(state[None], tf.float32))).numpy() + noise()
    action = np.clip(action, -UPPER, UPPER)
    next_state = 0.9 * state + 0.1 * np.array([action[0], -action[0], 0.5])
    reward = -float(np.sum(next_state**2))
    buffer.append((state, action, [reward], next_state))
    state = next_state
    returns.append(reward)
    if len(buffer) >= 8:
        rows = [buffer[i] for i in rng.integers(0, len(buffer), 8)]
        batch = [tf.convert_to_tensor(np.array(part), tf.float32) for part in zip(*rows)]
        history.append(update(*batch))
        update_target(target_actor, actor, TAU)
        update_target(target_critic, critic, TAU)

probe = np.eye(STATE, dtype=np.float32)
results = {
    "critic_losses": [float(pair[0]) for pair in history[::5]],
    "actor_losses": [float(pair[1]) for pair in history[::5]],
    "return": float(np.sum(returns)),
    "actions": actor(probe).numpy().ravel().tolist(),
    "target_actions": target_actor(probe).numpy().ravel().tolist(),
}
