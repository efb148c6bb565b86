"""The web console: a page for people, and a client of the HTTP API.

It imports nothing of the service. Each request to the API has the key that the person has signed in
with, so the console can do what that key can do, and no more.
"""
