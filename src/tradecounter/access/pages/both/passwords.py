"""`/forgotten-password` and `/set-password`, at which people set a password by a mailed link."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.change_password import ask_for_password_link
from tradecounter.access.links import open_link, set_password
from tradecounter.access.pages.both.visit import SignInSubject, address_of, forget_session, sign_in_step
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.forms import Filled
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

    @sign_in_step(
        "/forgotten-password",
        "Forgotten password",
        shown=lambda self, call, filled: self._forgotten_form(call, filled),
        signed_out=True,
    )
    async def forgotten(self, call: Call, body: ForgottenForm) -> Response:
        async with transaction(self.desk.database) as tx:
            address = address_of(call.request)
            await ask_for_password_link(tx, self.site.name, body.email, address, self.desk.clock.now())
        message = "If that is the address of a user, an e-mail with a link is on its way. The link works for an hour."
        return self.desk.go(call, self.site.sign_in, message)

    @sign_in_step(
        "/set-password",
        "Set a password",
        shown=lambda self, call, filled: self._password_form(call, filled),
        query=TokenParameters,
        signed_out=True,
    )
    async def set_password(self, call: Call, body: NewPasswordForm) -> Response:
        now = self.desk.clock.now()
        address = address_of(call.request)
        await set_password(self.desk.database, self.site.name, body.token, body.password, now, address)
        response = self.desk.go(call, self.site.sign_in, "The password is set. Sign in with it.")
        forget_session(response, self.site)
        return response

    async def _forgotten_form(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "access/forgotten.html", form=filled, root=self.root)

    async def _password_form(self, call: Call, filled: Filled) -> Response:
        """Show the form. Raises DomainError: gone (the link)."""
        token = filled.value("token", call.query(TokenParameters).token)
        link = await open_link(self.desk.database, self.site.name, token, self.desk.clock.now())
        return self.show_form(call, "access/set_password.html", filled, token=token, link=link)
