"""The service over HTTP: the cost of a match, of a request, and minutes under load."""
