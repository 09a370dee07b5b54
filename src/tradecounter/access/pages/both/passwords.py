"""`/forgotten-password` and `/set-password`, at which people set a password by a mailed link."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.change_password import ask_for_password_link
from tradecounter.access.links import open_link, set_password
from tradecounter.access.pages.both.visit import SignInSubject, address_of, forget_session
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.rest.call import Call


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

    @page("/forgotten-password", "Forgotten password", signed_out=True)
    async def show_forgotten(self, call: Call) -> Response:
        return await self._forgotten_form(call, Filled())

    @form("/forgotten-password", "Forgotten password", signed_out=True)
    async def forgotten(self, call: Call) -> Response:
        async def work(given: ForgottenForm) -> Response:
            address = address_of(call.request)
            now = self.desk.clock.now()
            async with transaction(self.desk.database) as tx:
                await ask_for_password_link(tx, self.site.name, given.email, address, now)
            message = (
                "If that is the address of a user, an e-mail with a link is on its way. The link works for an hour."
            )
            return self.desk.go(call, self.site.sign_in, message)

        return await self.take(call, ForgottenForm, work, lambda filled: self._forgotten_form(call, filled))

    @page("/set-password", "Set a password", signed_out=True, query=TokenParameters)
    async def show_set_password(self, call: Call) -> Response:
        return await self._password_form(call, Filled(), call.query(TokenParameters).token)

    @form("/set-password", "Set a password", signed_out=True)
    async def set_password(self, call: Call) -> Response:
        async def work(given: NewPasswordForm) -> Response:
            now = self.desk.clock.now()
            address = address_of(call.request)
            await set_password(self.desk.database, self.site.name, given.token, given.password, now, address)
            response = self.desk.go(call, self.site.sign_in, "The password is set. Sign in with it.")
            forget_session(response, self.site)
            return response

        return await self.take(
            call, NewPasswordForm, work, lambda filled: self._password_form(call, filled, filled.value("token"))
        )

    async def _forgotten_form(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "access/forgotten.html", form=filled, root=self.root)

    async def _password_form(self, call: Call, filled: Filled, token: str) -> Response:
        """Show the form. Raises DomainError: gone (the link)."""
        link = await open_link(self.desk.database, self.site.name, token, self.desk.clock.now())
        return self.show_form(call, "access/set_password.html", filled, token=token, link=link)
