# The steps of `.ci/run` by name; `just` is a convenience, never needed.

# lists the recipes
default:
    @just --list

# everything that must hold before a change lands
all:
    .ci/run

# formats every file
fmt:
    cargo fmt --all

# lints, warnings are errors
clippy:
    .ci/run clippy

# documentation, warnings are errors
doc:
    .ci/run doc

# all tests
test:
    cargo test --workspace

# dependency law, bans, licences, sizes, names
architecture:
    .ci/run architecture

# checks the committed query data against this tree's migrations
sqlx:
    .ci/run sqlx

# writes the query data anew, after a query or a migration changed
sqlx-write:
    .ci/run sqlx-write

# everything in one process, on a private database, against simulators
up *arguments:
    cargo run --release -- up {{arguments}}
