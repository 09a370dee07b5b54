"""`/sign-ins`: a person's own sessions, password and second factor."""

from datetime import datetime

import segno
from markupsafe import Markup
from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.browser_names import browser_name
from tradecounter.access.change_password import change_password
from tradecounter.access.pages.both.visit import SignInSubject, address_of, sign_in_step, the_session
from tradecounter.access.second_factor import (
    begin_factor,
    codes_left,
    disable_factor,
    enable_factor,
    renew_recovery_codes,
)
from tradecounter.access.sessions import end_other_sessions, end_own_session, list_sessions
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_view import set_cookie
from tradecounter.edge.pages.step import NoFields, action, form_template, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter


def qr_code(text: str) -> Markup:
    """Return a QR code as inline SVG, black on white in dark pages too, without styles that a content policy blocks."""
    drawing = segno.make_qr(text, error="m").svg_inline(omitsize=True, dark="#000", light="#fff", title="QR code")
    return Markup(drawing)  # noqa: S704 the library escapes the title, and the rest is its own


_SESSION_ID = Parameter("id", "The id of a session.", ID, 1)


class ChangeForm(Struct):
    """The present and the new password."""

    current_password: str
    password: str


class FirstCodeForm(Struct):
    """The first code of a new authenticator."""

    code: str


class OwnSignInPages(SignInSubject, frozen=True):
    """What people do with their own access."""

    @page("/sign-ins", "Password and second factor")
    async def show_sign_ins(self, call: Call, filled: Filled) -> Response:
        session = the_session(call)
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            sessions = await list_sessions(tx, self.site.name, session.person.id, now)
            left = await codes_left(tx, session.person)
        return self.desk.show(
            call,
            "access/own.html",
            form=filled,
            sessions=[(session, browser_name(session.browser)) for session in sessions],
            own=session,
            codes_left=left,
            compulsory=self.policy.requires_factor(self.site.name),
        )

    @action(
        "/sign-ins/{id}/end",
        "End a session",
        shown=show_sign_ins,
        to="/sign-ins",
        done="That session has ended.",
        path_parameters=(_SESSION_ID,),
    )
    async def end_one(self, tx: Transaction, call: Call, now: datetime) -> None:
        await end_own_session(tx, the_session(call), call.path_id("id", "session"), now)

    @action(
        "/sign-ins/end-others",
        "End all other sessions",
        shown=show_sign_ins,
        to="/sign-ins",
        done="All other sessions have ended.",
    )
    async def end_others(self, tx: Transaction, call: Call, now: datetime) -> None:
        await end_other_sessions(tx, the_session(call), now)

    @sign_in_step("/sign-ins/password", "Change the password", shown=form_template("access/change_password.html"))
    async def change_password(self, call: Call, body: ChangeForm) -> Response:
        session = the_session(call)
        address = address_of(call.request)
        now = self.desk.clock.now()
        cookie = await change_password(self.desk.database, session, body.current_password, body.password, address, now)
        response = self.desk.go(call, self.site.sign_ins, "The password is changed. All other sessions have ended.")
        set_cookie(response, self.site.cookie, cookie)
        return response

    async def _factor_form(self, call: Call, filled: Filled) -> Response:
        async with transaction(self.desk.database, call.actor) as tx:
            begun = await begin_factor(tx, self.policy, the_session(call), self.desk.clock.now())
        return self.desk.show(call, "access/factor.html", form=filled, factor=begun, qr_code=qr_code(begun.uri))

    @sign_in_step("/sign-ins/second-factor", "Set up a second factor", shown=_factor_form, dangerous=True)
    async def set_up_factor(self, call: Call, body: FirstCodeForm) -> Response:
        async with transaction(self.desk.database, call.actor) as tx:
            codes = await enable_factor(tx, self.policy, the_session(call), body.code, self.desk.clock.now())
        return self.show_codes(call, codes, self.site.sign_ins)

    @step(
        "/sign-ins/second-factor/remove",
        "Remove the second factor",
        template="access/plain_step.html",
        values={
            "submit": "Remove it",
            "note": "The password alone then signs you in. Your recovery codes end.",
            "kind": "danger",
        },
        to="/sign-ins",
        done="The second factor is removed.",
        dangerous=True,
    )
    async def remove_factor(self, tx: Transaction, call: Call, now: datetime) -> None:
        await disable_factor(tx, self.policy, the_session(call).person, now)

    @sign_in_step(
        "/sign-ins/recovery-codes",
        "New recovery codes",
        shown=form_template(
            "access/plain_step.html",
            {"submit": "Show new codes", "note": "You get ten new codes. The ones that you have end.", "kind": ""},
        ),
        dangerous=True,
    )
    async def renew_codes(self, call: Call, body: NoFields) -> Response:
        async with transaction(self.desk.database, call.actor) as tx:
            codes = await renew_recovery_codes(tx, the_session(call).person, self.desk.clock.now())
        return self.show_codes(call, codes, self.site.sign_ins)
