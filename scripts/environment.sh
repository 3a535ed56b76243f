# The environment of the other scripts; sourced, not run. Afterwards the shell stands in the checkout, $ROOT is its full
# name, and `python` and every tool come from $ROOT/.venv. Repeating it costs a fraction of a second.
#
#   PYTHON=/path/to/python3.12 scripts/test     chooses the interpreter the environment is made from
#   MBFRAME_EXTRA=gui,flexible                  the extras that a new environment gets; `test` if nothing is said

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "$ROOT"

export PATH                    # started with an empty environment bash has a default, but does not pass it on
export OPENBLAS_NUM_THREADS=1  # more threads only wait for each other in matrices of our size
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONHOME PYTHONPATH

# The system packages that we need on Debian and Ubuntu and that are not part of every installation, by purpose.
PACKAGES_PYTHON=(python3 python3-venv)
PACKAGES_DRAWING=(libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 fonts-dejavu-core)
PACKAGES_DISPLAY=(xvfb xauth libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0
    libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxcb-xinerama0 libxkbcommon-x11-0 libxcursor1 libxrender1)

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$@"
    exit 1
}

# install_packages PURPOSE PACKAGE...: installs those that are missing, or says how; false if some stay missing.
install_packages() {
    local purpose=$1 package missing=()
    shift
    command -v dpkg-query >/dev/null || return 1
    for package in "$@"; do
        [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" == *" installed" ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        say "Missing system packages ($purpose). Install them with"
        say "    sudo apt-get install --yes ${missing[*]}"
        return 1
    fi
    say "Installing system packages ($purpose): ${missing[*]}"
    {
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends "${missing[@]}"
    } </dev/null >&2
}

# prepare_windows: what the application and its tests need of the system.
prepare_windows() { install_packages "windows" "${PACKAGES_DISPLAY[@]}" || say "Going on without windows."; }

# in_virtual_display COMMAND...: runs it in a display of its own, drawn by software, so that it is the same everywhere;
# without Xvfb on Qt's off-screen platform, where windows have no pixels.
in_virtual_display() {
    export QT_API=pyside6 LIBGL_ALWAYS_SOFTWARE=1 PYTHONFAULTHANDLER=1
    if command -v xvfb-run >/dev/null && command -v xauth >/dev/null; then
        env -u WAYLAND_DISPLAY xvfb-run --auto-servernum --server-args="-screen 0 1400x900x24 -nolisten tcp" "$@"
    else
        say "There is no Xvfb: windows are tested without pixels."
        env -u DISPLAY -u WAYLAND_DISPLAY QT_QPA_PLATFORM=offscreen "$@"
    fi
}

supported() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; }

# Prints the interpreter to build the environment from: $PYTHON if given, else the first suitable one.
find_python() {
    local candidate candidates=(python3 python3.13 python3.12 python3.11)
    [[ -z "${PYTHON:-}" ]] || candidates=("$PYTHON")
    for candidate in "${candidates[@]}"; do
        if supported "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

make_virtual_environment() {
    local interpreter
    [[ -n "${PYTHON:-}" ]] || command -v python3 >/dev/null || install_packages "Python" "${PACKAGES_PYTHON[@]}" || true
    interpreter=$(find_python) || fail "mbframe needs Python 3.11, 3.12 or 3.13, and ${PYTHON:-python3} is not one." \
        "Install it, or say where it is: PYTHON=/path/to/python3.12 scripts/test"
    if ! "$interpreter" -c 'import ensurepip, venv' 2>/dev/null; then
        install_packages "virtual environments" "python$(version_of "$interpreter")-venv" || true
        "$interpreter" -c 'import ensurepip, venv' 2>/dev/null ||
            fail "$interpreter cannot make virtual environments (modules ensurepip and venv)."
    fi
    say "Making .venv with $("$interpreter" --version) ($interpreter)"
    "$interpreter" -m venv --clear .venv
}

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

# True if .venv was made here (its scripts name their folder), works and has the version of the interpreter asked for.
virtual_environment_is_good() {
    grep -qsF "$ROOT/.venv" .venv/bin/activate && supported .venv/bin/python &&
        .venv/bin/python -c 'import pip' 2>/dev/null &&
        [[ -z "${PYTHON:-}" || "$(version_of .venv/bin/python)" == "$(version_of "$PYTHON")" ]]
}

# installed EXTRA: true if it was installed and its description has not changed since.
installed() {
    local stamp=".venv/installed-$1"
    [[ -f "$stamp" && "$(<"$stamp")" == "$(cksum pyproject.toml)" ]]
}

# install_project EXTRA: an editable installation, repeated only when its description has changed.
install_project() {
    ! installed "$1" || return 0
    say "Installing mbframe[$1] into .venv"
    .venv/bin/python -m pip install --quiet --editable ".[$1]" </dev/null >&2
    cksum pyproject.toml >".venv/installed-$1"
}

virtual_environment_is_good || make_virtual_environment
installed test || install_project "${MBFRAME_EXTRA:-test}"
install_packages "pictures" "${PACKAGES_DRAWING[@]}" || say "Going on without pictures; their tests will say so."
export PATH="$ROOT/.venv/bin:$PATH"
