# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Debian's libraries for another architecture, unpacked in a directory; nothing is installed. Sourced by scripts/ports and
# packaging/release/make.

# foreign_apt ARCHITECTURE DIRECTORY: configures apt, with its own lists, for a machine of that architecture with nothing
# installed. Sets APT_CONFIG.
foreign_apt() {
    mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/sources.list.d"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $list in
        *.sources) sed 's/^Types:.*/Types: deb deb-src/' "$list" >"$2/sources.list.d/${list##*/}" ;;
        *.list) if [ -e "$list" ]; then
            sed -n 's/^deb /deb-src /p; s/^deb-src /deb /p' "$list" | cat "$list" - | sort -u \
                >"$2/sources.list.d/${list##*/}"
        fi ;;
        esac
    done
    # Only Debian's own sources have every architecture.
    grep -L 'debian' "$2/sources.list.d/"* | while read -r list; do rm "$list"; done
    cat >"$2/apt.conf" <<END
APT::Architecture "$1";
APT::Architectures { "$1"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$2";
Dir::State::status "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$2/sources.list.d";
Dir::Cache "$2/cache";
Debug::NoLocking "1";
END
    APT_CONFIG=$2/apt.conf
    export APT_CONFIG
}

# foreign_libraries ARCHITECTURE DIRECTORY PACKAGE...: downloads the packages to DIRECTORY/apt and unpacks them in
# DIRECTORY/root, once. Changes the working directory: call it in a subshell.
foreign_libraries() {
    foreign_to=$2
    [ ! -e "$foreign_to/root/complete" ] || return 0
    rm -rf "$foreign_to/root" "$foreign_to/apt"
    mkdir -p "$foreign_to/root" "$foreign_to/apt"
    foreign_apt "$1" "$foreign_to/apt"
    shift 2
    cd "$foreign_to/apt" || return
    apt-get -q update && apt-get -q download "$@" || return
    for package in *.deb; do
        dpkg-deb -x "$package" "$foreign_to/root" || return
    done
    touch "$foreign_to/root/complete"
}
