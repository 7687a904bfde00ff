# The words people type. `make demo` and `make test` set up everything they need.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.PHONY: demo test check diagnosed bench figures soak power-cut fuzz install install-files dist wheel setup setup-rust setup-test clean help
.DEFAULT_GOAL := help

TIGHTLINK := target/release/tightlink
# The program that `cargo test` builds. Another build, of the release, would take several minutes more.
TESTED := target/debug/tightlink
# Published results whose claims `make test` judges: of each paper the quick ones.
JUDGED := sobas:fig1-4 sobas:fig5-6 highspeed:two-flows nonhomogeneous:fig3 madison:spacing madison:ages madison:fig6a madison:beside
PYTHON := .venv/bin/python
PREFIX ?= $(HOME)/.local

# Programs, pages and results that people keep name the commit. Other builds do not, so that a commit costs them nothing.
demo install dist wheel figures check: export TIGHTLINK_COMMIT = $(shell scripts/commit)

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: setup-rust ## compare one path with two queues, by simulation and the kernel, and a report (under a minute after the build)
	@echo '$$ tightlink compare scenarios/presets/demo.toml'
	$(TIGHTLINK) compare scenarios/presets/demo.toml --report results/demo.html
	echo "Open that report in a browser. All published figures: make figures"

test: setup-test ## run everything that must pass: lints, unit and property tests, kernel and emulator, the page in a browser
	export TIGHTLINK_SKIPPED="$(CURDIR)/target/not-judged"
	mkdir -p target
	rm -f "$$TIGHTLINK_SKIPPED"
	trap 'scripts/not-judged "$$TIGHTLINK_SKIPPED"' EXIT
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	# The rooms without the kernel, for other systems. blake3 leaves its C out, for which there is no compiler here.
	targets=$$(rustup target list --installed 2>/dev/null | grep -x -e x86_64-pc-windows-gnu -e aarch64-apple-darwin | sed 's/^/--target /' || true)
	if [ -n "$$targets" ]; then
	    CARGO_FEATURE_PURE=1 cargo check --quiet $$targets --no-default-features -p tightlink-model -p tightlink-sim -p tightlink-lab -p tightlink-report -p tightlink
	else
	    printf 'the build for other systems\trustup has no such target\n' >> "$$TIGHTLINK_SKIPPED"
	fi
	scripts/doc-links
	if command -v cargo-deny >/dev/null; then cargo deny --offline check licenses bans sources; fi
	cargo test --workspace --no-fail-fast
	$(TESTED) compare scenarios/presets/quick.toml --out target/test-results --report target/test-results/quick.html
	$(TESTED) compare scenarios/presets/buffer-against-delay.toml --out target/test-results --report target/test-results/figure.html
	$(TESTED) compare scenarios/presets/utilization-against-delay.toml --out target/test-results --report target/test-results/against.html
	$(TESTED) compare scenarios/presets/who-wins.toml --out target/test-results --report target/test-results/heat.html
	$(TESTED) check $(JUDGED) --engines model,sim --out target/test-results
	$(PYTHON) -m mypy --strict python/tightlink
	$(PYTHON) -m pytest python/tests
	TIGHTLINK_REPORT=target/test-results/quick.html $(PYTHON) -m pytest python/tests/test_report.py

check: setup-rust ## judge the published claims on all engines, one run of the kernel a case (an hour and a half; continues where it was)
	$(TIGHTLINK) check --repeat 1

diagnosed: setup-rust ## judge the verdicts of `diagnose` on 133 kernel transfers whose limit is known (root, tcpdump; half an hour; rm -r target/diagnosed runs them anew)
	TIGHTLINK_DIAGNOSED="$(CURDIR)/target/diagnosed" cargo test --release -p tightlink --test diagnosed -- --ignored --nocapture

bench: setup-rust ## measure the speed of the simulator compared with ns-2, accuracy of the emulator, the transfer over loopback
	scripts/bench

figures: setup-rust ## make every published result with its report, in results/
	$(TIGHTLINK) figure all

soak: setup-rust ## run long properties: many more random cases than `make test`, twelve seeds of HighSpeed compared with ns-2, every control over QUIC beside the simulator, saturated cells with ns-3's tables, a million flows, twelve drawn questions of `size`, transfers taken over on six paths, fifty kills, the same tables on an older processor, small files compared with scp, power cuts
	PROPTEST_CASES=2000 cargo test --workspace --no-fail-fast
	cargo test --no-default-features --features tightlink-lab/parquet -p tightlink-model -p tightlink-sim -p tightlink-lab -p tightlink-report
	TIGHTLINK_QUIET=1 cargo test --release -p tightlink --test cases
	cargo test --release -p tightlink-sim --test sim twelve_seeds -- --ignored --nocapture
	cargo test --release -p tightlink-lab --test saturation_tables five_seeds -- --ignored --nocapture
	cargo test --release -p tightlink --test cli transfers_over_other_paths -- --ignored --nocapture
	cargo test --release -p tightlink --test cli a_long_queue_on_a_slow_path -- --ignored
	TIGHTLINK_KILLS=50 cargo test --release -p tightlink --test cli kill_9 -- --nocapture
	cargo test --release -p tightlink --test cli ten_questions -- --ignored
	scripts/size-questions $(TIGHTLINK) --fastest 200
	cargo test --release -p tightlink-lab --test host_paths -- --ignored --nocapture
	cargo test --release -p tightlink-quic --test virtual_time -- --ignored --nocapture all_controls_on_all no_connection_ends_on_any
	cargo bench --quiet -p tightlink-sim --bench peers -- flows=1000000
	cargo bench --quiet -p tightlink-sim --bench peers -- flows=1000000 host=linux control=cubic
	scripts/same-bytes $(TIGHTLINK)
	scripts/small-files || [ $$? = 3 ]
	scripts/setup disks
	scripts/power-cut --control naive --cuts 6 --seconds 12 --commit 5 > /dev/null
	scripts/power-cut --cuts 12 --seconds 15 --commit 5

power-cut: setup-rust ## make power cuts during transfers onto ext4, xfs and btrfs: no file may be damaged (root, FUSE; 4 minutes)
	@scripts/setup disks
	scripts/power-cut

fuzz: ## throw random input at the parsers for ten minutes
	scripts/fuzz

install: setup-rust install-files ## install tightlink, its manual and completions below PREFIX (~/.local, whose bin is in PATH on most systems)
	@echo "$(PREFIX)/bin/tightlink"

install-files:
	@install -D -m 755 $(TIGHTLINK) "$(PREFIX)/bin/tightlink"
	$(TIGHTLINK) docs man "$(PREFIX)/share/man/man1"
	cd "$(PREFIX)/share"
	mkdir -p bash-completion/completions zsh/site-functions fish/vendor_completions.d
	../bin/tightlink completions bash > bash-completion/completions/tightlink
	../bin/tightlink completions zsh > zsh/site-functions/_tightlink
	../bin/tightlink completions fish > fish/vendor_completions.d/tightlink.fish

dist: ## make static programs for x86_64 and aarch64 as archives and Debian packages, with a list of libraries and checksums, in target/dist/
	@scripts/setup build
	scripts/dist

wheel: setup ## the Python package as a wheel, in target/wheel/ (tried by scripts/try-wheel)
	scripts/wheel

setup: setup-rust setup-test ## install what is missing, and build

setup-rust:
	@scripts/setup build
	cargo build --release --quiet -p tightlink

setup-test:
	@scripts/setup build
	scripts/setup test

clean: ## remove everything that was built
	rm -rf target target-* .venv results
