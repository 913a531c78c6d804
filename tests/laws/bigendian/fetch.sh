#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads Debian's s390x libraries into a directory, from apt's configured sources. Lists, cache and libraries stay in that
# directory; the packages and architectures of the machine do not change.
#
#     tests/laws/bigendian/fetch.sh build/s390x/root
set -u
[ $# -eq 1 ] || { echo "usage: fetch.sh FOLDER" >&2; exit 2; }
packages='libcmocka-dev libcmocka0 libzstd-dev zlib1g-dev liblzma-dev libxxhash-dev
    libtraceevent-dev libiberty-dev'
complete=$1/.complete
[ -e "$complete" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "fetch.sh: no apt here" >&2; exit 1; }

mkdir -p "$1" || exit 1
root=$(cd "$1" && pwd) || exit 1
work=$(mktemp -d "$root/fetch.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"

apt_s390x() {
    apt-get -qq -o APT::Architecture=s390x -o APT::Architectures=s390x -o APT::Sandbox::User= \
        -o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" "$@" >&2
}

cd "$work" || exit 1
# `update` reports an error for sources without s390x; only the download of the packages must succeed.
apt_s390x update
# shellcheck disable=SC2086 # several names
apt_s390x download $packages || { echo "fetch.sh: no s390x packages in apt's sources" >&2; exit 1; }
for package in *.deb; do
    dpkg-deb -x "$package" "$root" || exit 1
done
: >"$root/.complete"
