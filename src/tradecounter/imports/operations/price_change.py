"""`/api/price-change`: prices of a list that change by a rule."""

from datetime import datetime

from msgspec import Struct

from tradecounter.bulk.importing import ImportOptions
from tradecounter.db.fair_shares import IMPORTS, act_for
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, DryRun
from tradecounter.edge.operations.subject import Subject
from tradecounter.edge.rest.call import Call
from tradecounter.imports.change_prices import ForcedPriceChange, change_prices
from tradecounter.imports.operations import examples
from tradecounter.imports.operations.wire import Report, present_report
from tradecounter.imports.roles import IMPORTERS
from tradecounter.products.find_products import Catalogue

_PRICES = Subject(tag="Imports", read="prices:read", write="prices:write", described=examples.OF_RULES)


class PriceChangeOperations(Struct, frozen=True):
    """The endpoint of rules for prices."""

    desk: Desk
    catalogue: Catalogue

    @_PRICES.changes("POST", "/api/price-change", dry_run=True, roles=IMPORTERS)
    async def change_prices(self, tx: Transaction, now: datetime, call: Call, body: ForcedPriceChange) -> Report:
        """Change prices by a rule.

        Raises or lowers the prices of a list by per cent or by pounds, or sets their margin above `purchase_cost`; all
        products, or those that match. It is an import of the kind `price-list`: it has the same guards, is in the
        history and can be rolled back. A dry run has the first 1,000 changes in `diff`.
        """
        act_for(IMPORTS)
        wanted = call.query(DryRun).is_wanted
        options = ImportOptions(dry_run=wanted, diff=wanted, force=body.force, forced_by="force: true", rule=str(body))
        return present_report(await change_prices(tx, body, self.catalogue, options, now))
