"""`python -m app.commands.health_check [live|ready]`: check the health of the local service.

The health check of a container runs it every few seconds. So it imports nothing of the service,
which would take a second of CPU, and reads the two settings that it needs from the environment.
"""

import http.client
import os
import sys

SECONDS = 4.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""A service that listens on all addresses is asked on loopback."""


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0 if the service is healthy."""
    what = arguments[0] if arguments else "ready"
    host = os.environ.get("COPSE_HOST") or "127.0.0.1"
    host = _EVERYWHERE.get(host, host)
    port = os.environ.get("COPSE_PORT") or "8080"
    if not port.isdigit():
        sys.stderr.write(f"COPSE_PORT={port!r}: expected a number\n")
        return 2
    connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
    try:
        connection.request("GET", f"/healthz/{what}")
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"no answer from {host}:{port}: {error}\n")
        return 1
    finally:
        connection.close()
    sys.stdout.write(f"{body}\n")
    return 0 if answer.status == http.client.OK else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
