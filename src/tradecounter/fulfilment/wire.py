"""What only fulfilment's endpoints take and answer (specification, sections 2 and 4)."""

from typing import Annotated

from msgspec import Meta, Struct

Credential = Annotated[str, Meta(min_length=1, max_length=200)]


class NewConfiguration(Struct):
    """How one unit is to be set up."""

    adsl_username: Credential
    adsl_password: Credential
    wifi_ssid: Credential | None = None
    wifi_password: Credential | None = None


class AddConfigurationsRequest(Struct):
    """Configurations to attach to an item, one for each unit."""

    configurations: Annotated[list[NewConfiguration], Meta(min_length=1)]


class OrderVideoResponse(Struct):
    """Where an order's packing video can be watched."""

    video_file: Annotated[str, Meta(description="The address of the video file.")]
    streaming_playlist: Annotated[str, Meta(description="The address of the HLS playlist.")]
