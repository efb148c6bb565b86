"""`python -m console`: serve the console. `copse console` calls it with the settings."""

import argparse
import os
import socket
import sys
import threading
from collections.abc import Sequence

import uvicorn

from console.application import create_console
from console.settings import ConsoleSettings


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        settings = ConsoleSettings(options.api_url, options.root_path, options.session_minutes)
    except ValueError as error:
        print(f"copse: {error}", file=sys.stderr)
        return 2
    listener = _listener(options)
    if listener is None:
        return 1
    config = uvicorn.Config(
        create_console(settings),
        access_log=False,
        log_level="warning",
        server_header=False,
        forwarded_allow_ips=[],
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    if options.fd is None:
        host, port = listener.getsockname()[:2]
        where = f"http://{f'[{host}]' if ':' in host else host}:{port}{settings.root_path}/"
        print(f"The console is at {where}", flush=True)
    else:
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.run([listener])
    return 0


def _listener(options: argparse.Namespace) -> socket.socket | None:
    if options.fd is not None:
        return socket.socket(fileno=options.fd)
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        return socket.create_server((options.host, options.port), family=family)
    except OSError as error:
        reason = error.strerror or error
        print(
            f"copse: cannot listen on {options.host}:{options.port}: {reason}; "
            "choose another port with --port or COPSE_CONSOLE_PORT",
            file=sys.stderr,
        )
        return None


def _end_with_parent(server: uvicorn.Server) -> None:
    """The service holds the other end of standard input: it ends when the service does."""
    while os.read(0, 1024):
        pass
    server.should_exit = True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="copse console", description="Serve the web console.")
    parser.add_argument("--api-url", required=True, help="where the API is")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8081, help="port, or 0 for a free one")
    parser.add_argument("--root-path", default="", help="path below which a proxy serves it")
    parser.add_argument("--session-minutes", type=float, default=60, help="idle time of a session")
    parser.add_argument("--fd", type=int, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
