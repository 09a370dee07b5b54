<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The configuration of a broadband router. Without the key to decrypt it, only the product is present.
 */
final readonly class ProvisioningData extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $product The SKU of the configured product.
     * @param string|null $adsl_username The broadband line's user name.
     * @param string|null $adsl_password The broadband line's password.
     * @param string|null $wifi_ssid The name of the wireless network.
     * @param string|null $wifi_password The wireless network's password.
     */
    public function __construct(
        public string $product,
        public ?string $adsl_username = null,
        public ?string $adsl_password = null,
        public ?string $wifi_ssid = null,
        public ?string $wifi_password = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            product: $in->field('product')->string(),
            adsl_username: $in->maybe('adsl_username')?->string(),
            adsl_password: $in->maybe('adsl_password')?->string(),
            wifi_ssid: $in->maybe('wifi_ssid')?->string(),
            wifi_password: $in->maybe('wifi_password')?->string(),
        );
    }
}
