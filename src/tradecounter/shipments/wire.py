"""The requests and responses of fulfilment, of customers' programs and of the warehouse."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.kit.wire import Moment, made_from
from tradecounter.orders.lines import NamedUnits

LONGEST_CREDENTIAL = 200
Credential = Annotated[str, Meta(min_length=1, max_length=LONGEST_CREDENTIAL)]


class ConfigurationRequest(Struct):
    """The configuration of one unit."""

    adsl_username: Annotated[Credential, Meta(description="The broadband line's user name.")]
    adsl_password: Annotated[Credential, Meta(description="The broadband line's password.")]
    wifi_ssid: Annotated[Credential | None, Meta(description="The name of the wireless network.")] = None
    wifi_password: Annotated[Credential | None, Meta(description="The wireless network's password.")] = None


class AddConfigurationsRequest(Struct):
    """Configurations to add to an item, one per unit."""

    configurations: Annotated[list[ConfigurationRequest], Meta(min_length=1, description="One per unit.")]


class OrderVideoResponse(Struct):
    """Where to watch an order's packing video."""

    video_file: Annotated[str, Meta(description="The URL of the video file.")]
    streaming_playlist: Annotated[str, Meta(description="The URL of the HLS playlist.")]


class SerialNumber(Struct):
    """A dispatched unit."""

    serial_number: str
    mac_address: str = ""
    provisioning_sku: str = ""


class DispatchedItem(NamedUnits):
    """Units of a line to dispatch."""

    serial_numbers: list[SerialNumber] = []  # noqa: RUF012 msgspec copies it


class Dispatch(Struct):
    """A shipment to record."""

    items: Annotated[
        list[DispatchedItem] | UnsetType, Meta(description="What leaves; without it, all that is allocated.")
    ] = UNSET
    tracking_number: Annotated[str | None, Meta(description="The courier's tracking number.")] = None
    carrier: Annotated[
        str | None, Meta(description="Who carries it; without it, the provider of the order's shipping method.")
    ] = None
    dispatched_at: Annotated[
        Moment | None,
        Meta(description="When it left, from the order's confirmation to now, with an offset or `Z`; without it, now."),
    ] = None


class Serial(Struct, frozen=True):
    """A unit's item and serial number; unknown values are empty. Errors name it by its `place` in the request."""

    item_id: int
    serial_number: str
    mac_address: str = ""
    provisioning_sku: str = ""
    place: str = "serial"


def serials_of(dispatch: Dispatch) -> Iterator[Serial]:
    """Yield the serial numbers in a request, with their items."""
    for number, item in enumerate(() if dispatch.items is UNSET else dispatch.items):
        for index, unit in enumerate(item.serial_numbers):
            place = f"items[{number}].serial_numbers[{index}]"
            yield made_from(unit, Serial, item_id=item.id, place=place)
