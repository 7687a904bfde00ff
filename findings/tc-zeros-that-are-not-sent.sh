#!/bin/sh
# tc accepts a setting of zero for AQMs and then sends none, so that the default stays. Some shares are sent as zero.
#
# Guess: what tc accepts, it sends. A zero that makes no sense is refused by tc or by the kernel. dualpi2's
# "classic_protection 0.1" is the share of 10 % that the kernel has by default.
# Seen with tc of iproute2 7.3.0 (Debian sid), in the requests that it sends:
# - target 0 of codel, fq_codel, pie, fq_pie and dualpi2, quantum 0, alpha 0, fq_pie's ecn_prob 0, and dualpi2's step_thresh 0
#   are read without a word, and the request has no attribute for them. So "ecn_prob 0", meant as "never mark", leaves 10 %.
# - cake's rtt 0 is sent as 1 us, and ce_threshold 0 and min_qlen_step 0 as 0.
# - classic_protection 0.1 is 0.1 %, which is sent as 0: strict priority for the L queue, without a warning.
# - dualpi2's memlimit takes no unit ("32Mb" is refused), while fq_codel's and fq_pie's memory_limit do.
# Source: tc/q_{codel,fq_codel,pie,fq_pie,cake,dualpi2}.c of iproute2.
# A sweep over such a setting down to zero has a last point that is the default. Needs root or user namespaces, apt-get,
# dpkg, strace and the network; no queueing discipline.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
echo "deb http://deb.debian.org/debian sid main" > "$folder/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root \
        -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache" "$@"
}
cd "$folder"
apt update
# With the libraries of sid, because its tc needs a newer C library than a stable system has.
apt download iproute2=7.3.0-1 libc6 libbpf1 libelf1t64 libmnl0 libtirpc3t64 libxtables12 libcap2 libselinux1 libpcre2-8-0 \
    zlib1g libzstd1 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libcom-err2 libkrb5support0 libkeyutils1 > /dev/null
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$folder/root" -type d -name x86_64-linux-gnu | tr '\n' ':')
tc="$(find root -name 'ld-linux-x86-64.so.2' | head -n 1) --library-path $libraries $(find root -path '*bin/tc' | head -n 1)"
$tc -V
# The options of the request: the bytes after the header of TCA_OPTIONS, "none" without an attribute, "refused" without a request.
sent() {
    unshare -rn strace -f -e trace=sendmsg -xx -s 400 $tc qdisc add dev lo root "$@" 2>&1 |
        sed -n 's/.*TCA_OPTIONS}, "\([^"]*\)".*/\1/p; s/.*TCA_OPTIONS}\]\].*/none/p' | tail -n 1 | grep . || echo refused
}
while read -r setting; do echo "$setting: $(sent $setting)"; done > seen <<'SETTINGS'
codel target 0
fq_codel target 0
fq_codel quantum 0
pie target 0
pie alpha 0
fq_pie alpha 0
fq_pie ecn_prob 0
dualpi2 target 0
dualpi2 step_thresh 0
dualpi2 step_thresh 0p
dualpi2 min_qlen_step 0
codel ce_threshold 0
cake rtt 0
dualpi2 classic_protection 0.1
dualpi2 classic_protection 10
dualpi2 memlimit 32Mb
fq_pie memory_limit 32Mb
SETTINGS
cat seen
cat > expected <<'EXPECTED'
codel target 0: none
fq_codel target 0: none
fq_codel quantum 0: none
pie target 0: none
pie alpha 0: none
fq_pie alpha 0: none
fq_pie ecn_prob 0: none
dualpi2 target 0: none
dualpi2 step_thresh 0: none
dualpi2 step_thresh 0p: none
dualpi2 min_qlen_step 0: \x08\x00\x09\x00\x00\x00\x00\x00
codel ce_threshold 0: \x08\x00\x05\x00\x00\x00\x00\x00
cake rtt 0: \x08\x00\x08\x00\x01\x00\x00\x00
dualpi2 classic_protection 0.1: \x05\x00\x0d\x00\x00\x00\x00\x00
dualpi2 classic_protection 10: \x05\x00\x0d\x00\x0a\x00\x00\x00
dualpi2 memlimit 32Mb: refused
fq_pie memory_limit 32Mb: \x08\x00\x08\x00\x00\x00\x00\x02
EXPECTED
diff seen expected
