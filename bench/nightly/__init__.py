"""The nightly job: days of impressions, a night of statistics, forecasts that come true or not."""
