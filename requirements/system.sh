#!/bin/sh
# Usage: system.sh PACKAGE...
# Installs the Debian packages that are missing, where this is root with apt-get; elsewhere it says which are. Never
# fails: what needs an absent one says so itself (`gristmill doctor`), and its tests are skipped with a reason.
set -u
missing=
for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "system.sh: not installed:$missing (as root: apt-get install$missing)" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  one word a package
apt-get install -y -q --no-install-recommends $missing >/dev/null 2>&1 ||
    { apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends $missing >/dev/null; } ||
    echo "system.sh: apt-get could not install:$missing" >&2
exit 0
