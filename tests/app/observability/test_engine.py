"""What the service says about its engine."""

from app.observability.engine import EngineInfo


def test_the_native_core_is_named_with_its_version() -> None:
    assert str(EngineInfo("native", "1.2.3")) == "native core 1.2.3"


def test_without_the_core_it_says_what_to_do() -> None:
    words = str(EngineInfo("reference", None))
    assert "the native core is not built" in words
    assert "make setup" in words
