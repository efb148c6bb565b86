"""A brand-safety service: `python brand_safety.py PORT` scores pages, from 0 (unsafe) to 1."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UNSAFE = {"casino": 0.9, "poker": 0.7, "violence": 0.8}


def score(page: str) -> float:
    """A model would be here. This one looks for words in the address."""
    return 1 - max((weight for word, weight in UNSAFE.items() if word in page), default=0.0)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep connections open

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"results": [score(page) for (page,) in sent["calls"]]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
    sys.stdout.flush()
    server.serve_forever()
