"""What a customer's developers have: a feed, and an application with access."""

from support.service import Service
from tradecounter.db.transaction import Transaction
from tradecounter.feeds.manage import add_feed, feed_vault
from tradecounter.feeds.wire import FeedTerms
from tradecounter.identity.oauth.manage_applications import register_application
from tradecounter.identity.oauth.queries.access_tokens import issue_token


def add_developers_things(service: Service, customer_id: int, name: str) -> int:
    """Give a customer a feed and an application with a token; the feed's id."""
    service.refresh()
    now, vault = service.clock.now(), feed_vault(lambda: [service.settings.secret_key or ""])
    view = service.application.storefront.last_view(customer_id)
    assert view is not None
    terms = FeedTerms(name=name, columns=f"sku\nname = {name}\nprice", query="m")

    async def add(tx: Transaction) -> int:
        application = await register_application(tx, name, now)
        await issue_token(tx, application.client_id, customer_id, now, service.settings.access_token_lifetime)
        return (await add_feed(tx, vault, customer_id, terms, view, now)).id

    return service.in_transaction(add)
