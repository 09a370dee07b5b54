"""`/account`: the customer's terms and credit, and the way to the other pages."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customers.queries.accounts import the_account
from tradecounter.pages.account.parts import AccountParts
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call


@dataclass(frozen=True, slots=True)
class HomePages:
    """The first page of the account."""

    desk: PageDesk
    parts: AccountParts

    @page("/account", "Your account")
    async def show_home(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            account = await the_account(tx, call.customer_id)
        return self.desk.show(call, "home/home.html", account=account)
