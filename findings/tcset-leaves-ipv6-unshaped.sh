#!/bin/sh
# tcset of tcconfig shapes IPv4 only: IPv6 packets of the same device pass at 32 Gbit/s, without the delay.
#
# Guess: `tcset DEV --rate 10Mbps --delay 50ms` shapes all that leaves DEV.
# Seen with tcconfig 0.30.1 (PyPI), which prints the commands of tc that it would run: the only filter is "protocol ip", so
# IPv6 falls into HTB's default class 1, whose rate is 32 Gbit/s. `--ipv6` shapes IPv6 in place of IPv4, not as well.
# Nothing sets netem's limit either: the queue before 10 Mbit/s is the default of 1000 packets, 1.2 s.
# Source: tcconfig/shaper/htb.py; netem's default limit is in tc-netem(8).
# A test of a dual-stack program measures the wrong path. Needs python3, tc (iproute2) and the network; no rights.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install tcconfig==0.30.1
commands=$("$folder/venv/bin/tcset" lo --rate 10Mbps --delay 50ms --tc-command)
echo "$commands"
[ "$(echo "$commands" | grep -c "filter add")" = 1 ]
echo "$commands" | grep -q "filter add dev lo protocol ip "
echo "$commands" | grep -q "htb default 1$"
echo "$commands" | grep -q ":1 htb rate 32000000.0kbit$"
echo "$commands" | grep -q "netem delay 50.0ms$"
