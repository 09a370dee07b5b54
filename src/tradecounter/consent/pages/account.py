"""`/auth/authorize`: where an application sends a customer's browser for the consent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from starlette.responses import Response

from tradecounter.agents.consents import allow_agent
from tradecounter.agents.queries import AgentClient, NewConsent, find_client
from tradecounter.agents.registration import ClientDocuments, resource_of
from tradecounter.agents.rules import (
    DAYS,
    SCOPES,
    USUAL_DAYS,
    AgentScope,
    is_document_address,
    is_on_own_computer,
    is_registered,
    returns_to,
    scopes_in,
)
from tradecounter.consent.authorize import (
    Application,
    AuthorizationError,
    AuthorizationErrorCode,
    AuthorizationRequest,
    Fields,
    allow,
    fetch_target,
    named_client,
    read_request,
    require_resource,
    start,
    target_of,
)
from tradecounter.consent.issuer import issuer_name
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.outbound_http import HttpSender
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import CONTENT_POLICY
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import CONSENT_GIVERS
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import ElsewhereError, session_of
from tradecounter.identity.oauth.client_requests import audience_of
from tradecounter.identity.oauth.manage_applications import origin_of
from tradecounter.kit.actor import SYSTEM
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.numbers import Pounds
from tradecounter.kit.text import plural
from tradecounter.parts.account import AccountParts
from tradecounter.webhooks.manage import WebhookPolicy

CONSENT_PATH = "/auth/authorize"

Decision = Literal["allow", "deny"]


class AgentForm(Struct):
    """What a person allows an agent."""

    read: bool = False
    order: bool = False
    order_limit: Pounds | None = None
    day_limit: Pounds | None = None
    days: int = USUAL_DAYS


class ConsentPages(Struct, frozen=True):
    """The page of the own issuer. People who have not signed in do so first, and come back."""

    desk: PageDesk
    parts: AccountParts

    @page(CONSENT_PATH, "Allow an application to act for the customer", signed_out=True)
    async def show_request(self, call: Call) -> Response:
        return await self._respond(call, Fields.read(call.request.scope["query_string"]), None)

    @form(CONSENT_PATH, "Allow an application, or do not", signed_out=True)
    async def decide(self, call: Call) -> Response:
        fields = Fields(await call.form(), frozenset())
        match fields.values.get("decision"):
            case "allow":
                return await self._respond(call, fields, "allow")
            case "deny":
                return await self._respond(call, fields, "deny")
        raise invalid("decision", "must be allow or deny")

    async def _respond(self, call: Call, fields: Fields, decision: Decision | None) -> Response:
        """Return the page, or the way back to the application. Raises DomainError for a wrong application."""
        session = session_of(call.request.scope)
        user = session.person if session is not None and isinstance(session.person, CustomerUser) else None
        agent = await self._agent_in(fields, user)
        if agent is not None:
            return await self._respond_to_agent(call, agent, fields, user, decision)
        audience = self._audience(call)
        issuer = issuer_name(audience)
        async with transaction(self.desk.database, SYSTEM if user is None else call.actor) as tx:
            application = await fetch_target(tx, fields)
            try:
                request = read_request(application, fields)
                require_resource(fields, audience)
                code = await _decided(tx, request, user, decision, self.desk.clock.now())
            except AuthorizationError as error:
                return self._back(call, application, application.error_address(issuer, error))
            if code is not None:
                return self._back(call, application, application.address(issuer, code=code))
            if user is None:
                raise self._sign_in(fields)
            account = await fetch_account(tx, user.customer_id)
        return self._page(
            call,
            application,
            "consent/consent.html",
            fields=fields.known(),
            account=account.name,
            may_give=user.has_role(*CONSENT_GIVERS),
        )

    async def _agent_in(self, fields: Fields, user: CustomerUser | None) -> AgentClient | None:
        """Return the agent that asks, or None for an application. Raises DomainError (invalid), ElsewhereError.

        The document of an agent is read for people who have signed in only: nobody else makes this service fetch it.
        """
        client_id = named_client(fields)
        if is_document_address(client_id):
            if user is None:
                raise self._sign_in(fields)
            sender = HttpSender(WebhookPolicy.from_settings(self.parts.settings).networks)
            return await ClientDocuments(self.desk.database, self.desk.clock, sender).client(client_id, user.id)
        async with self.desk.reading() as tx:
            return await find_client(tx, client_id)

    async def _respond_to_agent(
        self, call: Call, client: AgentClient, fields: Fields, user: CustomerUser | None, decision: Decision | None
    ) -> Response:
        """Return the page about what an agent may do, or the way back to it: consent is asked for each time.

        Others could pretend to be a program without a secret (RFC 8252, section 8.6). Anybody can register one, so a
        wrong request does not lead to its site before the person has decided (RFC 9700, section 4.11.2).
        """
        target = target_of(client.client_id, client.name, fields, lambda uri: is_registered(uri, client.redirect_uris))
        audience = self._audience(call)
        issuer = issuer_name(audience)
        form = Filled()
        try:
            request = read_request(target, fields)
            require_resource(fields, resource_of(audience))
            asked = _asked(request, fields, user, decision)
            if user is None:
                raise self._sign_in(fields)
            if decision == "allow":
                submitted = Submitted({name: [value] for name, value in fields.values.items()})
                try:
                    code = await self._allow(call, request, client, user, asked, submitted)
                    return self._back(call, target, target.address(issuer, code=code))
                except DomainError as error:
                    form = Filled.of(submitted, error, STATUS[error.kind])
        except AuthorizationError as error:
            address = target.error_address(issuer, error)
            if decision is None and not is_on_own_computer(target.redirect_uri):
                problem = error.description or error.code
                return self._page(call, target, "consent/stopped.html", status=400, address=address, problem=problem)
            return self._back(call, target, address)
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, user.customer_id)
        return self._page(
            call,
            target,
            "consent/agent.html",
            fields=fields.known(),
            account=account.name,
            form=form,
            asked=asked,
            days=[(str(days), plural(days, "day")) for days in DAYS],
            usual=USUAL_DAYS,
            returns_to=returns_to(target.redirect_uri),
            described_at=None if client.read_at is None else client.client_id,
            may_give=user.has_role(*CONSENT_GIVERS),
        )

    async def _allow(
        self,
        call: Call,
        request: AuthorizationRequest,
        client: AgentClient,
        user: CustomerUser,
        asked: Sequence[AgentScope],
        submitted: Submitted,
    ) -> str:
        """Return the code of what a person allows. Raises DomainError (invalid, forbidden)."""
        wanted = parse_form(submitted, AgentForm)
        scopes = [scope for scope in asked if getattr(wanted, scope)]
        orders = "order" in scopes
        new = NewConsent(
            client_id=client.client_id,
            customer_id=user.customer_id,
            user_id=user.id,
            name=client.name,
            redirect_uri=request.application.redirect_uri,
            code_challenge=request.code_challenge,
            scopes=scopes,
            order_limit=wanted.order_limit if orders else None,
            day_limit=wanted.day_limit if orders else None,
        )
        async with transaction(self.desk.database, call.actor) as tx:
            replaces = client.read_at is None
            return await allow_agent(tx, new, user, wanted.days, self.desk.clock.now(), replaces=replaces)

    def _audience(self, call: Call) -> str:
        return audience_of(call.request, self.parts.settings.base_url)

    def _sign_in(self, fields: Fields) -> ElsewhereError:
        return ElsewhereError(self.desk.site.sign_in, f"{CONSENT_PATH}?{urlencode(fields.known())}")

    def _back(self, call: Call, application: Application, address: str) -> Response:
        """Send the browser back to the application.

        After a sign-in, the browser still applies the content policy of the sign-in page to redirects, which would
        block this one. So it gets a page that goes on by itself.
        """
        if call.request.method == "GET" and call.request.headers.get("sec-fetch-site") == "same-origin":
            return self._page(call, application, "consent/continue.html", address=address)
        return Response(status_code=303, headers={"Location": address})

    def _page(self, call: Call, application: Application, template: str, **values: Any) -> Response:
        origin = origin_of(application.redirect_uri)
        site = urlsplit(application.redirect_uri).netloc
        seller = self.parts.settings.seller_name
        response = self.desk.show(call, template, name=application.name, site=site, seller=seller, **values)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY.replace(
            "form-action 'self'", f"form-action 'self' {origin}"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _asked(
    request: AuthorizationRequest, fields: Fields, user: CustomerUser | None, decision: Decision | None
) -> Sequence[AgentScope]:
    """Return the scopes that an agent asks a person for. Raises AuthorizationError."""
    asked = scopes_in(fields.values.get("scope"))
    if not asked:
        raise AuthorizationError("invalid_scope", f"scope: must be {' or '.join(SCOPES)}")
    if request.prompt == "none":
        code: AuthorizationErrorCode = "login_required" if user is None else "consent_required"
        raise AuthorizationError(code, "prompt: must not be none, because an agent asks each time")
    if decision == "deny":
        raise AuthorizationError("access_denied", "the person did not allow it")
    return asked


async def _decided(
    tx: Transaction, request: AuthorizationRequest, user: CustomerUser | None, decision: Decision | None, now: datetime
) -> str | None:
    """Return a code, or None if the person has to be asked, or to sign in. Raises AuthorizationError."""
    if decision is None or user is None:
        return await start(tx, request, user, now)
    if decision == "deny":
        raise AuthorizationError("access_denied", "the customer did not allow it")
    return await allow(tx, request, user, now)
