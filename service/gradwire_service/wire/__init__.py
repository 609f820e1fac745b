"""Between bytes and the engine's vocabulary: codecs, the envelope, leaves in, arrays out."""
