"""What a request costs inside the server: bytes in, bytes out, without a socket or a client."""
