"""``tf.version``: which TensorFlow's names and conventions these are."""

VERSION: str = "2.21.0"
