#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the RPM packages of the tree as it is into build/package/, by the rpmbuild of Debian, checks them with rpmlint,
# and holds what they install against the Debian packages there. `./run package` calls it. LLDP_PACKAGE_DIR: another folder.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

spec=packaging/rpm/lldp-level.spec
version=$(sed -n 's/^Version: *//p' "$spec")
out=${LLDP_PACKAGE_DIR:-$PWD/build/package}
top=$out/rpm
say() { printf '%s\n' "$*"; }
die() { say "build-rpm: $*" >&2; exit 1; }

[ "$version" = "$(sed -n 's/^project(lldp-level VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" ] ||
  die "the spec's version is not that of CMakeLists.txt"
rm -rf "$top"
mkdir -p "$top/SOURCES"
packaging/export-tree.sh "$top/lldp-level-$version"
tar -C "$top" -czf "$top/SOURCES/lldp-level-$version.tar.gz" "lldp-level-$version"
rm -r "$top/lldp-level-$version"

# The dependencies have other names here, and rpm knows none of Debian's packages. The flags are those of the release
# build and of Debian's package, so that each file is compiled once for all three. What tells when and where it was built is the changelog's date, and nothing.
rpmbuild -bb --nodeps --define 'source_date_epoch_from_changelog 1' --define 'use_source_date_epoch_as_buildtime 1' \
  --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost lldp-level'  --define "_topdir $top" --define 'optflags -g -O2' --define 'debug_package %{nil}' \
  --define '_libexecdir /usr/libexec' "$spec" >"$out/rpm.log" 2>&1 || {
  tail -40 "$out/rpm.log" >&2
  exit 1
}
mv "$top"/RPMS/*/*.rpm "$out"
rm -r "$top"
packaging/no-path.sh "$top" "$out"/*.rpm
rpmlint --config packaging/rpm/rpmlint.toml "$out"/*.rpm || die 'rpmlint complains'

# The same files as Debian's, where each distribution has them. Documentation and licenses are each one's own way.
installs_deb() { for p in "$@"; do dpkg-deb -c "$p" | awk '!/^d/ { print $6 }' | sed 's|^\.||'; done; }
common() {
  sed -E 's|^/usr/lib/systemd|/lib/systemd|; s|/zsh/site-functions/|/zsh/vendor-completions/|; s|\.gz$||; s|^/usr/lib(64\|/[a-z0-9_]+-linux-gnu[a-z0-9]*)/|/usr/lib/|' |
    grep -vE '^/usr/share/(doc|licenses|lintian)|/build-id|/\.build-id' | sort
}
diff <(installs_deb "$out"/lldp-level_*.deb "$out"/lldp-level-lab_*.deb "$out"/lldp-level-lldpctl_*.deb "$out"/liblldp-level-sim*.deb | common) <(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$out"/*.rpm | sed -n 's/^[^d][^ ]* //p' | common) ||
  die 'the packages install different files (<: Debian, >: RPM)'

# They install and run.
root=$out/root
rm -rf "$root"
rpm -i --force-debian --root "$root" --dbpath /var/lib/rpm --nodeps --noscripts "$out"/*.rpm
for program in usr/sbin/lldp-leveld usr/bin/lldp-level usr/bin/lldp-level-lab; do "$root/$program" --version; done
rm -r "$root"
for rpm in "$out"/*.rpm; do
  printf '%-50s %6s kB installed\n' "$(basename "$rpm")" "$(($(rpm -qp --qf '%{SIZE}' "$rpm") / 1024))"
done
