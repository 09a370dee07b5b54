"""`/sign-in`: the password, the code, and both again before dangerous steps; `/sign-out`."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.change_password import prove
from tradecounter.access.pages.both.own_sign_ins import qr_code
from tradecounter.access.pages.both.visit import (
    NextParameters,
    SignInSubject,
    address_of,
    forget_session,
    set_session,
    the_session,
    visitor_of,
)
from tradecounter.access.second_factor import begin_factor, has_factor
from tradecounter.access.sign_in import SignIn, enter_code, enter_first_code, half_session, sign_in, sign_out
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind


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

    @page("/sign-in", "Sign in", signed_out=True, query=NextParameters)
    async def show_sign_in(self, call: Call) -> Response:
        wanted = self.next_of(call.query(NextParameters).next)
        if self.desk.view(call).person is not None:
            return self.desk.go(call, wanted)
        return await self._sign_in_form(call, Filled(), wanted)

    @form("/sign-in", "Sign in", signed_out=True)
    async def sign_in(self, call: Call) -> Response:
        async def work(given: PasswordForm) -> Response:
            visitor = visitor_of(call.request, self.site)
            now = self.desk.clock.now()
            done = await sign_in(
                self.desk.database, self.policy, self.site.name, given.email, given.password, visitor, now
            )
            steps = {"code": "/sign-in/code", "set_up": "/sign-in/second-factor"}
            wanted = self.next_of(given.next)
            path = self.path(steps[done.next], wanted) if done.next in steps else wanted
            return self._signed_in(call, done, path)

        return await self.take(
            call, PasswordForm, work, lambda filled: self._sign_in_form(call, filled, filled.value("next"))
        )

    @page("/sign-in/code", "Enter a code", signed_out=True, query=NextParameters)
    async def show_code(self, call: Call) -> Response:
        wanted = self.next_of(call.query(NextParameters).next)
        try:
            await self._require_half(call)
        except DomainError as error:
            return self._begin_again(call, error, wanted)
        return await self._code_form(call, Filled(), wanted)

    @form("/sign-in/code", "Enter a code", signed_out=True)
    async def enter_code(self, call: Call) -> Response:
        async def work(given: CodeForm) -> Response:
            visitor = visitor_of(call.request, self.site)
            now = self.desk.clock.now()
            wanted = self.next_of(given.next)
            try:
                done = await enter_code(self.desk.database, self.policy, self.site.name, given.code, visitor, now)
            except DomainError as error:
                if error.kind is Kind.UNAUTHENTICATED:
                    return self._begin_again(call, error, wanted)
                raise
            return self._signed_in(call, done, wanted)

        return await self.take(call, CodeForm, work, lambda filled: self._code_form(call, filled, filled.value("next")))

    @page("/sign-in/second-factor", "Set up a second factor", signed_out=True, query=NextParameters)
    async def show_first_factor(self, call: Call) -> Response:
        wanted = self.next_of(call.query(NextParameters).next)
        try:
            return await self._first_factor_form(call, Filled(), wanted)
        except DomainError as error:
            return self._begin_again(call, error, wanted)

    @form("/sign-in/second-factor", "Set up a second factor", signed_out=True)
    async def set_up_first_factor(self, call: Call) -> Response:
        async def work(given: CodeForm) -> Response:
            visitor = visitor_of(call.request, self.site)
            now = self.desk.clock.now()
            done = await enter_first_code(self.desk.database, self.policy, self.site.name, given.code, visitor, now)
            wanted = self.next_of(given.next)
            shown = self.show_codes(call, done.recovery_codes, wanted)
            set_session(shown, self.site, done)
            return shown

        async def again(filled: Filled) -> Response:
            try:
                return await self._first_factor_form(call, filled, filled.value("next"))
            except DomainError as error:
                return self._begin_again(call, error, self.next_of(filled.value("next")))

        return await self.take(call, CodeForm, work, again)

    @page("/sign-in/again", "Confirm that it is you", query=NextParameters)
    async def show_again(self, call: Call) -> Response:
        return await self._proof_form(call, Filled(), call.query(NextParameters).next)

    @form("/sign-in/again", "Confirm that it is you")
    async def sign_in_again(self, call: Call) -> Response:
        async def work(given: ProofForm) -> Response:
            session = the_session(call)
            address = address_of(call.request)
            await prove(self.desk.database, self.policy, session, given.given, address, self.desk.clock.now())
            return self.desk.go(call, self.next_of(given.next))

        return await self.take(
            call, ProofForm, work, lambda filled: self._proof_form(call, filled, filled.value("next"))
        )

    @form("/sign-out", "Sign out")
    async def sign_out(self, call: Call) -> Response:
        async with transaction(self.desk.database, call.actor) as tx:
            await sign_out(tx, the_session(call), self.desk.clock.now())
        response = self.desk.go(call, self.site.sign_in, "You are signed out.")
        forget_session(response, self.site)
        return response

    async def _sign_in_form(self, call: Call, filled: Filled, wanted: str) -> Response:
        return self.show_form(call, "access/sign_in.html", filled, next=self.next_of(wanted))

    async def _code_form(self, call: Call, filled: Filled, wanted: str) -> Response:
        return self.desk.show(call, "access/code.html", form=filled, next=self.next_of(wanted), root=self.root)

    async def _first_factor_form(self, call: Call, filled: Filled, wanted: str) -> Response:
        now = self.desk.clock.now()
        cookie = visitor_of(call.request, self.site).cookie
        async with transaction(self.desk.database) as tx:
            half = await half_session(tx, self.site.name, cookie, now)
            begun = await begin_factor(tx, self.policy, half, now)
        return self.desk.show(
            call,
            "access/first_factor.html",
            form=filled,
            next=self.next_of(wanted),
            root=self.root,
            factor=begun,
            qr_code=qr_code(begun.uri),
        )

    async def _proof_form(self, call: Call, filled: Filled, wanted: str) -> Response:
        async with self.desk.reading() as tx:
            by_code = await has_factor(tx, the_session(call).person)
        return self.desk.show(
            call, "access/again.html", form=filled, next=self.next_of(wanted), root=self.root, by_code=by_code
        )

    async def _require_half(self, call: Call) -> None:
        async with self.desk.reading() as tx:
            cookie = visitor_of(call.request, self.site).cookie
            await half_session(tx, self.site.name, cookie, self.desk.clock.now())

    def _begin_again(self, call: Call, error: DomainError, wanted: str) -> Response:
        message = f"{error.message[:1].upper()}{error.message[1:]}."
        return self.desk.go(call, self.path("/sign-in", wanted), message)

    def _signed_in(self, call: Call, done: SignIn, path: str) -> Response:
        response = self.desk.go(call, path)
        set_session(response, self.site, done)
        return response
