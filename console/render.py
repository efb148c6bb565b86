"""Pages from templates: HTML with everything escaped, and what all pages have in common."""

import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from console.formats import age, money, number, percent, sentence, when
from console.sessions import Session

HERE = Path(__file__).parent
STATIC = HERE / "static"

NAVIGATION = (
    ("Campaigns", "/campaigns", "campaigns:read"),
    ("Advertisers", "/advertisers", "campaigns:read"),
    ("Why", "/why", "campaigns:read"),
    ("Import & export", "/transfer", "campaigns:read"),
    ("Operations", "/operations", ""),
)

STATES = {
    "live": ("Live", "good"),
    "scheduled": ("Scheduled", "info"),
    "draft": ("Draft", "quiet"),
    "paused": ("Paused", "quiet"),
    "archived": ("Archived", "quiet"),
    "ended": ("Ended", "quiet"),
    "advertiser_paused": ("Advertiser paused", "warn"),
    "no_traffic": ("No traffic seen", "warn"),
    "unmatched": ("Nothing matched", "warn"),
    "outranked": ("Outranked", "warn"),
    "never_matches": ("Never matches", "bad"),
}
"""The words and the tone of each state of a campaign."""


class Renderer:
    """Renders templates for one console."""

    def __init__(self, root_path: str) -> None:
        self.root_path = root_path
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        # In the path, so that a script imports others of the same version.
        digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(STATIC.iterdir())))
        self._environment.globals |= {
            "url": self.url,
            "static": lambda name: self.url(f"/static/{digest.hexdigest()[:10]}/{name}"),
            "navigation": NAVIGATION,
            "state_word": lambda code: STATES.get(code, (code, "quiet"))[0],
            "state_tone": lambda code: STATES.get(code, (code, "quiet"))[1],
        }
        self._environment.filters |= {
            each.__name__: each for each in (age, money, number, percent, sentence, when)
        }

    def url(self, path: str) -> str:
        """A path of the console, as the browser needs it."""
        return self.root_path + path

    def page(
        self, request: Request, template: str, title: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page for the session of a request."""
        session: Session | None = request.scope.get("session")
        notice = ""
        if session is not None:
            notice, session.notice = session.notice, ""
        text = self._environment.get_template(template).render(
            title=title, session=session, notice=notice, path=request.scope["path"], **values
        )
        return HTMLResponse(text, status)
