"""Every metric of the service.

A new metric takes a line here, a call where it is counted, and a panel in
`docs/grafana/copse.json`. `python -m app.commands.docs` then updates `docs/metrics.md`.
"""

from app.observability.metrics.metric import counter, gauge, histogram

SECONDS = (
    0.0001, 0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.0025, 0.005,
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
)  # fmt: skip
"""A match takes a fraction of a millisecond: buckets are 0.25 ms wide there."""

MATCHES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)

METRICS = (
    counter("copse_requests_total", "Answered requests of all routes.", "route", "status"),
    histogram(
        "copse_request_duration_seconds",
        "From reading the first byte of a request to having its response ready to send.",
        SECONDS,
        "route",
    ),
    histogram(
        "copse_match_duration_seconds",
        "From the attributes of a request to its matches: the time in the index.",
        SECONDS,
    ),
    histogram(
        "copse_matches_per_request", "Campaigns in the answer, of a request or an imp.", MATCHES
    ),
    counter("copse_no_match_total", "Requests without a match.", "reason"),
    counter("copse_shed_total", "Requests refused because they had waited too long.", "reason"),
    counter(
        "copse_unknown_attributes_total",
        "Attributes in requests that the catalogue does not have.",
        "name",
        most=100,
    ),
    counter(
        "copse_openrtb_ignored_total",
        "Fields of bid requests that were ignored because of a wrong value.",
        "path",
        most=200,
    ),
    counter(
        "copse_openrtb_tolerated_total",
        "Fields of bid requests that were used although they are not written as specified.",
        "path",
        most=200,
    ),
    counter("copse_operator_calls_total", "Calls of operators.", "operator"),
    histogram(
        "copse_operator_duration_seconds",
        "Time of the calls of an operator that were made together.",
        SECONDS,
        "operator",
    ),
    counter("copse_operator_cache_hits_total", "Results of operators that were known.", "operator"),
    counter(
        "copse_operator_failures_total",
        "Calls of operators without a result: timeout, error, answer, open, host, entry_point.",
        "operator",
        "reason",
    ),
    counter(
        "copse_operator_skipped_total", "Calls that were not made for want of time.", "operator"
    ),
    counter("copse_degraded_total", "Answers that lack results of operators.", "route"),
    gauge("copse_feed_lag_revs", "Changes in the database that the index does not have yet."),
    gauge("copse_feed_lag_seconds", "Greatest possible age of these changes."),
    counter(
        "copse_feed_resyncs_total",
        "Times the index had to leave the stream, for the log or for a full load.",
        "way",
        "reason",
    ),
    gauge("copse_redis_up", "1 while the stream in Redis can be read, 0 while it cannot."),
    gauge("copse_index_campaigns", "Campaigns in the index."),
    gauge("copse_index_bytes", "Memory of the index.", "part"),
    gauge("copse_postings_per_request", "Postings that a match reads, a running mean."),
    counter("copse_index_replans_total", "Times the index was planned by its own sample."),
    gauge("copse_index_revision", "Rev of the last change in the index."),
    gauge("copse_statistics_age_seconds", "Age of the statistics in use."),
    counter("copse_impressions_written_total", "Rows written to the impression log."),
    counter("copse_impressions_lost_total", "Rows that the impression log lost.", "reason"),
    gauge("copse_poisoned_changes", "Changes that could not be applied; their objects are out."),
    counter(
        "copse_workers_replaced_total", "Workers that ended, or hung and were killed.", "reason"
    ),
    gauge(
        "copse_build_info",
        "Always 1; the labels describe the build.",
        "version",
        "engine",
        "python",
        per_worker=False,
    ),
)
