#!/usr/bin/env bash
# Tests the module without a wheel: builds it like cargo's tests, and runs pytest. Arguments go to pytest.
#
#   CARGO_ARGUMENTS   what cargo builds: the gate passes what it has just tested, so that nothing is built twice
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv=$target/python

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import numpy, pandas, pytest' 2>/dev/null ||
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy pandas pytest >&2
# Ray has no wheels for some versions of Python: its test is skipped then, and says so.
"$venv/bin/python" -c 'import ray' 2>/dev/null ||
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'ray[client]>=2.9' >&2 || echo "no Ray: its test will be skipped" >&2

# shellcheck disable=SC2086 # several words
cargo build --locked ${CARGO_ARGUMENTS:--p dslc-python -p dslc-cli}
# The package as in a wheel: next to the compiled part.
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
cp -r python/module/dslc "$package"
cp "$target"/debug/lib_dslc.so "$package/dslc/_dslc.abi3.so" 2>/dev/null || cp "$target"/debug/lib_dslc.dylib "$package/dslc/_dslc.abi3.so"
# Ray listens on all addresses: its tests run where there is no other machine, and are skipped otherwise.
alone=(unshare --map-root-user --net)
"${alone[@]}" true 2>/dev/null || alone=()
cd python
DSLC=$target/debug/dslc PYTHONPATH=$package "${alone[@]}" "$venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider "$@"
