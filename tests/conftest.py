"""What all tests share: Hypothesis profiles, and the fixtures of real servers."""

import os

from hypothesis import settings

pytest_plugins = ["tests.servers"]

settings.register_profile("fast", max_examples=100, deadline=None, derandomize=False)
settings.register_profile("long", max_examples=10_000, deadline=None, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
