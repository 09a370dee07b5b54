"""`/auth/authorize`: where an application sends a customer's browser for the consent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from starlette.responses import Response

from tradecounter.consent.authorization_request import (
    Application,
    AuthorizationError,
    AuthorizationRequest,
    Fields,
    fetch_target,
    read_request,
)
from tradecounter.consent.authorize import Page, allow, start
from tradecounter.consent.keys import issuer_name
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import CONTENT_POLICY
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import ElsewhereError, session_of
from tradecounter.identity.oauth.client_requests import audience_of
from tradecounter.identity.oauth.redirect_uris import origin_of
from tradecounter.kit.actor import SYSTEM
from tradecounter.kit.errors import invalid
from tradecounter.parts.account import AccountParts

PATH = "/auth/authorize"

Decision = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class ConsentPages:
    """The page of the own issuer. People who have not signed in do so first, and come back."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Allow an application to act for the customer", signed_out=True)
    async def show_request(self, call: Call) -> Response:
        return await self._respond(call, Fields.read(call.request.scope["query_string"]), None)

    @form(PATH, "Allow an application, or do not", signed_out=True)
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
        issuer = issuer_name(audience_of(call.request, self.parts.settings.base_url))
        async with transaction(self.desk.database, SYSTEM if user is None else call.actor) as tx:
            application = await fetch_target(tx, fields)
            try:
                request = read_request(application, fields)
                result = await _decided(tx, request, user, decision, self.desk.clock.now())
            except AuthorizationError as error:
                return self._back(call, application, application.error_address(issuer, error))
            account = None if user is None else await fetch_account(tx, user.customer_id)
        if not isinstance(result, Page):
            return self._back(call, application, application.address(issuer, code=result))
        if account is None:
            raise ElsewhereError(self.desk.site.sign_in, f"{PATH}?{urlencode(fields.known())}")
        return self._page(
            call, application, "consent/consent.html", fields=fields.known(), account=account.name, page_to_show=result
        )

    def _back(self, call: Call, application: Application, address: str) -> Response:
        """Send the browser back to the application.

        After a sign-in, the browser still applies the content policy of the sign-in page to redirects, which would
        block this one. So it gets a page that goes on by itself.
        """
        if call.request.method == "GET" and call.request.headers.get("sec-fetch-site") == "same-origin":
            return self._page(call, application, "consent/continue.html", address=address)
        return Response(status_code=303, headers={"Location": address})

    def _page(self, call: Call, application: Application, template: str, **values: Any) -> Response:
        origin, site = origin_of(application.redirect_uri), urlsplit(application.redirect_uri).netloc
        seller = self.parts.settings.seller_name
        response = self.desk.show(call, template, name=application.record.name, site=site, seller=seller, **values)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY.replace(
            "form-action 'self'", f"form-action 'self' {origin}"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


async def _decided(
    tx: Transaction, request: AuthorizationRequest, user: CustomerUser | None, decision: Decision | None, now: datetime
) -> str | Page:
    """Return a code, or the page to show. Raises AuthorizationError."""
    if decision is None or user is None:
        return await start(tx, request, user, now)
    if decision == "deny":
        raise AuthorizationError("access_denied", "the customer did not allow it")
    return await allow(tx, request, user, now)
