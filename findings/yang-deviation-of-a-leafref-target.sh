#!/bin/sh
# A YANG deviation that removes the target of a leafref: pyang accepts it and keeps the leafref, libyang refuses the module.
#
# Guess: the models that a vendor publishes for a release load together in every YANG tool, its deviations included.
# Seen with pyang 2.7.1 and libyang 4.5.5 (PyPI's oopt-gnpy-libyang 0.1.1); libyang 2.1.30 of Debian 12 says the same:
# - pyang --strict reports nothing, exits with 0, and its tree has "use? -> ../spare/limit" without "spare";
# - libyang does not load the deviation: "Target of leafref "use" cannot be referenced because it is disabled."
# RFC 7950 says that the target of not-supported is not there (7.20.3.2), and that a leafref's path refers to a leaf (9.9).
# Arista's models of EOS 4.36.1F (github.com/aristanetworks/yang) have the case: arista-qos-notsupported-deviations.yang
# removes /qos/interfaces/interface/input/scheduler-policy/config, and leafrefs below still refer to it. So data for that
# switch cannot be validated by libyang with all of its deviations. Needs python3 and the network.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyang==2.7.1 oopt-gnpy-libyang==0.1.1
cat > a.yang <<'YANG'
module a {
  yang-version 1.1;
  namespace "urn:example:a";
  prefix a;
  container top {
    container spare { leaf limit { type uint32; } }
    leaf use { type leafref { path "../spare/limit"; } }
  }
}
YANG
cat > d.yang <<'YANG'
module d {
  yang-version 1.1;
  namespace "urn:example:d";
  prefix d;
  import a { prefix a; }
  deviation "/a:top/a:spare" { deviate not-supported; }
}
YANG
venv/bin/pyang --version
venv/bin/pyang --strict -f tree --deviation-module d.yang a.yang | tee tree
grep -q 'use? *-> ../spare/limit' tree && ! grep -q 'rw spare' tree
venv/bin/python - <<'PYTHON'
import oopt_gnpy_libyang as libyang

print("libyang", libyang.libyang_version())
context = libyang.Context(".")
context.load_module("a")
try:
    context.load_module("d")
except libyang.Error as error:
    print("refused:", error.args[1][0].message if len(error.args) > 1 else context.errors()[0].message)
else:
    raise SystemExit("libyang loads the deviation")
PYTHON
