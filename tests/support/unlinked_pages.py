"""Pages to which no link leads, and how a browser reaches each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from playwright.sync_api import expect

from support.agent_consent import connecting
from support.backoffice import BackOfficeSite
from support.billing import invoiced
from support.browsing import Tab, signed_in
from support.consent import CALLBACK, challenge_of, register
from support.mail import internal_id
from support.orders import buy, create, rows
from support.pages import Person, customer_user, staff_member
from support.people import PASSWORD, invitation_of_member, totp
from support.quotes import price_as_support, request_quote
from support.sandbox_pair import LIST as SANDBOX
from support.sandbox_pair import SandboxPair
from support.service import Service
from support.shop import STANDARD
from support.signing_in import Place, place_at
from tradecounter.access.links import link_token
from tradecounter.access.users import invite_user
from tradecounter.edge.pages.page_site import BACK_OFFICE, PageSite
from tradecounter.identity.installation_secret import secret_key
from tradecounter.quotes.quote_links import quote_token

_SECRET = "s" * 64
_BANK = b"date,amount,reference\n2026-06-01,20.00,no invoice of ours\n2026-06-02,-5.00,fee\n"
_STOCK = b"sku,available\nPHONE,12\n"


@dataclass
class Visit:
    """A tab of a window without cookies, and the sites.

    Staff of the `strict` one need a second factor; the live site of the `pair` has a sandbox.
    """

    tab: Tab
    office: BackOfficeSite
    strict: BackOfficeSite
    pair: SandboxPair
    site: PageSite

    @property
    def service(self) -> Service:
        return self.office.service

    @property
    def url(self) -> str:
        return self.office.url if self.site is BACK_OFFICE else self.service.url

    def open(self, path: str) -> None:
        """Open a page below the site's root."""
        response = self.tab.open(f"{self.url}{self.site.root}{path}")
        assert response.status == 200

    def as_someone(self) -> Person:
        """Sign in someone who may do everything."""
        service = self.service
        person = (
            staff_member(service, self.url, "administrator")
            if self.site is BACK_OFFICE
            else customer_user(service, service.customer().id)
        )
        signed_in(self.tab, person, self.url)
        return person

    def place(self) -> Place:
        return place_at("staff" if self.site is BACK_OFFICE else "account", self.office)

    def enter(self, place: Place) -> None:
        """Send the form of the sign-in."""
        self.open("/sign-in")
        page = self.tab.page
        page.locator("input[name=email]").fill(place.who.email)
        page.locator("input[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")


def _signed_out(path: str) -> Callable[[Visit], None]:
    return lambda visit: visit.open(path)


def _signed_in(path: str) -> Callable[[Visit], None]:
    def reach(visit: Visit) -> None:
        visit.as_someone()
        visit.open(path)

    return reach


def _code(visit: Visit) -> None:
    place = visit.place()
    place.set_up_factor(place.signed_in())
    visit.enter(place)
    expect(visit.tab.page.locator("h1")).to_have_text("Enter a code")


def _first_factor(visit: Visit) -> None:
    if visit.site is not BACK_OFFICE:  # nothing forces customers' users, so the page sends them to the sign-in
        visit.open("/sign-in/second-factor")
        expect(visit.tab.page.locator("h1")).to_have_text("Sign in")
        return
    visit.office = visit.strict
    visit.enter(visit.place())
    expect(visit.tab.page.locator("h1")).to_have_text("Set up a second factor")


def _with_factor(path: str) -> Callable[[Visit], None]:
    """Reach a page that needs a second factor, as someone who has one."""

    def reach(visit: Visit) -> None:
        place = visit.place()
        secret, _ = place.set_up_factor(place.signed_in())
        visit.enter(place)
        visit.tab.page.locator("input[name=code]").fill(totp(secret, visit.service))
        visit.tab.page.keyboard.press("Enter")
        expect(visit.tab.page.locator("nav.subjects")).to_be_attached()
        visit.open(path)

    return reach


def _set_password(visit: Visit) -> None:
    service, now = visit.service, visit.service.clock.now()
    if visit.site is BACK_OFFICE:
        token = invitation_of_member(service, f"new{id(visit)}@reseller.example")
    else:
        email, customer = f"new{id(visit)}@shop.example", service.customer().id
        _, link_id = service.in_transaction(lambda tx: invite_user(tx, customer, email, "buyer", _SECRET, now))
        token = link_token(_SECRET, link_id)
    visit.open(f"/set-password?token={token}")


def _quote_link(visit: Visit) -> None:
    service = visit.service
    quote = request_quote(service.customer(company="Harbour & Co"))
    price_as_support(service, quote, ("PHONE", "40"), note="Only today")
    order_id = internal_id(service, quote)
    token = service.in_transaction(lambda tx: quote_token(tx, order_id, lambda: [secret_key(service.settings)]))
    visit.open(f"/quote-link/{token}")


def _consent(visit: Visit) -> None:
    visit.as_someone()
    request = {
        "response_type": "code",
        "client_id": register(visit.service).client_id,
        "redirect_uri": CALLBACK,
        "code_challenge": challenge_of("v" * 43),
        "code_challenge_method": "S256",
    }
    visit.tab.open(f"{visit.service.url}/auth/authorize?{urlencode(request)}")
    expect(visit.tab.page.locator("h1")).to_have_text("Allow ERP?")


def _checked_bank_file(visit: Visit) -> None:
    visit.as_someone()
    visit.open("/payment/import")
    file = visit.tab.page.locator("input[type=file]")
    file.set_input_files({"name": "bank.csv", "mimeType": "text/csv", "buffer": _BANK})
    visit.tab.page.get_by_role("button", name="Look at the file").click()
    expect(visit.tab.page.get_by_role("button", name="Store what cannot be placed")).to_be_visible()


def _checked_file(after: str) -> Callable[[Visit], None]:
    def reach(visit: Visit) -> None:
        visit.as_someone()
        visit.open("/import")
        file = visit.tab.page.locator("input[type=file]")
        file.set_input_files({"name": "stock.csv", "mimeType": "text/csv", "buffer": _STOCK})
        visit.tab.page.get_by_role("button", name="Check the file").click()
        expect(visit.tab.page.get_by_role("region", name="What would change")).to_be_visible()
        visit.tab.open(visit.tab.page.url + after)

    return reach


def _pending_order(after: str) -> Callable[[Visit], None]:
    def reach(visit: Visit) -> None:
        customer = visit.service.customer()
        code = create(customer, [("PHONE", 2)])["confirmation_code"]
        signed_in(visit.tab, customer_user(visit.service, customer.id, "buyer"), visit.url)
        visit.open(f"/new-order/{code}{after}")

    return reach


def _approval(after: str) -> Callable[[Visit], None]:
    def reach(visit: Visit) -> None:
        customer = visit.service.customer()
        code = create(customer, [("PHONE", 2)])["confirmation_code"]
        buyer = customer_user(visit.service, customer.id, "buyer")
        buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD), "note": "For Leeds"})
        signed_in(visit.tab, customer_user(visit.service, customer.id, "approver"), visit.url)
        visit.open(f"/approval/{code}{after}")

    return reach


def _ticked_orders(step: str) -> Callable[[Visit], None]:
    def reach(visit: Visit) -> None:
        customer = visit.service.customer()
        names = [buy(customer, [("PHONE", 2)])["order_reference"] for _ in range(2)]
        visit.as_someone()
        visit.open(f"/order/many/{step}?{urlencode([('order', name) for name in names])}")

    return reach


def _ticked_debtors(visit: Visit) -> None:
    customers = [visit.service.customer() for _ in range(2)]
    for customer in customers:
        invoiced(visit.service, customer)
    visit.as_someone()
    visit.open(f"/money/remind?{urlencode([('customer', customer.id) for customer in customers])}")


def _sandbox(step: str) -> Callable[[Visit], None]:
    """Reach a page of the keys of a sandbox in which the customer has one."""

    def reach(visit: Visit) -> None:
        pair = visit.pair
        pair.refresh()
        pair.dev.send(f"{SANDBOX}/key/new", {"name": "My shop"})
        signed_in(visit.tab, pair.dev, pair.live.url)
        response = visit.tab.open(pair.live.url + SANDBOX)
        if step:
            address = visit.tab.page.locator(f"a[href$='{step}']").first.get_attribute("href")
            response = visit.tab.open(f"{pair.live.url}{address}")
        assert response.status == 200

    return reach


def _revoking_agent(visit: Visit) -> None:
    service = visit.service
    owner = customer_user(service, service.customer().id, "owner")
    connecting(service, owner, CALLBACK).tokens()
    person, url, path = owner, service.url, "/account/developer/agent"
    if visit.site is BACK_OFFICE:
        [(customer,)] = rows(service, "select customer_id from customer_user where id = %s", owner.id)
        person, url, path = staff_member(service, visit.url, "support"), visit.url, f"/customer/{customer}/access"
    signed_in(visit.tab, person, url)
    visit.tab.open(url + path)
    address = visit.tab.page.locator("a[href*='/agent/'][href$='/revoke']").first.get_attribute("href")
    assert visit.tab.open(f"{url}{address}").status == 200


# By the path below the site's root.
WAYS: Mapping[str, Callable[[Visit], None]] = {
    "/quote-link": _signed_out("/quote-link"),
    "/quote-link/{secret}": _quote_link,
    "/sign-in": _signed_out("/sign-in"),
    "/sign-in/code": _code,
    "/sign-in/second-factor": _first_factor,
    "/sign-in/again": _signed_in("/sign-in/again"),
    "/sign-ins/second-factor/remove": _with_factor("/sign-ins/second-factor/remove"),
    "/sign-ins/recovery-codes": _with_factor("/sign-ins/recovery-codes"),
    "/set-password": _set_password,
    "/forgotten-password": _signed_out("/forgotten-password"),
    "/auth/authorize": _consent,
    "/import/check/{upload}": _checked_file(""),
    "/import/check/{upload}/apply": _checked_file("/apply"),
    "/payment/import/check/{file}": _checked_bank_file,
    "/new-order/{code}": _pending_order(""),
    "/new-order/{code}/discard": _pending_order("/discard"),
    "/new-order/{code}/approval": _pending_order("/approval"),
    "/approval/{code}": _approval(""),
    "/developer/sandbox": _sandbox(""),
    "/developer/sandbox/key/new": _sandbox("/key/new"),
    "/developer/sandbox/key/{id}/disable": _sandbox("/disable"),
    "/developer/agent/{agent_id}/revoke": _revoking_agent,
    "/customer/{id}/agent/{agent_id}/revoke": _revoking_agent,
    "/basket/shared": _signed_in("/basket/shared?item=2:PHONE"),
    "/money/remind": _ticked_debtors,
    "/product-change": _signed_in("/product-change?sku=PHONE&sku=CABLE"),
    "/order/many/dispatch": _ticked_orders("dispatch"),
    "/order/many/invoice": _ticked_orders("invoice"),
    "/order/many/pick": _ticked_orders("pick"),
    "/approval/{code}/decline": _approval("/decline"),
}
