"""`/healthz/…`."""

from fastapi.testclient import TestClient

from app.engine import current_engine


def test_live_says_so(client: TestClient) -> None:
    response = client.get("/healthz/live")
    assert response.status_code == 200
    assert response.json() == {"status": "live"}


def test_ready_names_the_engine(client: TestClient) -> None:
    response = client.get("/healthz/ready")
    assert response.status_code == 200
    answer = response.json()
    assert answer["status"] == "ready"
    assert answer["engine"] in {"native", "reference"}
    assert (answer["core_version"] is None) == (answer["engine"] == "reference")
    assert answer["engine"] == current_engine().name
