<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

use Tradecounter\Client\Error\ConsentEnded;
use Tradecounter\Client\Error\InvalidResponse;
use Tradecounter\Client\Json\Value;
use Tradecounter\Client\Model\AccessToken;
use Tradecounter\Client\Model\ConsentToken;
use Tradecounter\Client\Model\OAuthError;
use Tradecounter\Client\Reply;
use Tradecounter\Client\Transport;

/**
 * A customer's consent to an application, which its refresh token keeps alive for all processes.
 */
final class Consent implements Credentials
{
    private readonly string $basic;
    private ?Tokens $tokens = null;
    private ?Tokens $unsaved = null;
    private string $replaced = '';

    public function __construct(
        string $clientId,
        #[\SensitiveParameter] string $clientSecret,
        private readonly TokenStore $store,
    ) {
        $this->basic = 'Basic ' . base64_encode(urlencode($clientId) . ':' . urlencode($clientSecret));
    }

    public function headers(Transport $transport): array
    {
        if ($this->tokens === null || !$this->tokens->isFresh()) {
            $this->tokens = $this->store->alone(function () use ($transport): Tokens {
                $stored = $this->latest();
                return $stored->isFresh() ? $stored : $this->refreshed($stored, $transport);
            });
        }
        return ['Authorization' => "Bearer {$this->tokens->accessToken}"];
    }

    public function renew(): bool
    {
        $this->store->alone(function (): void {
            $stored = $this->store->load();
            if ($stored->accessToken === $this->tokens?->accessToken) { // else, another process has renewed it
                $this->store->save(new Tokens($stored->refreshToken));
            }
        });
        $this->tokens = null;
        return true;
    }

    /**
     * No dump shows the secret and the tokens.
     *
     * @return array<string, string>
     */
    public function __debugInfo(): array
    {
        return [];
    }

    /** The stored tokens, or those that replaced them and could not be stored. */
    private function latest(): Tokens
    {
        $stored = $this->store->load();
        return $this->unsaved !== null && $stored->refreshToken === $this->replaced ? $this->unsaved : $stored;
    }

    private function refreshed(Tokens $stored, Transport $transport): Tokens
    {
        $fields = ['grant_type' => 'refresh_token', 'refresh_token' => $stored->refreshToken];
        $consent = ConsentToken::of($this->post($transport, '/auth/token', $fields));
        [$this->replaced, $this->unsaved] = [$stored->refreshToken, new Tokens($consent->refresh_token)];
        $this->store->save($this->unsaved);
        $asked = time();
        $token = AccessToken::of($this->post($transport, '/oauth/token', [
            'grant_type' => 'urn:ietf:params:oauth:grant-type:token-exchange',
            'subject_token' => $consent->access_token,
            'subject_token_type' => 'urn:ietf:params:oauth:token-type:jwt',
        ]));
        $tokens = new Tokens($consent->refresh_token, $token->access_token, $asked + $token->expires_in);
        $this->store->save($tokens);
        return $tokens;
    }

    /**
     * Posts a form, again after a lost response: if the token was used up, the consent is lost either way.
     *
     * @param array<string, string> $fields
     */
    private function post(Transport $transport, string $path, #[\SensitiveParameter] array $fields): Value
    {
        $headers = ['Authorization' => $this->basic, 'Content-Type' => 'application/x-www-form-urlencoded'];
        $reply = $transport->send('POST', $path, $headers, http_build_query($fields, '', '&'));
        if (self::errorIn($reply) === 'invalid_grant') {
            throw new ConsentEnded($reply->body);
        }
        return Value::parsed($reply->checked()->body);
    }

    /** The error of OAuth, if there is one. */
    private static function errorIn(Reply $reply): string
    {
        try {
            return OAuthError::of(Value::parsed($reply->body))->error;
        } catch (InvalidResponse) {
            return '';
        }
    }
}
