"""The samples of `/docs` work unchanged on the demo, in every language that is installed."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from support.consent import running_consent
from support.interface import interface_document
from support.samples import PROGRAMS, Outcome, missing_programs, run_samples
from support.service import Service, running_service
from support.web_page import Page
from tradecounter.demo.load import demo_customers, load_demo

LANGUAGES = [language for language in PROGRAMS if language not in missing_programs()]
# These need an application and what it got before, instead of a key.
OF_APPLICATIONS = ("requestConsent", "exchangeToken", "revokeToken")
OPERATIONS = sorted(
    operation["operationId"]
    for methods in interface_document()["paths"].values()
    for operation in methods.values()
    if operation["operationId"] not in OF_APPLICATIONS
)
# What a sample prints, where that is not a JSON object or list.
PRINTED = {"getInvoice": "", "deleteAddress": "204", "getOpenapiYaml": "openapi: 3.1.0"}

Results = Callable[[str], dict[str, Outcome]]


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Service]:
    with running_service(database_url) as running:
        now = running.clock.now()
        running.call(lambda: load_demo(running.application.database, running.settings, now))
        running.refresh()
        yield running


@pytest.fixture(scope="module")
def results(demo: Service, tmp_path_factory: pytest.TempPathFactory) -> Results:
    secret = demo.settings.secret_key or ""
    customers = demo.call(lambda: demo_customers(demo.application.database, secret, demo.clock.now()))
    samples = Page(demo.client().get("/docs").text).samples

    @cache
    def run(language: str) -> dict[str, Outcome]:
        wanted = {
            name: code for (found, name), code in samples.items() if found == language and name not in OF_APPLICATIONS
        }
        folder = Path(tmp_path_factory.mktemp(language))
        return run_samples(language, wanted, folder, {"KEY": customers[0].api_key})

    return run


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_works_unchanged(results: Results, language: str, name: str) -> None:
    outcome = results(language)[name]
    assert outcome.status == 0, outcome.text
    printed = outcome.text.strip()
    if name in PRINTED and (language, name) != ("curl", "deleteAddress"):
        assert printed.startswith(PRINTED[name])
    elif name != "deleteAddress":
        assert printed.startswith(("{", "[", "Array"))
        # Nothing has changed since a cursor that was just given out, and requests are listed a second later.
        assert len(printed) > 10 or name in {"listCatalogueChanges", "getRequestLog"}, "an empty response shows nothing"


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_samples_for_applications_work(database_url: str, tmp_path: Path, language: str) -> None:
    with running_consent(database_url) as consenting:
        consenting.application = consenting.register("https://erp.example/callback")
        samples = Page(consenting.service.client().get("/docs").text).samples
        code, given = consenting.code(), consenting.given()
        environment = {
            "CLIENT_ID": consenting.application.client_id,
            "CLIENT_SECRET": consenting.application.client_secret,
            "SUBJECT_TOKEN": given["access_token"],
            "CODE": code.code,
            "CODE_VERIFIER": code.verifier,
            "REFRESH_TOKEN": given["refresh_token"],
        }
        wanted = {name: samples[language, name] for name in OF_APPLICATIONS}
        outcomes = run_samples(language, wanted, tmp_path, environment)
        assert [outcomes[name].status for name in OF_APPLICATIONS] == [0, 0, 0], outcomes
        assert "refresh_token" in outcomes["requestConsent"].text
        assert "access_token" in outcomes["exchangeToken"].text
        assert consenting.refresh(given["refresh_token"]).status_code == 400
