"""Admin requests take turns; those that wait for others step aside, and probes never wait."""

import asyncio

from starlette.types import Receive, Scope, Send

from app.api.health import PATHS, router
from app.middleware.admin_share import AdminShare
from campaigns.turns import stepping_aside


class Requests:
    """An application whose requests last until `go_on`, and which counts those that run."""

    def __init__(self, aside: bool = False) -> None:
        self.running = self.most = 0
        self.go_on = asyncio.Event()
        self._aside = aside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        if self._aside:
            async with stepping_aside():
                await self.go_on.wait()
        else:
            await self.go_on.wait()
        self.running -= 1


async def send_to(share: AdminShare, path: str = "/v1/campaigns") -> None:
    async def nothing(*_: object) -> dict[str, str]:
        return {}

    await share({"type": "http", "path": path}, nothing, nothing)  # type: ignore[arg-type]


async def running(requests: Requests, share: AdminShare, *paths: str) -> list["asyncio.Task[None]"]:
    tasks = [asyncio.create_task(send_to(share, path)) for path in paths]
    for _ in range(10):
        await asyncio.sleep(0)
    return tasks


async def test_no_more_run_at_once_and_all_have_their_turn() -> None:
    requests = Requests()
    share = AdminShare(requests, exempt=PATHS, at_once=2)
    tasks = await running(requests, share, *["/v1/campaigns"] * 7)
    assert requests.running == 2
    probes = await running(requests, share, *PATHS)
    assert requests.running == 4
    requests.go_on.set()
    await asyncio.gather(*tasks, *probes)
    assert requests.running == 0


async def test_a_request_that_waits_for_others_steps_aside() -> None:
    requests = Requests(aside=True)
    share = AdminShare(requests, exempt=(), at_once=2)
    tasks = await running(requests, share, *["/v1/campaigns"] * 7)
    assert requests.running == 7
    requests.go_on.set()
    await asyncio.gather(*tasks)
    # Every turn was given back: no more than two run at once again.
    again = Requests()
    share.app = again
    tasks = await running(again, share, *["/v1/campaigns"] * 5)
    assert again.running == 2
    again.go_on.set()
    await asyncio.gather(*tasks)


def test_the_probes_are_exempt_by_their_paths() -> None:
    assert set(PATHS) == {getattr(route, "path", None) for route in router.routes}
