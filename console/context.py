"""What a page gets: the console that it belongs to, and the API with the key of its session."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx2
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from console.api import Api
from console.render import Renderer
from console.sessions import Session, Sessions
from console.settings import ConsoleSettings

CHANGED_MEANWHILE = "Somebody has changed it meanwhile. Look again, and repeat it if it still fits."


@dataclass(frozen=True, slots=True)
class Console:
    """The parts of a running console."""

    settings: ConsoleSettings
    sessions: Sessions
    renderer: Renderer
    client: httpx2.AsyncClient


def console_of(request: Request) -> Console:
    """The console of a request."""
    console: Console = request.app.state.console
    return console


def session_of(request: Request) -> Session:
    """The session of a request to a page that needs one."""
    session: Session = request.scope["session"]
    return session


def api_of(request: Request) -> Api:
    """The API with the key of the session."""
    return Api(console_of(request).client, session_of(request).token)


def page(
    request: Request, template: str, title: str, status: int = 200, **values: object
) -> Response:
    """A page for the session of a request."""
    return console_of(request).renderer.page(request, template, title, status, **values)


def go_to(request: Request, path: str, notice: str = "") -> Response:
    """Lead to another page after a write, with a message on it."""
    if notice:
        session_of(request).notice = notice
    return RedirectResponse(console_of(request).renderer.url(path), 303)


def version_of(form: Mapping[str, str]) -> int:
    """The version that a form was made from; 0, which is never current, if it does not say."""
    text = form.get("version", "")
    return int(text) if text.isdecimal() else 0
