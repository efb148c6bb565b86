"""`python -m app.health_check [live|ready]`: ask the service on this machine how it is.

What a container's health check runs, every few seconds: so it imports nothing of the service, which
would take a second of CPU, and reads the two settings that it needs by itself.
"""

import http.client
import os
import sys

SECONDS = 4.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Who listens on all addresses is asked on the machine's own."""


def main(arguments: list[str]) -> int:
    """The exit code: 0 when it is well."""
    what = arguments[0] if arguments else "ready"
    host = os.environ.get("COPSE_HOST") or "127.0.0.1"
    host = _EVERYWHERE.get(host, host)
    port = int(os.environ.get("COPSE_PORT") or 8080)
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("GET", f"/healthz/{what}")
        answer = connection.getresponse()
        told = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"nobody answers on {host}:{port}: {error}\n")
        return 1
    finally:
        connection.close()
    sys.stdout.write(f"{told}\n")
    return 0 if answer.status == http.client.OK else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
