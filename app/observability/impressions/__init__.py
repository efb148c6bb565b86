"""The impression log: one row for each sampled request, matched or not, for Spark to read.

    sampling ──▶ log.add ──▶ queue ──▶ writer (a thread) ──▶ part ──▶ dt=…/hour=…/part-….jsonl
    (hot path, microseconds)           │ privacy, row: to JSON
                                       └ leftovers: what a killed worker left behind

`docs/impressions.md` says what is in a row, what is lost when, and how it is read.
"""

from app.observability.impressions.log import Counts, ImpressionLog
from app.observability.impressions.options import Options
from app.observability.impressions.row import Impression
from app.observability.impressions.sampling import Sampler
from campaigns.catalogue.privacy import DENIED, Denylist, truncate_ip

__all__ = [
    "DENIED",
    "Counts",
    "Denylist",
    "Impression",
    "ImpressionLog",
    "Options",
    "Sampler",
    "truncate_ip",
]
