<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The configuration of one unit.
 */
final readonly class ConfigurationRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $adsl_username The broadband line's user name.
     * @param string $adsl_password The broadband line's password.
     * @param string|null $wifi_ssid The name of the wireless network.
     * @param string|null $wifi_password The wireless network's password.
     */
    public function __construct(
        public string $adsl_username,
        public string $adsl_password,
        public ?string $wifi_ssid = null,
        public ?string $wifi_password = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            adsl_username: $in->field('adsl_username')->string(),
            adsl_password: $in->field('adsl_password')->string(),
            wifi_ssid: $in->maybe('wifi_ssid')?->string(),
            wifi_password: $in->maybe('wifi_password')?->string(),
        );
    }
}
