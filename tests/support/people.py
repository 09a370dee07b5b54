"""Staff members and customers' users of tests, who sign in through the use cases."""

import itertools
from dataclasses import dataclass, field
from datetime import timedelta

from support.service import Service, unused_client_address
from tradecounter.access.links import link_token, set_password
from tradecounter.access.queries.people import fetch_user, find_person
from tradecounter.access.second_factor import SignInPolicy, code_at, step_of
from tradecounter.access.sessions import touch_session
from tradecounter.access.sign_in import SignIn, Visitor, enter_code, sign_in
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.access.users import disable_user, invite_user
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Person, Site
from tradecounter.edge.session import Session
from tradecounter.kit.errors import DomainError, Kind

SECRET = "s" * 64
PASSWORD = "correct horse battery"

_numbers = itertools.count(1)


@dataclass
class Someone:
    """A staff member or a customer's user with a password, in a browser at an address."""

    service: Service
    site: Site
    email: str
    policy: SignInPolicy
    address: str = field(default_factory=unused_client_address)

    @property
    def person(self) -> Person:
        found = self.service.in_transaction(lambda tx: find_person(tx, self.site, self.email))
        assert found is not None
        return found

    def visitor(self, address: str | None = None, cookie: str = "", mark: str = "") -> Visitor:
        return Visitor(address or self.address, "Mozilla/5.0 (Test)", cookie, mark)

    def sign_in(self, password: str = PASSWORD, address: str | None = None, cookie: str = "", mark: str = "") -> SignIn:
        service, visitor = self.service, self.visitor(address, cookie, mark)
        return service.call(
            lambda: sign_in(
                service.commands, self.policy, self.site, self.email, password, visitor, service.clock.now()
            )
        )

    def enter_code(self, half: SignIn, code: str, address: str | None = None) -> SignIn:
        service, visitor = self.service, self.visitor(address, half.cookie)
        return service.call(
            lambda: enter_code(service.commands, self.policy, self.site, code, visitor, service.clock.now())
        )

    def kind_of_error(self, password: str = PASSWORD, address: str | None = None) -> Kind | None:
        """The kind of error that a sign-in gets; None for success."""
        try:
            self.sign_in(password, address)
        except DomainError as error:
            return error.kind
        return None

    def session(self, cookie: str) -> Session | None:
        """The session of a cookie, now."""
        now = self.service.clock.now()
        return self.service.in_transaction(lambda tx: touch_session(tx, self.site, cookie, now))

    def signed_in(self) -> Session:
        found = self.session(self.sign_in().cookie)
        assert found is not None
        return found


def choose_password(service: Service, site: Site, token: str, password: str = PASSWORD) -> None:
    """Set a password at the address of a link."""
    now = service.clock.now()
    service.call(lambda: set_password(service.commands, site, token, password, now))


def invitation_of_member(service: Service, email: str, *roles: str) -> str:
    """The secret of the link to a new staff member."""
    now = service.clock.now()
    wanted = roles or ("support",)
    _, link_id = service.in_transaction(
        lambda tx: add_staff_member(tx, NewStaffMember(email, "Sam", [*wanted]), SECRET, now)
    )
    return link_token(SECRET, link_id)


def staff_member(service: Service, *roles: str, totp_required: bool = False) -> Someone:
    """A new staff member with a password."""
    email = f"member{next(_numbers)}@reseller.example"
    choose_password(service, "staff", invitation_of_member(service, email, *roles))
    return Someone(service, "staff", email, policy_of(service, totp_required=totp_required))


def customer_user(service: Service, customer_id: int | None = None) -> Someone:
    """A new user with a password, of a customer or of a new one."""
    email, now = f"person{next(_numbers)}@shop.example", service.clock.now()
    owner = service.customer().id if customer_id is None else customer_id
    _, link_id = service.in_transaction(lambda tx: invite_user(tx, owner, email, "owner", SECRET, now))
    choose_password(service, "account", link_token(SECRET, link_id))
    return Someone(service, "account", email, policy_of(service))


def disable(service: Service, email: str) -> None:
    """Disable a customer's user."""

    async def work(tx: Transaction) -> None:
        await disable_user(tx, await fetch_user(tx, email), service.clock.now())

    service.in_transaction(work)


def policy_of(service: Service, *, totp_required: bool = False) -> SignInPolicy:
    """The policy of a service's settings."""
    policy = SignInPolicy.from_settings(service.settings)
    return SignInPolicy(totp_required, policy.vault, policy.issuer)


def totp(secret: bytes, service: Service, shift: int = 0) -> str:
    """The authenticator's code now, or of a step before or after."""
    return code_at(secret, step_of(service.clock.now()) + shift)


def later(service: Service, **time: float) -> None:
    """Move the clock."""
    service.clock.advance(timedelta(**time))
