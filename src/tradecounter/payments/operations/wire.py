"""The requests of bank files in the back office."""

from typing import Annotated

from msgspec import Meta

from tradecounter.edge.operations.desk import ChangingParameters, DryRun
from tradecounter.payments.queries.bank_lines import State


class BankFileParameters(DryRun, frozen=True, kw_only=True):
    """The query parameters of `POST /api/payment/import`."""

    map: Annotated[
        tuple[str, ...],
        Meta(
            description="Headings of the file and their fields, such as `Their heading=amount`. The fields: `date`, "
            "`amount`, or `credit` and `debit`, and at least one of `reference`, `description`, `payer`; also "
            "`currency`.",
            examples=["Their heading=amount"],
        ),
    ] = ()


class BankLineParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/bank-line`."""

    state: Annotated[State | None, Meta(description="Only lines in this state.")] = None
    bank_file: Annotated[int, Meta(ge=1, description="Only lines of this bank file.")] | None = None
