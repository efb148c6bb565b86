"""The settings: environment variables that begin with `COPSE_`, read once at start."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from index import Limits
from index.language.limits import MAX_DEPTH

PREFIX = "COPSE_"
_LIMITS = Limits()


class SettingsError(ValueError):
    """A setting has a value that Copse cannot use."""


class Settings(BaseModel):
    """Every setting with its default; `copse settings` prints them with their meaning."""

    model_config = ConfigDict(frozen=True)

    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(
        default=8080, ge=0, le=65535, description="the port to listen on; 0 takes a free one"
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="warning", description="how much the server logs"
    )
    max_expression_bytes: int = Field(
        default=_LIMITS.text_bytes, ge=1, description="the longest expression, in bytes of UTF-8"
    )
    max_predicates: int = Field(
        default=_LIMITS.predicates, ge=1, description="the most predicates in an expression"
    )
    max_depth: int = Field(
        default=_LIMITS.depth,
        ge=1,
        le=MAX_DEPTH,
        description=f"how deep parentheses and `not` may nest; at most {MAX_DEPTH}",
    )
    max_set_values: int = Field(
        default=_LIMITS.set_values, ge=1, description="the most values in one set of an expression"
    )

    @property
    def limits(self) -> Limits:
        """What an expression may cost."""
        return Limits(
            text_bytes=self.max_expression_bytes,
            predicates=self.max_predicates,
            depth=self.max_depth,
            set_values=self.max_set_values,
        )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read `COPSE_…`; raises `SettingsError` naming every variable that is wrong."""
        given = {
            field: environment[variable(field)]
            for field in cls.model_fields
            if variable(field) in environment
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            wrong = [
                f"{variable(str(item['loc'][0]))}={item['input']!r}: {item['msg']}"
                for item in error.errors()
            ]
            raise SettingsError("\n".join(wrong)) from None


def variable(field: str) -> str:
    """The environment variable that sets a field."""
    return PREFIX + field.upper()
