#!/usr/bin/env bash
# What the action does, for any machine: tests, runs, and comparisons with the commit that a change is based on.
#
#   DSLC           the program; default: dslc, or the one that the action built
#   GATE_TESTS     folders and files for `dslc test`
#   GATE_PROGRAMS  a program a line, as arguments of `dslc run`
#   GATE_REQUIRE   a condition a line, for each program
#   GATE_BASE      a commit; the programs are compared with what they were there
#   GATE_OUT       where reports go: junit.xml, NAME.sarif, NAME.html, compare.md
#
# Exit code 1 if something fails, or if there was nothing to look at.
set -euo pipefail
built=~/.cache/dslc-action/bin/dslc
dslc=${DSLC:-$([ -x "$built" ] && echo "$built" || echo dslc)}
out=${GATE_OUT:-dslc-reports}
failed=0 looked=0
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/compare.md
summary=${GITHUB_STEP_SUMMARY:-/dev/null}

# The words of a line, quotes as in a shell, nothing expanded: words LINE
words() {
    xargs printf '%s\0' <<<"$1"
}

base=
if [ -n "${GATE_BASE:-}" ]; then
    base=$(mktemp -d)
    trap 'git worktree remove --force "$base/tree" 2>/dev/null || true; rm -rf "$base"' EXIT
    git cat-file -e "$GATE_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$GATE_BASE"
    git worktree add --quiet --detach "$base/tree" "$GATE_BASE"
fi

if [ -n "${GATE_TESTS:-}" ]; then
    readarray -d '' tests < <(words "$GATE_TESTS")
    looked=1
    "$dslc" test "${tests[@]}" --junit "$out/junit.xml" | tee "$out/tests.txt" || failed=1
    tail -n 1 "$out/tests.txt" >>"$summary"
fi

requirements=()
while IFS= read -r line; do
    [ -z "$line" ] || requirements+=(--require-if-any "$line")
done <<<"${GATE_REQUIRE:-}"

number=0
messages=$(mktemp)
while IFS= read -r line; do
    [ -n "$line" ] || continue
    readarray -d '' program < <(words "$line")
    looked=1 number=$((number + 1))
    name=$number-$(basename "${program[0]}" | tr -c 'A-Za-z0-9.\n' -)
    echo "== dslc run $line"
    # A program's own words come last; options go before them.
    options=(--format sarif --html "$out/$name.html" "${requirements[@]}")
    "$dslc" run "${options[@]}" "${program[@]}" >"$out/$name.sarif" 2>"$messages.one" || failed=1
    tee -a "$messages" <"$messages.one" >&2
    if [ -n "$base" ] && [ -e "$base/tree/${program[0]}" ]; then
        "$dslc" run --format json --cures never "${program[@]}" >"$base/after.json" 2>/dev/null || true
        (cd "$base/tree" && "$dslc" run --format json --cures never "${program[@]}") >"$base/before.json" 2>/dev/null || true
        "$dslc" compare "$base/before.json" "$base/after.json" --format markdown >>"$out/compare.md" || failed=1
    fi
done <<<"${GATE_PROGRAMS:-}"

# A requirement is for the programs that have what it is about, and for one of them at least.
if [ "$number" -gt 0 ]; then
    while IFS= read -r line; do
        if [ -n "$line" ] && ! grep -qF -e "requirement met: $line" -e "requirement not met: $line" "$messages"; then
            echo "requirement not met: $line: no program has anything that it is about" >&2
            failed=1
        fi
    done <<<"${GATE_REQUIRE:-}"
fi
rm -f "$messages" "$messages.one"

[ ! -e "$out/compare.md" ] || cat "$out/compare.md" >>"$summary"
if [ "$looked" = 0 ]; then
    echo "there was nothing to look at: neither tests nor programs are named" >&2
    exit 1
fi
exit "$failed"
