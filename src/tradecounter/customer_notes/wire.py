"""What programs and forms of the back office send to store contacts and notes."""

from datetime import date
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customer_notes.queries import Contact
from tradecounter.kit.text import LONGEST_NAME
from tradecounter.kit.wire import made_from

LONGEST_NOTE = 2000
_Text = Annotated[str, Meta(max_length=LONGEST_NAME)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, description="The person's name.")]
Task = Annotated[_Text, Meta(description="What to speak to the person about.")]
Email = Annotated[_Text, Meta(description="An e-mail address.")]
Phone = Annotated[_Text, Meta(description="A phone number.")]


class ContactDetails(Struct, kw_only=True):
    """A person at a customer."""

    name: Name
    task: Task = ""
    email: Email = ""
    phone: Phone = ""

    def contact(self) -> Contact:
        """Return a contact, whose id does not count."""
        return made_from(self, Contact, id=0)


class ContactChange(Struct, kw_only=True):
    """What changes of a person; what is left out stays."""

    name: Name | UnsetType = UNSET
    task: Task | UnsetType = UNSET
    email: Email | UnsetType = UNSET
    phone: Phone | UnsetType = UNSET


class CustomerNote(Struct):
    """A note about a customer. With `promised_on`, the customer has promised to pay until that day."""

    text: Annotated[str, Meta(max_length=LONGEST_NOTE, description="May be empty with a promise.")] = ""
    promised_on: Annotated[
        date | None, Meta(description="The customer has promised to pay until this day: 2026-06-01.")
    ] = None
