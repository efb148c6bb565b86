"""The hot path: from the bytes of a request to the bytes of an answer."""
