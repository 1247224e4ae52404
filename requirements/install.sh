#!/bin/sh
# Usage: install.sh VENV [PIP_INSTALL_ARGUMENTS...]
# Makes VENV where it is missing and installs into it: with uv where that can be had, else with pip.
# pip is the fallback of a failed uv run too: a mirror may be set in pip's own configuration only.
set -eu
here=$(dirname "$0")
base=${PYTHON:-python3}
venv=$1
shift
python=$venv/bin/python

"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "install.sh: $base is not Python 3.11 or later; set PYTHON=/path/to/python3.11" >&2
    exit 2
}
# --without-pip: Debian splits ensurepip out of python3, and the base pip can serve any environment.
"$python" -c '' 2>/dev/null || "$base" -m venv --clear --without-pip "$venv"
[ $# -gt 0 ] || exit 0

with_pip() {
    if "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m pip install --quiet "$@"
    else
        "$base" -m pip --python "$python" install --quiet "$@"
    fi
}

find_uv() {
    command -v uv && return
    [ -x "$venv/bin/uv" ] || with_pip --require-hashes -r "$here/uv.txt" >&2 || return
    echo "$venv/bin/uv"
}

if uv=$(find_uv) && "$uv" pip install --quiet --python "$python" "$@"; then
    exit 0
fi
echo "install.sh: uv is not usable here, going on with pip" >&2
with_pip "$@"
