#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages of build/package/ once more, in another folder, at another time, with another umask, language and time zone,
# and holds them against each other octet by octet. What the compiler makes of a file the compiler's cache may know: that nothing
# depends on the folder, packaging/no-path.sh sees to. `./run reproducible`, after `./run package`, calls it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
first=$PWD/build/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LLDP_PACKAGE_DIR=$work/another/place
mkdir -p "$LLDP_PACKAGE_DIR"
(
  umask 027
  export TZ=Pacific/Auckland LC_ALL=C.UTF-8 LANGUAGE=mi
  packaging/build-deb.sh
  packaging/build-rpm.sh
) >"$work/log" 2>&1 || {
  tail -40 "$work/log" >&2
  exit 1
}
different=0
for package in "$first"/*.deb "$first"/*.rpm; do
  cmp "$package" "$LLDP_PACKAGE_DIR/$(basename "$package")" || different=1
done
[ $different = 0 ] && echo 'built twice: the same bytes'
