# The image of Copse: `docker build -t copse .`
#
#   build ──▶ service     copse serve, copse console, copse migrate, copse key …
#     └──▶ tools ──▶ loadtest    Locust
#            └─────▶ nightly     the Spark jobs
#
# The image is built by the same commands as in .ci/run.

FROM rust:1.95.0-slim-bookworm AS rust

# The full Python image has the compiler and make, which the native core needs.
FROM python:3.11.14-bookworm AS build
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH \
    PIP_NO_CACHE_DIR=1
WORKDIR /srv/copse
COPY Makefile README.md LICENSE pyproject.toml alembic.ini ./
COPY app app
COPY campaigns campaigns
COPY console console
COPY index index
COPY migrations migrations
RUN make setup && rm -rf index/native/target
RUN .venv/bin/python -c 'import index._native'

# The load test and the nightly job: everything that .dockerignore lets in, testkit included.
FROM build AS tools
COPY . .
RUN make .venv/.dev

FROM python:3.11.14-slim-bookworm AS base
RUN useradd --uid 10001 --no-log-init --create-home copse \
    && install -d -o copse -g copse /var/lib/copse /var/lib/copse/impressions /var/lib/copse/index
ENV PATH=/srv/copse/.venv/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /srv/copse

FROM base AS loadtest
COPY --from=tools /srv/copse /srv/copse
USER 10001:10001
EXPOSE 8089
CMD ["locust", "-f", "loadtest/locustfile.py", "--host", "http://copse:8080", "MatchUser", "ChurnUser"]

FROM base AS nightly
# Debian keeps only the newest version of a package, so a pinned version would soon be gone.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY --from=tools /srv/copse /srv/copse
USER 10001:10001
CMD ["python", "-m", "spark", "selectivity", "--impressions", "/var/lib/copse/impressions"]

# The last stage is the default of `docker build`. The root filesystem may be read-only: the service
# writes to /tmp and /var/lib/copse only.
FROM base AS service
COPY --from=build /srv/copse /srv/copse
RUN copse settings
ENV COPSE_HOST=0.0.0.0 COPSE_PORT=8080 \
    COPSE_IMPRESSIONS_DIR=/var/lib/copse/impressions COPSE_INDEX_DIRECTORY=/var/lib/copse/index
VOLUME ["/var/lib/copse"]
USER 10001:10001
EXPOSE 8080
# Live, not ready: a million campaigns may take minutes to load.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["python", "-m", "app.commands.health_check", "live"]
CMD ["copse", "serve"]
