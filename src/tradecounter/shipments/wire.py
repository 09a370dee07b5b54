"""The requests and responses of fulfilment (specification, sections 2 and 4)."""

from typing import Annotated

from msgspec import Meta, Struct

Credential = Annotated[str, Meta(min_length=1, max_length=200)]


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
