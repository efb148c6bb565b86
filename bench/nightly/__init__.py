"""The nightly job: days of impressions, the gain from its statistics, accuracy of forecasts."""
