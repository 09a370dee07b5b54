<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Auth\Credentials;
use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;

/**
 * Requests with credentials, whose replies become models.
 *
 * @internal
 */
final class Connection
{
    private const UNAUTHORIZED = 401;

    public function __construct(private readonly Transport $transport, private readonly Credentials $credentials)
    {
    }

    /** A successful reply; throws ApiError and NoResponse. A rejected token is renewed once. */
    public function request(
        string $method,
        string $path,
        ?Model $body = null,
        string $accept = 'application/json',
        ?string $idempotencyKey = null,
        bool $repeatable = true,
        int $extraTime = 0,
    ): Reply {
        $sent = $body === null ? null : json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
        $headers = ['Accept' => $accept];
        if ($sent !== null) {
            $headers['Content-Type'] = 'application/json';
        }
        if ($idempotencyKey !== null) {
            $headers['Idempotency-Key'] = $idempotencyKey;
        }
        $attempt = fn (): Reply => $this->transport->send(
            $method,
            $path,
            $headers + $this->credentials->headers($this->transport),
            $sent,
            $repeatable,
            $extraTime,
        );
        $reply = $attempt();
        if ($reply->status === self::UNAUTHORIZED && $this->credentials->renew()) {
            $reply = $attempt();
        }
        return $reply->checked();
    }

    /**
     * What the service makes of a body.
     *
     * @template Made of Model
     * @param callable(Value): Made $make
     * @return Made
     */
    public function send(
        string $method,
        string $path,
        callable $make,
        Model $body,
        ?string $idempotencyKey = null,
        bool $repeatable = true,
    ): Model {
        $reply = $this->request($method, $path, $body, idempotencyKey: $idempotencyKey, repeatable: $repeatable);
        return $make(Value::parsed($reply->body));
    }

    /**
     * @template Made of Model
     * @param callable(Value): Made $make
     * @param array<string, string|int|bool|list<string>|null> $parameters
     * @return Made
     */
    public function get(string $path, callable $make, array $parameters = []): Model
    {
        return $make(Value::parsed($this->request('GET', $path . self::query($parameters))->body));
    }

    /**
     * A list and the reply that it came with.
     *
     * @template Made of Model
     * @param callable(Value): Made $make
     * @param array<string, string|int|bool|list<string>|null> $parameters
     * @return array{list<Made>, Reply}
     */
    public function list(string $path, callable $make, array $parameters = [], int $extraTime = 0): array
    {
        $reply = $this->request('GET', $path . self::query($parameters), extraTime: $extraTime);
        return [Value::parsed($reply->body)->list($make), $reply];
    }

    /**
     * The service splits lists at commas before it decodes their values.
     *
     * @param array<string, string|int|bool|list<string>|null> $parameters
     */
    private static function query(array $parameters): string
    {
        $parts = [];
        foreach ($parameters as $name => $value) {
            if ($value !== null && $value !== []) {
                $values = is_bool($value) ? [$value ? 'true' : 'false'] : (array) $value;
                $texts = array_map(static fn (string|int $each): string => rawurlencode((string) $each), $values);
                $parts[] = rawurlencode($name) . '=' . implode(',', $texts);
            }
        }
        return $parts === [] ? '' : '?' . implode('&', $parts);
    }
}
