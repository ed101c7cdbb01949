# Short names for the two scripts; CI runs the same ones.

# Everything that CI checks
check:
    ./scripts/test

# The tests alone: just test -p seven-store consent
test *filters:
    ./scripts/test --only-tests {{filters}}

# The fleet and a handset: just dev --say "Are you open?"
dev *options:
    ./scripts/dev {{options}}

# Formats all code
fmt:
    cargo fmt --all
