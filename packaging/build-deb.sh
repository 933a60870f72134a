#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of the tree as it is (what git knows, with its changes) into build/package/,
# checks them with lintian, and says how large they are. `./run package` calls it. LLDP_PACKAGE_DIR: another folder.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
out=${LLDP_PACKAGE_DIR:-$PWD/build/package}
tree=$out/lldp-level-$version
rm -rf "$out"
mkdir -p "$out"
packaging/export-tree.sh "$tree"
mv "$tree/packaging/debian" "$tree/debian"

# debhelper gives a build a home of its own; what ccache knows is to be found in it all the same.
[ -z "$(command -v ccache)" ] || export CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}
(cd "$tree" && dpkg-buildpackage -b -us -uc >"$out/build.log" 2>&1) || {
  tail -40 "$out/build.log" >&2
  exit 1
}
rm -rf "$tree"
packaging/no-path.sh "$tree" "$out"/*.deb
lintian --allow-root --fail-on error,warning "$out"/*.changes
for deb in "$out"/*.deb; do
  printf '%-50s %6s kB installed\n' "$(basename "$deb")" "$(dpkg-deb -f "$deb" Installed-Size)"
done
