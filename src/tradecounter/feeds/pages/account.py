"""`/account/developer/feed`: catalogue files at secret addresses, and how to use one in each program."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import DEVELOPERS, form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.feeds.manage import (
    NewAddress,
    add_feed,
    change_feed,
    feed_vault,
    remove_feed,
    renew_address,
    secret_of,
)
from tradecounter.feeds.pages.feed_uses import feed_address, feed_uses
from tradecounter.feeds.queries import FeedRecord, feeds_of, fetch_feed
from tradecounter.feeds.render import COLUMNS, columns_text, markup_of
from tradecounter.feeds.wire import FeedTerms, filter_from
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import Vault
from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import from_pence
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.find_in_view import FoundProducts, find_products
from tradecounter.storefront.view import CustomerView

_LIST = f"{DEVELOPER_HOME}/feed"
_ONE = f"{_LIST}/{{id}}"
_ID = (Parameter("id", "The feed's id.", ID, 3),)
_PREVIEWED = 5  # products

_STARTS = {
    "spreadsheet": ("sku", "name", "manufacturer", "ean", "price", "single_unit_cost", "availability.available",
                    "availability.status"),
    "woocommerce": ("sku = SKU", "name = Name", "ean = GTIN, UPC, EAN, or ISBN", "manufacturer = Brands",
                    "short_description = Short description", "description_html = Description",
                    "price = Regular price", "availability.available = Stock", "weight_kg = Weight (kg)",
                    "image_url = Images"),
}  # fmt: skip
ROUNDINGS = (
    ("penny", "To the penny: 12.34"),
    ("five_pence", "To 5 pence: 12.35"),
    ("ten_pence", "To 10 pence: 12.30"),
    ("pound", "To a pound: 12.00"),
    ("ninety_nine", "Up to 99 pence: 12.99"),
)
SORTS = (("sku", "SKU"), ("name", "Name"), ("price", "Price, lowest first"), ("availability", "Stock, most first"))


class NewFeedParameters(Struct, frozen=True):
    """What a new feed is for, which decides the columns that are suggested."""

    use: Annotated[Literal["spreadsheet", "woocommerce"], Meta(description="What it is for.")] = "spreadsheet"


class FeedPages(Struct, frozen=True):
    """The customer's feeds."""

    desk: PageDesk
    parts: AccountParts

    @property
    def vault(self) -> Vault:
        """The vault with the secrets in feeds' addresses."""
        return feed_vault(lambda: secret_keys(self.parts.settings))

    @page(_LIST, "Feeds", user_roles=DEVELOPERS)
    async def list_feeds(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            feeds = await feeds_of(tx, call.customer_id)
        view = await self.parts.views.last(call.customer_id)
        counted = [(feed, None if (rows := _rows(view, feed)) is None else len(rows)) for feed in feeds]
        return self.desk.show(call, "feeds/feeds.html", feeds=counted)

    @page(f"{_LIST}/new", "New feed", user_roles=DEVELOPERS, query=NewFeedParameters)
    async def show_new(self, call: Call) -> Response:
        return await self._form(call, Filled(), use=call.query(NewFeedParameters).use)

    @form(f"{_LIST}/new", "New feed", user_roles=DEVELOPERS)
    async def make(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)

        async def work(tx: Transaction, body: FeedTerms, now: datetime) -> NewAddress:
            return await add_feed(tx, self.vault, call.customer_id, body, view, now)

        return await self.desk.change(
            call,
            FeedTerms,
            work,
            again=lambda filled: self._form(call, filled),
            to=lambda made: f"{_LIST}/{made.id}/address",
            done="The feed is made. This is its address.",
        )

    async def _feed(self, call: Call) -> FeedRecord:
        async with self.desk.reading() as tx:
            return await fetch_feed(tx, call.customer_id, _feed_id(call))

    @page(_ONE, "One feed", user_roles=DEVELOPERS, path_parameters=_ID)
    async def show_feed(self, call: Call) -> Response:
        feed, view = await self._feed(call), await self.parts.views.last(call.customer_id)
        rows = _rows(view, feed)
        return self.desk.show(
            call,
            "feeds/feed.html",
            feed=feed,
            filter=_filter_in_words(feed),
            rounding=dict(ROUNDINGS)[feed.rounding].partition(":")[0],
            columns=columns_text(feed.columns),
            is_valid=rows is not None,
            products=0 if rows is None else len(rows),
            priced=[] if rows is None else _priced(view, feed, rows[:_PREVIEWED].tolist(), self.parts),
        )

    async def _edit(self, call: Call, filled: Filled) -> Response:
        return await self._form(call, filled, await self._feed(call))

    @step(
        f"{_ONE}/edit",
        "Change a feed",
        shown=_edit,
        before=lambda self, call, _body, _key: self.parts.views.of(call.customer_id),
        to=_ONE,
        done="The feed is changed.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def edit(self, tx: Transaction, call: Call, body: FeedTerms, prepared: CustomerView, now: datetime) -> None:
        await change_feed(tx, call.customer_id, _feed_id(call), body, prepared, now)

    @page(f"{_ONE}/address", "A feed's address", user_roles=DEVELOPERS, path_parameters=_ID, dangerous=True)
    async def show_address(self, call: Call) -> Response:
        feed = await self._feed(call)
        secret = secret_of(self.vault, feed)
        address = None if secret is None else feed_address(call.base_url, secret)
        uses = [] if address is None else feed_uses(address, feed.columns)
        return self.desk.show(call, "feeds/feed_address.html", feed=feed, address=address, uses=uses)

    async def _ask_for_new_address(self, tx: Transaction, call: Call) -> Question:
        text = "Spreadsheets and shops that read the present address get nothing more. Give them the new one."
        return await _question(tx, call, "A new address for", text, "Make a new address")

    @step(
        f"{_ONE}/new-address",
        "A new address",
        asks=_ask_for_new_address,
        to=f"{_LIST}/{{id}}/address",
        done="The feed has a new address. The old one has ended.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def renew(self, tx: Transaction, call: Call, now: datetime) -> NewAddress:
        return await renew_address(tx, self.vault, call.customer_id, _feed_id(call), now)

    async def _ask_to_delete(self, tx: Transaction, call: Call) -> Question:
        text = "Spreadsheets and shops that read it get nothing more."
        return await _question(tx, call, "Delete", text, "Delete it")

    @step(
        f"{_ONE}/delete",
        "Delete a feed",
        asks=_ask_to_delete,
        to=_LIST,
        done="The feed is deleted. Its address has ended.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_feed(tx, call.customer_id, _feed_id(call), now)

    async def _form(
        self, call: Call, filled: Filled, feed: FeedRecord | None = None, use: str = "spreadsheet"
    ) -> Response:
        snapshot = (await self.parts.views.last(call.customer_id)).snapshot
        return self.desk.show(
            call,
            "feeds/feed_form.html",
            form=filled,
            feed=feed,
            use=use,
            chosen=_chosen(feed, use),
            all_columns=COLUMNS,
            roundings=ROUNDINGS,
            sorts=SORTS,
            vat_rate=self.parts.settings.vat_rate,
            manufacturers=snapshot.manufacturer_list,
            categories=snapshot.category_tree,
        )


async def _question(tx: Transaction, call: Call, what: str, text: str, button: str) -> Question:
    feed = await fetch_feed(tx, call.customer_id, _feed_id(call))
    back = f"{_LIST}/{feed.id}"
    return Question(title=f"{what} {feed.name}", text=text, button=button, back=back, back_name=feed.name, danger=True)


def _feed_id(call: Call) -> int:
    return call.path_id("id", "feed")


def _chosen(feed: FeedRecord | None, use: str) -> Mapping[str, Any]:
    """Return the values that a form begins with."""
    nothing = dict.fromkeys(FeedTerms.__struct_fields__, "")
    if feed is None:
        return {**nothing, "columns": "\n".join(_STARTS[use]), "markup": "0", "rounding": "penny"}
    return {
        **nothing,
        **feed.filter,
        "name": feed.name,
        "columns": columns_text(feed.columns),
        "markup": f"{feed.markup.normalize():f}",
        "rounding": feed.rounding,
        "vat_included": feed.vat_included,
    }


def _rows(view: CustomerView, feed: FeedRecord) -> FoundProducts | None:
    """Return the rows of a feed; None if its filter is not valid any more, because an attribute is gone."""
    try:
        return find_products(view, filter_from(feed.filter).parameters)
    except DomainError:
        return None


def _filter_in_words(feed: FeedRecord) -> list[tuple[str, str]]:
    """Return the filter as pairs of a term and its value."""
    feed_filter, sorts = filter_from(feed.filter), dict(SORTS)
    return [
        ("Manufacturers", feed_filter.manufacturer or ""),
        ("Categories", feed_filter.category or ""),
        ("Words", feed_filter.query or ""),
        ("Attributes", feed_filter.attribute or ""),
        ("Reduced", {"true": "Only these", "false": "Without these", None: ""}[feed_filter.reduced]),
        ("In stock", "Only these" if feed_filter.in_stock == "true" else ""),
        ("Sorted by", sorts[feed_filter.sort] if feed_filter.sort else ""),
    ]


def _priced(
    view: CustomerView, feed: FeedRecord, rows: Sequence[int], parts: AccountParts
) -> list[tuple[str, str, Decimal, Decimal]]:
    """Return some products with what the customer pays for one unit and the price in the feed."""
    markup = markup_of(feed, parts.settings.vat_rate)
    priced = []
    for row in rows:
        product, costs = view.product(row), view.unit_costs(row)
        if costs is not None:
            cost = from_pence(costs[0])
            priced.append((product.sku, product.name, cost, markup.price(cost)))
    return priced
