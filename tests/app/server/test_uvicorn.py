"""The server itself, in a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

SERVING = """
import gc, os
from app.main import create_service
from app.server.uvicorn import listen, serve_app
from app.settings import Settings

def started(url):
    gc.collect()
    routes = sum(type(each).__name__ == "APIRoute" for each in gc.get_objects())
    print(gc.get_freeze_count(), routes, flush=True)

settings = Settings.from_environment(os.environ)
with listen("127.0.0.1", 0) as listener:
    serve_app(create_service(settings), settings, listener, started)
"""


def test_the_collector_passes_over_what_was_there_before_the_first_request(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVING]
    environment = os.environ | {"COPSE_DATABASE_URL": f"sqlite:///{tmp_path}/copse.sqlite3"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        passed_over, routes = map(int, process.stdout.readline().split())
        process.send_signal(signal.SIGTERM)
    assert routes == 0, "each is looked at whenever everything is"
    assert passed_over > 100_000
