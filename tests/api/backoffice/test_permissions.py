"""Who may call which operation of the back office."""

import re
from datetime import timedelta

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.error_bodies import error_body
from support.interface import backoffice_document
from support.service import Service
from tradecounter.access.queries.tokens import list_tokens
from tradecounter.access.tokens import revoke_token
from tradecounter.db.pool import Database
from tradecounter.edge.permissions import AREAS, ROLES, SCOPES, includes, roles_of
from tradecounter.edge.rest.operation import Operation
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.sites.back_office import BackOffice

OPERATIONS = BackOffice(Settings(), Database("postgresql://"), SystemClock()).operations
OPEN = {"getIndex", "getOpenapiJson", "getOpenapiYaml", "checkHealth", "checkReadiness"}
GUARDED = [operation for operation in OPERATIONS if not operation.public]

# What each role may do, by operation; administrators may do everything.
READ = {
    "listOrders",
    "getOrder",
    "getPickingList",
    "getPackingSlip",
    "searchProducts",
    "getProduct",
    "listReturns",
    "getReturn",
    "listRequests",
    "getRequest",
    "listApprovals",
    "getApproval",
    "listViews",
}
READ_ALL = READ | {
    "listQuotes", "getQuote", "listCustomers", "getCustomer", "listKeys", "listUsers", "listAddresses", "explainPrice",
    "listContacts", "listLists", "getList", "listAlerts", "listRemittances", "getRemittance",
    "listJobs", "listEvents", "listAuditEntries", "listWebhooks", "getWebhook", "listDeliveries",
    "listImports", "listPayments", "listInvoices", "getInvoice", "getInvoicePdf", "getCreditNote", "getCreditNotePdf",
    "listCreditNotes", "listBankFiles", "listBankLines", "getBankLine",
    "getStatement", "getStatementCsv", "getStatementPdf", "listDebtors", "getVat", "exportCustomer",
}  # fmt: skip
ON_THE_WAY = {"dispatchOrder", "trackOrder", "setVideo", "correctShipment", "takeShipmentBack", "receiveReturn"}
SALES = {  # finance may override the credit
    "createOrder", "confirmOrder", "amendOrder", "confirmQuote", "approveOrder", "declineOrder",
}  # fmt: skip
ALLOWED = {
    "support": READ_ALL | ON_THE_WAY | SALES | {
        "cancelOrder", "addNote", "openReturn", "closeReturn", "closeRequest", "declineQuote",
        "priceQuote", "createCustomer", "changeCustomer", "createKey", "disableKey", "inviteUser",
        "changeUser", "disableUser",
        "createList", "replaceList", "deleteList", "chooseEmails",
        "createAddress", "deleteAddress", "createContact", "changeContact", "removeContact",
        "addCustomerNote", "retryJob", "resendInvoice",
    },
    "warehouse": READ | ON_THE_WAY | {"adjustStock", "receiveGoods", "countStock"},
    "finance": READ_ALL | SALES | {
        "invoiceOrder", "changeCustomer", "recordPayment", "reversePayment", "importPayments", "resendInvoice",
        "placeBankLine", "setBankLineAside", "rollBackBankFile", "remindDebtor", "sendStatement",
        "issueCreditNote", "closeReturn", "tellOfPayment", "takeBackRemittance", "blockCustomer", "unblockCustomer",
    },
    "catalogue": {
        "searchProducts", "getProduct", "explainPrice", "listImports", "importFile", "rollBackImport", "changePrices",
    },
    "administrator": {operation.name for operation in GUARDED},
}  # fmt: skip


def send(client: httpx2.Client, operation: Operation) -> httpx2.Response:
    path = re.sub(r"\{\w+\}", "999999", operation.path)
    return client.request(operation.method, path, json={} if operation.body else None)


def test_every_operation_is_open_or_names_a_scope_that_exists() -> None:
    assert {operation.name for operation in OPERATIONS if operation.public} == OPEN
    assert all(operation.scope in SCOPES for operation in GUARDED)
    assert {operation.scope.endswith(":read") for operation in GUARDED if operation.method == "GET"} == {True}
    assert {operation.scope.endswith(":write") for operation in GUARDED if operation.method != "GET"} == {True}


def test_every_post_takes_an_idempotency_key_and_every_change_an_acting_user() -> None:
    for operation in GUARDED:
        names = {header.name for header in operation.request_headers}
        assert ("Idempotency-Key" in names) == (operation.method == "POST"), operation.name
        assert ("X-Acting-User" in names) == (operation.method != "GET"), operation.name


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_call_exactly_its_operations(role: str) -> None:
    allowed = {operation.name for operation in GUARDED if role in (operation.roles or roles_of(operation.scope))}
    assert allowed == ALLOWED[role]


def test_writing_includes_reading_and_nothing_else() -> None:
    for area in AREAS:
        assert includes([f"{area}:write"], f"{area}:read")
        assert not includes([f"{area}:read"], f"{area}:write")
    others = [scope for scope in SCOPES if not scope.startswith("orders:")]
    assert not includes(others, "orders:read")


@pytest.mark.sweep
def test_a_token_may_call_exactly_the_operations_of_its_scopes(office: BackOfficeSite) -> None:
    for scope in SCOPES:
        client = office.caller(scope)
        for operation in GUARDED:
            response = send(client, operation)
            if any(includes([scope], needed) for needed in (operation.scope, *operation.other_scopes)):
                assert response.status_code not in {401, 403}, (scope, operation.name)
            else:
                assert response.status_code == 403, (scope, operation.name)
                assert response.json() == error_body("scope_needed", f"this needs the scope {operation.scope}")


def test_without_a_token_every_guarded_operation_answers_401(office: BackOfficeSite) -> None:
    nobody, key = office.client(), {"X-Api-Key": office.service.customer().key}
    for operation in GUARDED:
        response = send(nobody, operation)
        assert (response.status_code, response.json()) == (401, {}), operation.name
    assert nobody.get("/api/order", headers=key).status_code == 401, "customers' keys are not let in"


def test_public_operations_need_no_token(office: BackOfficeSite) -> None:
    nobody = office.client()
    paths = ("/api", "/api/openapi.json", "/api/openapi.yaml", "/api/docs", "/check-health", "/ready")
    assert [nobody.get(path).status_code for path in paths] == [200] * len(paths)
    assert nobody.get("/api/openapi.json").json()["paths"].keys() == backoffice_document()["paths"].keys()


def test_a_revoked_and_an_expired_token_end_at_once(office: BackOfficeSite) -> None:
    service = office.service
    token = office.token(expires_at=service.clock.now() + timedelta(hours=1))
    client = office.client(token)
    assert client.get("/api/job").status_code == 200
    service.clock.advance(timedelta(hours=2))
    assert client.get("/api/job").status_code == 401

    lasting = office.client(office.token())
    assert lasting.get("/api/job").status_code == 200
    latest = service.in_transaction(list_tokens)[-1]
    assert latest.last_used_at == service.clock.now()
    service.in_transaction(lambda tx: revoke_token(tx, latest.id, service.clock.now()))
    assert lasting.get("/api/job").status_code == 401


def test_ten_bad_tokens_block_an_address_on_both_sites(office: BackOfficeSite) -> None:
    headers = {"X-Forwarded-For": "192.0.2.77"}
    guesser = office.client("x" * 64, **headers)
    assert [guesser.get("/api/job").status_code for _ in range(10)] == [401] * 10
    blocked = office.client(office.token(), **headers).get("/api/job")
    assert blocked.status_code == 403
    assert int(blocked.headers["Retry-After"]) > 0


def test_only_the_named_networks_reach_the_back_office(shop: Service) -> None:
    with backoffice_of(shop, backoffice_networks="10.9.0.0/16, 2001:db8::/32") as office:
        token = office.token()
        for address, status in (("10.9.3.4", 200), ("10.8.0.1", 403), ("2001:db8:1::7", 200), ("2001:db9::1", 403)):
            client = office.client(token, **{"X-Forwarded-For": address})
            assert client.get("/api/job").status_code == status, address
        found = httpx2.get(f"{office.url}/", headers={"X-Forwarded-For": "2001:db9::1"})
        assert (found.status_code, found.json()) == (
            403,
            error_body("access_denied", "your address may not reach the back office"),
        )


def test_nothing_of_the_back_office_is_on_the_public_site(shop: Service, office: BackOfficeSite) -> None:
    public = shop.client(Authorization=f"Bearer {office.token()}")
    for operation in GUARDED:
        path = re.sub(r"\{\w+\}", "1", operation.path)
        assert public.request(operation.method, path).status_code == 404, path
    assert public.get("/api/docs").status_code == 404
    assert public.get("/product").status_code == 401, "a service token is no customer's"
