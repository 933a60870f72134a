# SPDX-License-Identifier: Apache-2.0
# Of the IEEE's registry of OUIs (oui.csv of Debian's ieee-data) a line for each: six digits, and whose it is.
/^MA-L,/ {
  oui = substr($0, 6, 6)
  rest = substr($0, 13)
  owner = ""
  if (substr(rest, 1, 1) == "\"") {
    for (i = 2; i <= length(rest); ++i) {
      c = substr(rest, i, 1)
      if (c == "\"" && substr(rest, ++i, 1) != "\"") break
      owner = owner c
    }
  } else {
    owner = substr(rest, 1, index(rest ",", ",") - 1)
  }
  gsub(/^ +| +$/, "", owner)
  if (oui ~ /^[0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F]$/) print tolower(oui) owner
}
