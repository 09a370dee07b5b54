"""`/sign-in`, `/sign-out`, `/forgotten-password` and `/set-password`: the password, the code, and links to set one."""

from collections.abc import Sequence

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.change_password import ask_for_password_link, prove
from tradecounter.access.links import open_link, set_password
from tradecounter.access.pages.both.own_sign_ins import OwnSignInPages, qr_code
from tradecounter.access.pages.both.visit import (
    NextParameters,
    SignInSubject,
    address_of,
    set_session,
    sign_in_step,
    the_session,
    visitor_of,
)
from tradecounter.access.second_factor import begin_factor, has_factor
from tradecounter.access.sign_in import SignIn, enter_code, enter_first_code, half_session, sign_in, sign_out
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import form
from tradecounter.edge.pages.page_view import forget_cookie
from tradecounter.edge.pages.step import form_template
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError
from tradecounter.kit.text import sentence


class PasswordForm(Struct):
    """The first step."""

    email: str
    password: str
    next: str = ""


class CodeForm(Struct):
    """The second step."""

    code: str
    next: str = ""


class ProofForm(Struct):
    """The password or a code, once more."""

    given: str
    next: str = ""


class SignInPages(SignInSubject, frozen=True):
    """The steps of a sign-in."""

    def _signed_in(self, call: Call, done: SignIn, path: str) -> Response:
        response = self.desk.go(call, path)
        set_session(response, self.site, done)
        return response

    async def _sign_in_form(self, call: Call, filled: Filled) -> Response:
        wanted = self.wanted(call, filled)
        if self.desk.view(call).person is not None and not filled.values:
            return self.desk.go(call, wanted)
        return self.show_form(call, "access/sign_in.html", filled, next=wanted)

    @sign_in_step("/sign-in", "Sign in", shown=_sign_in_form, query=NextParameters, signed_out=True)
    async def sign_in(self, call: Call, body: PasswordForm) -> Response:
        visitor = visitor_of(call.request, self.site)
        now = self.desk.clock.now()
        done = await sign_in(self.desk.database, self.policy, self.site.name, body.email, body.password, visitor, now)
        steps = {"code": "/sign-in/code", "set_up": "/sign-in/second-factor"}
        wanted = self.next_of(body.next)
        return self._signed_in(call, done, self.path(steps[done.next], wanted) if done.next in steps else wanted)

    def _begin_again(self, call: Call, error: DomainError, wanted: str) -> Response:
        message = f"{sentence(error.message)}."
        return self.desk.go(call, self.path("/sign-in", wanted), message)

    async def _code_form(self, call: Call, filled: Filled) -> Response:
        wanted = self.wanted(call, filled)
        try:
            async with self.desk.reading() as tx:
                cookie = visitor_of(call.request, self.site).cookie
                await half_session(tx, self.site.name, cookie, self.desk.clock.now())
        except DomainError as error:
            return self._begin_again(call, error, wanted)
        return self.desk.show(call, "access/code.html", form=filled, next=wanted)

    @sign_in_step("/sign-in/code", "Enter a code", shown=_code_form, query=NextParameters, signed_out=True)
    async def enter_code(self, call: Call, body: CodeForm) -> Response:
        visitor = visitor_of(call.request, self.site)
        now = self.desk.clock.now()
        done = await enter_code(self.desk.database, self.policy, self.site.name, body.code, visitor, now)
        return self._signed_in(call, done, self.next_of(body.next))

    async def _first_factor_form(self, call: Call, filled: Filled) -> Response:
        wanted = self.wanted(call, filled)
        now = self.desk.clock.now()
        cookie = visitor_of(call.request, self.site).cookie
        try:
            async with transaction(self.desk.database) as tx:
                half = await half_session(tx, self.site.name, cookie, now)
                begun = await begin_factor(tx, self.policy, half, now)
        except DomainError as error:
            return self._begin_again(call, error, wanted)
        return self.desk.show(
            call, "access/first_factor.html", form=filled, next=wanted, factor=begun, qr_code=qr_code(begun.uri)
        )

    @sign_in_step(
        "/sign-in/second-factor",
        "Set up a second factor",
        shown=_first_factor_form,
        query=NextParameters,
        signed_out=True,
    )
    async def set_up_first_factor(self, call: Call, body: CodeForm) -> Response:
        visitor = visitor_of(call.request, self.site)
        now = self.desk.clock.now()
        done = await enter_first_code(self.desk.database, self.policy, self.site.name, body.code, visitor, now)
        response = self.show_codes(call, done.recovery_codes, self.next_of(body.next))
        set_session(response, self.site, done)
        return response

    async def _proof_form(self, call: Call, filled: Filled) -> Response:
        wanted = self.wanted(call, filled)
        async with self.desk.reading() as tx:
            by_code = await has_factor(tx, the_session(call).person)
        return self.desk.show(call, "access/again.html", form=filled, next=wanted, by_code=by_code)

    @sign_in_step("/sign-in/again", "Confirm that it is you", shown=_proof_form, query=NextParameters)
    async def sign_in_again(self, call: Call, body: ProofForm) -> Response:
        session = the_session(call)
        address = address_of(call.request)
        await prove(self.desk.database, self.policy, session, body.given, address, self.desk.clock.now())
        return self.desk.go(call, self.next_of(body.next))

    @form("/sign-out", "Sign out")
    async def sign_out(self, call: Call) -> Response:
        async with transaction(self.desk.database, call.actor) as tx:
            await sign_out(tx, the_session(call), self.desk.clock.now())
        response = self.desk.go(call, self.site.sign_in, "You are signed out.")
        forget_cookie(response, self.site.cookie)
        return response


class ForgottenForm(Struct):
    """Whose password is forgotten."""

    email: str


class TokenParameters(Struct, frozen=True):
    """The secret of a link."""

    token: str = ""


class NewPasswordForm(Struct):
    """The new password."""

    token: str
    password: str


class PasswordPages(SignInSubject, frozen=True):
    """The pages of people who have no password, or do not know it."""

    @sign_in_step(
        "/forgotten-password",
        "Forgotten password",
        shown=form_template("access/forgotten.html"),
        guesses=False,
        signed_out=True,
    )
    async def forgotten(self, call: Call, body: ForgottenForm) -> Response:
        async with transaction(self.desk.database) as tx:
            address = address_of(call.request)
            await ask_for_password_link(tx, self.site.name, body.email, address, self.desk.clock.now())
        message = "If that is the address of a user, an e-mail with a link is on its way. The link works for an hour."
        return self.desk.go(call, self.site.sign_in, message)

    async def _password_form(self, call: Call, filled: Filled) -> Response:
        """Show the form. Raises DomainError: gone (the link)."""
        token = filled.value("token", call.query(TokenParameters).token)
        link = await open_link(self.desk.database, self.site.name, token, self.desk.clock.now())
        return self.show_form(call, "access/set_password.html", filled, token=token, link=link)

    @sign_in_step(
        "/set-password", "Set a password", shown=_password_form, query=TokenParameters, guesses=False, signed_out=True
    )
    async def set_password(self, call: Call, body: NewPasswordForm) -> Response:
        now = self.desk.clock.now()
        address = address_of(call.request)
        await set_password(self.desk.database, self.site.name, body.token, body.password, now, address)
        response = self.desk.go(call, self.site.sign_in, "The password is set. Sign in with it.")
        forget_cookie(response, self.site.cookie)
        return response


SIGN_IN_SUBJECTS: Sequence[type] = (SignInPages, PasswordPages, OwnSignInPages)
