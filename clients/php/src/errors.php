<?php

declare(strict_types=1);

namespace Tradecounter\Client\Error;

use Tradecounter\Client\Json\Value;
use Tradecounter\Client\Model\Error;
use Tradecounter\Client\Model\FieldError;

// Errors as classes: one for each `code` of the API, below the classes that most programs distinguish.

/** Whatever goes wrong between a program and the service. */
class TradecounterError extends \RuntimeException
{
    public function __construct(string $message, ?\Throwable $previous = null)
    {
        parent::__construct($message, previous: $previous);
    }
}

/** The service could not be reached, or its response was lost, in all attempts. */
final class NoResponse extends TradecounterError
{
}

/** A successful response does not come from the API: another server is at this address. */
final class InvalidResponse extends TradecounterError
{
}

/** The consent is revoked, or its refresh token was used before: the customer's browser has to come again. */
final class ConsentEnded extends TradecounterError
{
}

/** A webhook's request is not from the service, or too old. */
final class NotGenuine extends TradecounterError
{
}

/** An error of the API. Codes that this release does not know have this class. */
class ApiError extends TradecounterError
{
    private const UNAUTHORIZED = 401;
    private const BY_CODE = [
        'unauthorized' => Unauthorized::class,
        'access_denied' => AccessDenied::class,
        'account_blocked' => AccountBlocked::class,
        'cancelled' => Cancelled::class,
        'conflict' => Conflict::class,
        'credit_exceeded' => CreditExceeded::class,
        'cursor_expired' => CursorExpired::class,
        'duplicate_reference' => DuplicateReference::class,
        'expired' => Expired::class,
        'idempotency_key_reused' => IdempotencyKeyReused::class,
        'in_progress' => InProgress::class,
        'internal_error' => InternalError::class,
        'invalid' => Invalid::class,
        'ip_address_blocked' => IpAddressBlocked::class,
        'method_not_allowed' => MethodNotAllowed::class,
        'network_not_allowed' => NetworkNotAllowed::class,
        'no_credit_terms' => NoCreditTerms::class,
        'no_shipping_method' => NoShippingMethod::class,
        'not_found' => NotFound::class,
        'not_invoiced' => NotInvoiced::class,
        'not_priced' => NotPriced::class,
        'out_of_stock' => OutOfStock::class,
        'price_changed' => PriceChanged::class,
        'rate_limited' => RateLimited::class,
        'scope_needed' => ScopeNeeded::class,
        'shipping_method_required' => ShippingMethodRequired::class,
        'too_large' => TooLarge::class,
        'too_many_pending' => TooManyPending::class,
        'unavailable' => Unavailable::class,
        'unknown_address' => UnknownAddress::class,
        'unknown_shipping_method' => UnknownShippingMethod::class,
        'unknown_sku' => UnknownSku::class,
        'unsupported_media' => UnsupportedMedia::class,
    ];

    /** What the service says is wrong. */
    public readonly string $description;

    /** The API's code; empty where a proxy responded. */
    public readonly string $errorCode;

    /** What is wrong with the request's fields. @var list<FieldError> */
    public readonly array $errors;

    /**
     * @param ?string $requestId for support
     * @param ?int $retryAfter seconds
     */
    final private function __construct(
        public readonly int $status,
        Error $error,
        public readonly ?string $requestId,
        public readonly ?int $retryAfter,
    ) {
        parent::__construct("$status {$error->code}: {$error->message}");
        $this->description = $error->message;
        $this->errorCode = $error->code;
        $this->errors = $error->errors ?? [];
    }

    /** The error in a response; the error page of a proxy becomes one too. */
    public static function of(int $status, string $body, ?string $requestId, ?int $retryAfter): self
    {
        if ($status === self::UNAUTHORIZED) {
            $message = 'the key, the token or the client secret is missing or wrong';
            $error = new Error(message: $message, code: 'unauthorized');
        } else {
            try {
                $error = Error::of(Value::parsed($body));
            } catch (InvalidResponse) {
                $error = new Error(message: substr($body, 0, 200), code: '');
            }
        }
        $class = self::BY_CODE[$error->code] ?? self::class;
        return new $class($status, $error, $requestId, $retryAfter);
    }
}

/** The key, the token or the client secret is missing or wrong; the API says no more. */
final class Unauthorized extends ApiError
{
}

/** The credential may not do this, or not from this IP address. */
final class AccessDenied extends ApiError
{
}

/** The account is blocked, so it cannot order. */
final class AccountBlocked extends ApiError
{
}

/** The order was cancelled, or the quote declined. */
final class Cancelled extends ApiError
{
}

/** The request contradicts the present state, as the message says. */
final class Conflict extends ApiError
{
}

/** The available credit is too small. */
final class CreditExceeded extends ApiError
{
}

/** The cursor of the change feed is too old; `Tradecounter::sync` begins again by itself. */
final class CursorExpired extends ApiError
{
}

/** Another order has the customer reference. */
final class DuplicateReference extends ApiError
{
}

/** The pending order or the quote has expired. */
final class Expired extends ApiError
{
}

/** The idempotency key belongs to another request. */
final class IdempotencyKeyReused extends ApiError
{
}

/** A request with the same idempotency key is still being processed. */
final class InProgress extends ApiError
{
}

/** The service has a fault: send the `requestId` to support. */
final class InternalError extends ApiError
{
}

/** The request, or one of its fields, is not valid. */
final class Invalid extends ApiError
{
}

/** Too many invalid credentials came from the IP address. */
final class IpAddressBlocked extends ApiError
{
}

/** The path has other methods. */
final class MethodNotAllowed extends ApiError
{
}

/** The key may not be used from this IP address. */
final class NetworkNotAllowed extends ApiError
{
}

/** The account has no credit terms, so it cannot order. */
final class NoCreditTerms extends ApiError
{
}

/** No shipping method takes the order to its address: ask for a quote. */
final class NoShippingMethod extends ApiError
{
}

/** It does not exist, or is another customer's. */
final class NotFound extends ApiError
{
}

/** The order is not invoiced yet. */
final class NotInvoiced extends ApiError
{
}

/** The quote is not priced yet. */
final class NotPriced extends ApiError
{
}

/** The order must not wait for stock, and not all is there. */
final class OutOfStock extends ApiError
{
}

/** The order costs more than it may; `errors` have today's `unit_cost`. */
final class PriceChanged extends ApiError
{
}

/** The account has sent too many requests. */
final class RateLimited extends ApiError
{
}

/** The credential lacks the scope that the message names. */
final class ScopeNeeded extends ApiError
{
}

/** The order has several shipping options: name one. */
final class ShippingMethodRequired extends ApiError
{
}

/** The body, the query or the headers are too long. */
final class TooLarge extends ApiError
{
}

/** The account has as many pending orders or unpriced quotes as it may. */
final class TooManyPending extends ApiError
{
}

/** The service or its database cannot be reached. */
final class Unavailable extends ApiError
{
}

/** No saved address has the id. */
final class UnknownAddress extends ApiError
{
}

/** The shipping method is none of the order's options. */
final class UnknownShippingMethod extends ApiError
{
}

/** An item's product does not exist, or has no price for the account. */
final class UnknownSku extends ApiError
{
}

/** The body is compressed or not JSON. */
final class UnsupportedMedia extends ApiError
{
}
