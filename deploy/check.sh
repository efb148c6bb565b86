#!/usr/bin/env bash
# Checks the deployment files without a container engine or a cluster. `make lint` runs it.
#
# hadolint and kubernetes-validate come with the environment. docker-compose, promtool and amtool come
# from Debian: root installs them here; other users get the command, and a note that nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=${BIN:-.venv/bin}

# Whether a command is installed, or can be: the command, its Debian package, what it checks.
have() {
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "$1 is missing: apt-get install -y $2"
        apt-get update -qq
        # RUNLEVEL=1: the package must not start its server.
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "$2" >/dev/null
        return
    fi
    echo "$1 is not installed: $3 NOT checked; install it with: sudo apt-get install -y $2"
    return 1
}

echo "hadolint Dockerfile"
"$BIN/hadolint" Dockerfile

echo "kubernetes-validate --strict deploy/kubernetes/*.yaml"
"$BIN/kubernetes-validate" --strict --quiet deploy/kubernetes/*.yaml

if have docker-compose docker-compose "docker-compose.yml is"; then
    echo "docker-compose config"
    POSTGRES_PASSWORD=lint GRAFANA_PASSWORD=lint \
        docker-compose --profile loadtest --profile nightly config --quiet
    for missing in POSTGRES_PASSWORD GRAFANA_PASSWORD; do
        if POSTGRES_PASSWORD=lint GRAFANA_PASSWORD=lint env -u "$missing" \
            docker-compose config --quiet 2>/dev/null; then
            echo "docker-compose.yml is accepted without $missing" >&2
            exit 1
        fi
    done
fi

if have promtool prometheus "the alerts are"; then
    echo "promtool check, promtool test"
    promtool check config deploy/prometheus/prometheus.yml >/dev/null
    # The key that it names is a file in the cluster.
    promtool check config --syntax-only deploy/prometheus/kubernetes.yml >/dev/null
    promtool test rules deploy/prometheus/alerts_test.yml >/dev/null
fi

if have amtool prometheus-alertmanager "deploy/alertmanager is"; then
    echo "amtool check-config"
    amtool check-config deploy/alertmanager/alertmanager.yml >/dev/null
fi
