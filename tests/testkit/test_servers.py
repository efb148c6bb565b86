"""The server fixtures provide real servers."""

import socket
import subprocess

from testkit.servers import PostgresServer, RedisServer


def test_postgres_answers_a_query(postgres: PostgresServer) -> None:
    answer = subprocess.run(
        [postgres.bin / "psql", postgres.url, "--tuples-only", "--command", "select 6 * 7"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "42"


def test_redis_answers_a_ping(redis: RedisServer) -> None:
    with socket.create_connection((redis.host, redis.port), timeout=5) as connection:
        connection.sendall(b"PING\r\n")
        assert connection.recv(64) == b"+PONG\r\n"
