"""`/account/developer/webhook`: the customer's webhooks."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import DEVELOPERS, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.rest.call import Call
from tradecounter.parts.account import AccountParts
from tradecounter.webhooks.queries.endpoints import endpoints_after
from tradecounter.webhooks.rules import MOST_ENDPOINTS
from tradecounter.webhooks.wire import webhook_on_the_wire


class OwnWebhookListPages(Struct, frozen=True):
    """The customer's webhooks, of which there are few."""

    desk: PageDesk
    parts: AccountParts

    @page(f"{DEVELOPER_HOME}/webhook", "Webhooks", user_roles=DEVELOPERS)
    async def list_webhooks(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            endpoints = await endpoints_after(tx, 0, MOST_ENDPOINTS, call.customer_id)
        return self.desk.show(call, "webhooks/webhooks.html", webhooks=list(map(webhook_on_the_wire, endpoints)))
