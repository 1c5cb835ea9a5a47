# shellcheck shell=bash
# Sourced by the other scripts: finds a Swift toolchain and puts it on PATH.

swift_minimum=6.2
swift_recommended=6.3

# Prints the folders that hold an executable `swift`, the PATH's first.
swift_folders() {
    local folder
    if command -v swift >/dev/null; then
        dirname "$(command -v swift)"
    fi
    for folder in /opt/swift/usr/bin "${SWIFTLY_BIN_DIR:-${HOME:-/root}/.local/share/swiftly/bin}"; do
        if [[ -x $folder/swift ]]; then
            echo "$folder"
        fi
    done
}

# Prints the version of the toolchain in folder $1, such as 6.3.1, or nothing where it does not run.
swift_version_in() {
    { "$1/swift" --version 2>/dev/null || true; } | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | sed -n 1p
}

# Says what to install; $1 is what was found instead.
swift_missing() {
    cat >&2 <<END
$(basename "$0"): $1
  Backline needs Swift $swift_minimum or later; Swift $swift_recommended is what it is tested with.
  Install it from https://swift.org/install/linux (choose this system: $(. /etc/os-release && echo "$PRETTY_NAME")),
  unpacked as /opt/swift or by swiftly, or put its usr/bin on PATH; then run this again.
END
}

# Puts the first toolchain that is new enough on PATH; says what to install and fails without one.
use_swift() {
    local folder version seen=""
    while read -r folder; do
        version=$(swift_version_in "$folder")
        if [[ -n $version && $(printf '%s\n' "$swift_minimum" "$version" | sort -V | sed -n 1p) == "$swift_minimum" ]]; then
            PATH=$folder:$PATH
            # shellcheck disable=SC2034  # for the script that sources this
            swift_found="Swift $version in $folder"
            return 0
        fi
        if [[ -n $version ]]; then
            seen="$folder/swift is $version"
        else
            seen="$folder/swift does not run: $({ "$folder/swift" --version 2>&1 || true; } | sed -n 1p)"
        fi
    done < <(swift_folders)
    swift_missing "${seen:-no Swift toolchain on PATH, in /opt/swift or in the folder of swiftly}"
    return 1
}
