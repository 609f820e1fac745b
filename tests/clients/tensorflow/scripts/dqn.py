"""Deep Q-learning with replay and a target network on a five-state chain."""

from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(6)
STATES, ACTIONS, GAMMA, BATCH = 5, 2, 0.9, 16


def create_q_model():
    return keras.Sequential(
        [
            keras.layers.Dense(12, activation="relu", input_shape=(STATES,)),
            keras.layers.Dense(ACTIONS, activation="linear"),
        ]
    )


class Agent:
    def __init__(self):
        self.model, self.target = create_q_model(), create_q_model()
        self.model.set_weights([rng.normal(0, 0.3, w.shape) for w in self.model.get_weights()])
        self.target.set_weights(self.model.get_weights())
        self.optimizer = keras.optimizers.Adam(learning_rate=0.01, clipnorm=1.0)
        self.loss_function = keras.losses.Huber()
        self.memory = deque(maxlen=64)

    def act(self, state, epsilon):
        if epsilon > rng.uniform():
            return int(rng.integers(ACTIONS))
        q = self.model(tf.expand_dims(tf.one_hot(state, STATES), 0), training=False)
        return tf.argmax(q[0]).numpy()

    def learn(self):
        picked = [self.memory[i] for i in rng.integers(0, len(self.memory), BATCH)]
        states, actions, rewards, next_states, dones = map(np.array, zip(*picked))
        future = self.target(tf.one_hot(next_states, STATES))
        updated = rewards.astype("float32") + GAMMA * tf.reduce_max(future, axis=1) * (
            1 - dones.astype("float32")
        )
        masks = tf.one_hot(actions, ACTIONS)
        with tf.GradientTape() as tape:
            q_values = self.model(tf.one_hot(states, STATES))
            q_action = tf.reduce_sum(tf.multiply(q_values, masks), axis=1)
            loss = self.loss_function(updated, q_action)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


def step(state, action):
    if action == 0:
        return 0, 0.2, False
    return state + 1, (1.0 if state == STATES - 2 else 0.0), state == STATES - 2


agent, losses, episode_rewards = Agent(), [], []
frames = 0
for episode in range(10):
    state, total = 0, 0.0
    for timestep in range(10):
        frames += 1
        action = agent.act(state, epsilon=max(0.1, 1.0 - frames / 60))
        next_state, reward, done = step(state, action)
        agent.memory.append((state, action, reward, next_state, done))
        state, total = next_state, total + reward
        if len(agent.memory) >= BATCH and frames % 2 == 0:
            losses.append(agent.learn())
        if frames % 20 == 0:
            agent.target.set_weights(agent.model.get_weights())
        if done:
            break
    episode_rewards.append(total)

q = agent.model.predict(np.eye(STATES, dtype=np.float32), verbose=0)
results = {
    "rewards": episode_rewards,
    "losses": [float(loss) for loss in losses[::6]],
    "q": q.tolist(),
    "frames": frames,
    "iterations": int(agent.optimizer.iterations),
}
