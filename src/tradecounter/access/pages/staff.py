"""`/staff`, `/token` and `/settings`: staff members, service tokens, and the settings in force."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.links import link_token, staff_address
from tradecounter.access.queries.passwords import slowed_addresses
from tradecounter.access.queries.people import find_staff_member_by_id, list_staff
from tradecounter.access.queries.tokens import TokenRecord, list_tokens
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.access.staff import (
    NewStaffMember,
    add_staff_member,
    disable_staff_member,
    edit_staff_member,
    reset_staff_member,
)
from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import EditForm, fields_shown
from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.people import StaffMember
from tradecounter.edge.permissions import AREAS, ROLES, SCOPES
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.errors import or_not_found
from tradecounter.parts.back_office import OfficeParts
from tradecounter.settings import PREFIX, Settings, describe

ADMINISTRATORS = ("administrator",)

# What each role may do, as the forms say it.
_DESCRIBED = {
    "support": "Support: orders, quotes, returns, customers' contacts, users and keys",
    "warehouse": "Warehouse: dispatch, tracking, serial numbers, returns, stock",
    "finance": "Finance: invoices, credit notes, payments, credit limits, blocking",
    "catalogue": "Catalogue: products, prices, imports",
    "administrator": "Administrator: everything, also staff, tokens and webhooks",
}
_ROLES = [(role, _DESCRIBED[role]) for role in ROLES]


class MemberForm(EditForm):
    """The name and the roles of a member."""

    name: str
    roles: list[str]


class StaffPages(Struct, frozen=True):
    """Members of the staff."""

    desk: PageDesk
    parts: OfficeParts

    @page("/staff", "Staff and tokens", roles=ADMINISTRATORS)
    async def list_staff(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            members = await list_staff(tx)
            tokens = await list_tokens(tx)
            now = self.desk.clock.now()
            slowed = await slowed_addresses(tx, now - GUESSING_WINDOW)
        return self.desk.show(
            call,
            "access/list.html",
            members=sorted(members, key=lambda member: (member.disabled_at is not None, member.name.casefold())),
            tokens=[token for token in tokens if token.revoked_at is None],
            revoked=[token for token in tokens if token.revoked_at is not None],
            now=now,
            slowed=slowed,
            roles=_ROLES,
        )

    def _show_link(self, call: Call, made: tuple[StaffMember, int]) -> Response:
        member, link_id = made
        settings = self.parts.settings
        link = staff_address(settings, link_token(secret_key(settings), link_id))
        return self.desk.show(call, "access/link.html", member=member, link=link)

    @step(
        "/staff/new",
        "Add a member of the staff",
        template="access/member.html",
        values={"member": None, "roles": _ROLES},
        to="/staff",
        done="The member is added. The link was shown once; reset the member to get another one.",
        reveals=_show_link,
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def add(self, tx: Transaction, body: NewStaffMember, now: datetime) -> tuple[StaffMember, int]:
        secret = secret_key(self.parts.settings)
        return await add_staff_member(tx, body, secret, now)

    async def _member_to_edit(self, tx: Transaction, call: Call) -> dict[str, Any]:
        member = await _member(tx, call)
        return {"member": member, "roles": _ROLES, "was": fields_shown(MemberForm, member)}

    @step(
        "/staff/{id}/edit",
        "Change a member of the staff",
        template="access/member.html",
        values=_member_to_edit,
        to="/staff",
        done=lambda member: f"{member.name} is changed.",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def edit(self, tx: Transaction, call: Call, body: MemberForm, now: datetime) -> StaffMember:
        member, changes = await _member(tx, call), body.differences()
        if not changes:
            return member
        return await edit_staff_member(tx, member.email, changes.get("name"), changes.get("roles"), now)

    async def _ask_to_disable(self, tx: Transaction, call: Call) -> Question:
        member = await _member(tx, call)
        return Question(
            title=f"Disable {member.name}",
            text=f"{member.email} is signed out everywhere at once and cannot sign in any more. What the member did "
            "stays in the audit log.",
            button="Disable the member",
            back="/staff",
            back_name="Staff and tokens",
            danger=True,
        )

    @step(
        "/staff/{id}/disable",
        "Disable a member of the staff",
        asks=_ask_to_disable,
        to="/staff",
        done=lambda member: f"{member.name} is disabled.",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def disable(self, tx: Transaction, call: Call, now: datetime) -> StaffMember:
        return await disable_staff_member(tx, (await _member(tx, call)).email, now)

    async def _ask_to_reset(self, tx: Transaction, call: Call) -> Question:
        member = await _member(tx, call)
        return Question(
            title=f"{'Enable' if member.disabled_at else 'Reset'} {member.name}",
            text=f"The password and the second factor of {member.email} end, and the member is signed out everywhere. "
            "You get a link at which the member sets a new password.",
            button="Reset and show the link",
            back="/staff",
            back_name="Staff and tokens",
            danger=True,
        )

    @step(
        "/staff/{id}/reset",
        "Reset a member of the staff",
        asks=_ask_to_reset,
        to="/staff",
        done="The member is reset. The link was shown once; reset the member again to get another one.",
        reveals=_show_link,
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def reset(self, tx: Transaction, call: Call, now: datetime) -> tuple[StaffMember, int]:
        secret = secret_key(self.parts.settings)
        return await reset_staff_member(tx, (await _member(tx, call)).email, secret, now)


async def _member(tx: Transaction, call: Call) -> StaffMember:
    staff_id = call.path_id("id", "staff member")
    return or_not_found(await find_staff_member_by_id(tx, staff_id), "staff member", staff_id)


class TokenForm(Struct):
    """A new token; `expires` is its last day."""

    name: str
    scopes: list[str] = []
    expires: str | None = None


class TokenPages(Struct, frozen=True):
    """Service tokens."""

    desk: PageDesk
    parts: OfficeParts

    def _show_token(self, call: Call, made: tuple[TokenRecord, str]) -> Response:
        token, secret = made
        return self.desk.show(call, "access/token.html", token=token, secret=secret)

    @step(
        "/token/new",
        "Add a service token",
        template="access/new_token.html",
        values={"scopes": [(area, [scope for scope in SCOPES if scope.startswith(f"{area}:")]) for area in AREAS]},
        to="/staff",
        done="The token is added. It was shown once; revoke it and add another one.",
        reveals=_show_token,
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def add(self, tx: Transaction, body: TokenForm, now: datetime) -> tuple[TokenRecord, str]:
        return await add_token(tx, body.name, body.scopes, now, end_of("expires", body.expires))

    async def _ask_to_revoke(self, tx: Transaction, call: Call) -> Question:
        token_id = call.path_id("id", "token")
        match = next((token for token in await list_tokens(tx) if token.id == token_id), None)
        token = or_not_found(match, "token", token_id)
        used = f"was last used {moment_text(token.last_used_at)}" if token.last_used_at else "was never used"
        return Question(
            title=f"Revoke the token of {token.name}",
            text=f"The program with {token.prefix}… cannot call the API any more, at once. The token {used}.",
            button="Revoke it",
            back="/staff",
            back_name="Staff and tokens",
            danger=True,
        )

    @step(
        "/token/{id}/revoke",
        "Revoke a service token",
        asks=_ask_to_revoke,
        to="/staff",
        done=lambda token: f"The token of {token.name} is revoked.",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def revoke(self, tx: Transaction, call: Call, now: datetime) -> TokenRecord:
        return await revoke_token(tx, call.path_id("id", "token"), now)


class SettingPages(Struct, frozen=True):
    """The settings of this process."""

    desk: PageDesk
    parts: OfficeParts

    @page("/settings", "Settings", roles=ADMINISTRATORS)
    async def show_settings(self, call: Call) -> Response:
        without = {row["name"]: row["value"] for row in describe(Settings())}
        rows = describe(self.parts.settings)
        own = [row for row in rows if row["value"] != without[row["name"]]]
        defaults = [row for row in rows if row not in own]
        return self.desk.show(call, "access/settings.html", own=own, defaults=defaults, prefix=PREFIX)
