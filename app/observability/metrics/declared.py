"""Every metric of the service. `docs/grafana/copse.json` shows them."""

from app.observability.metrics.metric import counter, gauge, histogram

SECONDS = (
    0.0001, 0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.0025, 0.005,
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
)  # fmt: skip
"""A match is a fraction of a millisecond: 0.25 ms apart where that matters."""

MATCHES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)

METRICS = (
    counter("copse_requests_total", "Requests answered.", "route", "status"),
    histogram(
        "copse_request_duration_seconds",
        "From the last byte in to the first out.",
        SECONDS,
        "route",
    ),
    histogram("copse_match_duration_seconds", "The index alone.", SECONDS),
    histogram("copse_matches_per_request", "Campaigns that matched a request.", MATCHES),
    counter("copse_no_match_total", "Requests that no campaign matched.", "reason"),
    counter("copse_shed_total", "Requests answered unprocessed.", "reason"),
    counter(
        "copse_unknown_attributes_total",
        "Attributes in requests that the catalogue does not have.",
        "name",
        most=100,
    ),
    gauge("copse_feed_lag_revs", "Changes in the database that the index does not have yet."),
    gauge("copse_feed_lag_seconds", "How old the oldest of those changes may be."),
    counter("copse_feed_resyncs_total", "Times the index had to leave the stream.", "reason"),
    gauge("copse_index_campaigns", "Campaigns in the index."),
    gauge("copse_index_bytes", "Memory of the index.", "part"),
    gauge("copse_index_revision", "The last change that is in the index."),
    gauge("copse_statistics_age_seconds", "How old the statistics in use are."),
    counter("copse_impressions_written_total", "Rows written to the impression log."),
    counter("copse_impressions_lost_total", "Rows that the impression log lost.", "reason"),
    gauge("copse_poisoned_changes", "Changes that could not be applied; their objects are out."),
    counter(
        "copse_workers_replaced_total", "Workers that ended, or hung and were killed.", "reason"
    ),
    gauge(
        "copse_build_info",
        "Always 1; the labels tell what runs.",
        "version",
        "engine",
        "python",
        per_worker=False,
    ),
)
