#!/bin/sh
# Installs the program dslc for this user: sh install.sh [VERSION]     (default: the latest)
#
#   DSLC_INSTALL_DIR    the folder for it (default: ~/.local/bin)
#   DSLC_DOWNLOAD_URL   the folder with the archives and SHA256SUMS (default: the releases of the repository; https:// or file://)
set -eu

repository=https://github.com/OWNER/dslc

fail() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The name that releases give to this machine.
target() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no release for the processor $machine; build it from source: $repository" ;;
    esac
    case $system in
    Linux)
        if has ldd && ldd --version 2>&1 | grep -qi musl; then
            fail "there is no release for systems with musl instead of glibc; build it from source: $repository"
        fi
        printf '%s-unknown-linux-gnu' "$machine"
        ;;
    Darwin) printf '%s-apple-darwin' "$machine" ;;
    MINGW* | MSYS* | CYGWIN*) fail "on Windows, unpack the .zip of $repository/releases" ;;
    *) fail "there is no release for $system; build it from source: $repository" ;;
    esac
}

# fetch URL FILE
fetch() {
    case $1 in
    file://*) cp "${1#file://}" "$2" 2>/dev/null || fail "there is no file ${1#file://}" ;;
    *)
        if has curl; then
            curl --proto '=https' --tlsv1.2 -fsSL "$1" -o "$2" 2>/dev/null || fail "cannot download $1"
        elif has wget; then
            wget -qO "$2" "$1" 2>/dev/null || fail "cannot download $1"
        else
            fail "this needs curl or wget"
        fi
        ;;
    esac
}

sum_of() {
    if has sha256sum; then
        sha256sum "$1" | cut -d' ' -f1
    elif has shasum; then
        shasum -a 256 "$1" | cut -d' ' -f1
    else
        fail "this needs sha256sum or shasum, to check what was downloaded"
    fi
}

# All is in a function: a script that arrives only in part runs nothing.
main() {
    version=${1:-latest}
    version=${version#v}
    if [ -n "${DSLC_DOWNLOAD_URL:-}" ]; then
        from=${DSLC_DOWNLOAD_URL%/}
    else
        case $repository in
        */OWNER/*) fail "no release is published yet: set DSLC_DOWNLOAD_URL to the folder of one, or build dslc from source" ;;
        esac
        case $version in
        latest) from=$repository/releases/latest/download ;;
        *) from=$repository/releases/download/v$version ;;
        esac
    fi
    if [ -n "${DSLC_INSTALL_DIR:-}" ]; then
        folder=$DSLC_INSTALL_DIR
    else
        [ -n "${HOME:-}" ] || fail "HOME is not set: say where to install with DSLC_INSTALL_DIR"
        folder=$HOME/.local/bin
    fi
    if ! has tar || ! has gzip; then fail "this needs tar and gzip"; fi
    target=$(target)
    work=$(mktemp -d) || fail "cannot make a folder for what is downloaded"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM

    # The list names the archives with their version.
    fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
    case $version in
    latest) ending=-$target.tar.gz ;;
    *) ending=dslc-$version-$target.tar.gz ;;
    esac
    line=$(awk -v ending="$ending" '{
        name = $2; sub(/^\*/, "", name)
        at = length(name) - length(ending)
        if (at >= 0 && substr(name, at + 1) == ending && name ~ /^dslc-/) found = $1 " " name
    } END { print found }' "$work/SHA256SUMS")
    [ -n "$line" ] || fail "$from has no archive of version $version for $target"
    wanted=${line% *}
    archive=${line#* }

    fetch "$from/$archive" "$work/$archive"
    found=$(sum_of "$work/$archive")
    [ "$found" = "$wanted" ] || fail "$archive is not what SHA256SUMS says ($found instead of $wanted); nothing was installed"
    tar -C "$work" -xzf "$work/$archive" 2>/dev/null || fail "$archive cannot be unpacked"
    unpacked=$work/${archive%.tar.gz}
    said=$("$unpacked/dslc" --version 2>&1) || fail "the program does not start on this system: $said"

    mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder $folder"
    for name in libdslcrt.so dslc-ptx dslc; do
        [ -f "$unpacked/$name" ] || continue
        # Renamed into place: a dslc that runs goes on with the file that it has.
        if ! cp "$unpacked/$name" "$folder/.$name.$$" 2>/dev/null || ! mv -f "$folder/.$name.$$" "$folder/$name" 2>/dev/null; then
            rm -f "$folder/.$name.$$"
            fail "cannot write $folder/$name"
        fi
    done
    printf 'installed %s as %s/dslc\n' "$said" "$folder"
    # The line is for the shell that reads it, with its own PATH.
    # shellcheck disable=SC2016
    case :$PATH: in
    *:"$folder":*) ;;
    *) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;;
    esac
}

main "$@"
