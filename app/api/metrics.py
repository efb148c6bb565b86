"""`/metrics`: the metrics of all workers together, for Prometheus."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.middleware.scopes import AnyCaller
from app.observability.metrics.collect import collect
from app.openapi.responses import answers
from app.state import CurrentState

PATH = "/metrics"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["health"])

EXAMPLE = """\
# HELP copse_index_campaigns Campaigns in the index.
# TYPE copse_index_campaigns gauge
copse_index_campaigns{worker="w0"} 1
"""


@router.get(
    PATH,
    summary="Metrics for Prometheus",
    response_class=Response,
    responses=answers(EXAMPLE, scope=None, store=False, media_type=MEDIA_TYPE),
)
async def metrics(_: AnyCaller, state: CurrentState) -> Response:
    """Counters of all workers together; gauges have a label for their worker. Requests from this
    machine need no key."""
    return Response(await collect(state["run_directory"]), media_type=MEDIA_TYPE)
