<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The form of `POST /auth/token`.
 */
final readonly class ConsentRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $grant_type What you have: a code or a refresh token.
     * @param string|null $code The code; required with `authorization_code`.
     * @param string|null $redirect_uri The code's redirect URI; required with `authorization_code`.
     * @param string|null $code_verifier The secret whose hash is the code's challenge; required with `authorization_code`.
     * @param string|null $refresh_token The latest refresh token; required with `refresh_token`.
     * @param string|null $resource What the token is for, if sent: the base URL, or of agents the address of `/mcp`.
     * @param string|null $client_id Required unless the request uses HTTP Basic.
     * @param string|null $client_secret Required unless the request uses HTTP Basic.
     */
    public function __construct(
        public string $grant_type,
        public ?string $code = null,
        public ?string $redirect_uri = null,
        public ?string $code_verifier = null,
        public ?string $refresh_token = null,
        public ?string $resource = null,
        public ?string $client_id = null,
        public ?string $client_secret = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            grant_type: $in->field('grant_type')->string(),
            code: $in->maybe('code')?->string(),
            redirect_uri: $in->maybe('redirect_uri')?->string(),
            code_verifier: $in->maybe('code_verifier')?->string(),
            refresh_token: $in->maybe('refresh_token')?->string(),
            resource: $in->maybe('resource')?->string(),
            client_id: $in->maybe('client_id')?->string(),
            client_secret: $in->maybe('client_secret')?->string(),
        );
    }
}
