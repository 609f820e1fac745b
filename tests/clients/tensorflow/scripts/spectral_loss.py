"""Signals: a synthesiser fitted by short-time Fourier spectra, a learned filter, flat phases."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(75)
SAMPLES, RATE = 128, 128.0
t = tf.linspace(0.0, 1.0 - 1.0 / RATE, SAMPLES)
target = tf.sin(2 * np.pi * 9.0 * t) * tf.exp(-2.0 * t) + 0.3 * tf.sin(2 * np.pi * 21.0 * t)


def spectrogram(x, length):
    stft = tf.signal.stft(x, frame_length=length, frame_step=length // 4, fft_length=length)
    return tf.abs(stft)


def multiscale(x, y):
    loss = 0.0
    for length in (16, 32):
        a, b = spectrogram(x, length), spectrogram(y, length)
        loss += tf.reduce_mean(tf.abs(a - b))
        loss += 0.1 * tf.reduce_mean(tf.abs(tf.math.log(a + 1e-2) - tf.math.log(b + 1e-2)))
    return loss


frequency = tf.Variable([8.5, 20.0])
log_amplitude = tf.Variable([-0.5, -1.5])
decay = tf.Variable([1.0, 0.3])
variables = [frequency, log_amplitude, decay]
optimizer = tf.keras.optimizers.Adam(0.05)
history = []
for step in range(12):
    with tf.GradientTape() as tape:
        envelope = tf.exp(log_amplitude[:, None] - decay[:, None] * t)
        signal = tf.reduce_sum(envelope * tf.sin(2 * np.pi * frequency[:, None] * t), axis=0)
        loss = multiscale(signal, target)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    history.append(float(loss))

# a filter in the frequency domain, deconvolved
kernel = tf.constant(np.exp(-0.5 * (np.arange(SAMPLES) - 3.0) ** 2), tf.float32)
blurred = tf.signal.irfft(tf.signal.rfft(target) * tf.signal.rfft(kernel))
taps = tf.Variable(tf.zeros(9))
filtered = []
for step in range(10):
    with tf.GradientTape() as tape:
        out = tf.nn.conv1d(blurred[None, :, None], taps[:, None, None], stride=1, padding="SAME")
        error = tf.reduce_mean((out[0, :, 0] - target) ** 2)
    taps.assign_sub(0.2 * tape.gradient(error, taps))
    filtered.append(float(error))

phases = tf.Variable(tf.constant(rng.uniform(0, 2 * np.pi, 16), tf.float32))
with tf.GradientTape() as tape:  # a flat envelope from chosen phases
    spectrum = tf.complex(tf.cos(phases), tf.sin(phases))
    wave = tf.signal.ifft(spectrum)
    peak = tf.reduce_logsumexp(100.0 * tf.abs(wave) ** 2) / 100.0
by_phase = tape.gradient(peak, phases)
window = tf.signal.hann_window(16)
mel = tf.signal.linear_to_mel_weight_matrix(6, 17, 128, 5.0, 60.0)
cepstrum = tf.signal.dct(tf.math.log(spectrogram(target, 32) @ mel + 1e-2), type=2, norm="ortho")

results = {
    "history": history,
    "frequency": frequency.numpy().tolist(),
    "decay": decay.numpy().tolist(),
    "filtered": filtered[::3],
    "taps": taps.numpy().tolist(),
    "by_phase": by_phase[:5].numpy().tolist(),
    "cepstrum": cepstrum[2].numpy().tolist(),
    "window": window[:4].numpy().tolist(),
}
