"""A match: from the bytes of a request to the bytes of the response."""
