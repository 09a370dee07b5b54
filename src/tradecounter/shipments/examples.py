"""Examples of fulfilment's requests and responses, for the interface document."""

from tradecounter.shipments.wire import AddConfigurationsRequest, ConfigurationRequest, OrderVideoResponse

CONFIGURATIONS = AddConfigurationsRequest(
    [ConfigurationRequest("line1@isp.example", "correct-horse", wifi_ssid="Office", wifi_password="battery-staple")]
)
VIDEO = OrderVideoResponse("https://video.example/100042.mp4", "https://video.example/100042/index.m3u8")
CONFIGURABLE_ORDER = {  # of the demo's first customer
    "customer_reference": "PO-1002",
    "items": [{"sku": "HM310", "quantity": 1}],
    "billing_address": {"id": 5001},
    "shipping_address": {"id": 5001},
    "shipping_method": {"id": 101},
    "auto_confirm": True,
}
