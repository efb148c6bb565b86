"""A child that ends unexpectedly is reported."""

import pytest

from testkit.child import Child, ChildFailed


def test_a_child_that_dies_is_an_error() -> None:
    with (
        pytest.raises(ChildFailed, match=r"python -m bench\.nobody ended with status 1"),
        Child("bench.nobody") as child,
    ):
        child.hear()


def test_a_child_that_does_not_end_in_peace_is_an_error() -> None:
    with pytest.raises(ChildFailed), Child("bench.nobody"):
        pass
