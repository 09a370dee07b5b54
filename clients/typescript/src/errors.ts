/** Errors as classes: one for each `code` of the API, below the classes that most programs distinguish. */

import type { FieldError, Error as WireError } from "./schema.js";

/** Whatever goes wrong between a program and the service. */
export class TradecounterError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The service could not be reached, or its response was lost, in all attempts. */
export class NoResponse extends TradecounterError {}

/** A successful response is none of the API: another server is at this address. */
export class InvalidResponse extends TradecounterError {}

/** The consent is revoked, or its refresh token was used before: the customer's browser has to come again. */
export class ConsentEnded extends TradecounterError {}

/** A webhook's request is not from the service, or too old. */
export class NotGenuine extends TradecounterError {}

/** An error of the API. One whose code this release does not know has this class. */
export class ApiError extends TradecounterError {
  readonly code: string;
  readonly errors: FieldError[];

  constructor(
    readonly status: number,
    error: WireError,
    /** For support. */
    readonly requestId: string | null,
    /** Seconds. */
    readonly retryAfter: number | null,
  ) {
    super(error.message);
    this.code = error.code;
    this.errors = error.errors ?? [];
  }
}

/** The key, the token or the client secret is missing or wrong; the API says no more. */
export class Unauthorized extends ApiError {}

/** The credential may not do this, or not from this IP address. */
export class AccessDenied extends ApiError {}

/** The account is blocked, so it cannot order. */
export class AccountBlocked extends ApiError {}

/** The order was cancelled, or the quote declined. */
export class Cancelled extends ApiError {}

/** The request contradicts the present state, as the message says. */
export class Conflict extends ApiError {}

/** The available credit is too small. */
export class CreditExceeded extends ApiError {}

/** The cursor of the change feed is too old; `sync` begins again by itself. */
export class CursorExpired extends ApiError {}

/** Another order has the customer reference. */
export class DuplicateReference extends ApiError {}

/** The pending order or the quote has expired. */
export class Expired extends ApiError {}

/** The idempotency key belongs to another request. */
export class IdempotencyKeyReused extends ApiError {}

/** A request with the same idempotency key is still being processed. */
export class InProgress extends ApiError {}

/** The service has a fault: send the `requestId` to support. */
export class InternalError extends ApiError {}

/** The request, or one of its fields, is not valid. */
export class Invalid extends ApiError {}

/** Too many invalid credentials came from the IP address. */
export class IpAddressBlocked extends ApiError {}

/** The path has other methods. */
export class MethodNotAllowed extends ApiError {}

/** The key may not be used from this IP address. */
export class NetworkNotAllowed extends ApiError {}

/** The account has no credit terms, so it cannot order. */
export class NoCreditTerms extends ApiError {}

/** No shipping method takes the order to its address: ask for a quote. */
export class NoShippingMethod extends ApiError {}

/** It does not exist, or is another customer's. */
export class NotFound extends ApiError {}

/** The order is not invoiced yet. */
export class NotInvoiced extends ApiError {}

/** The quote is not priced yet. */
export class NotPriced extends ApiError {}

/** The order must not wait for stock, and not all is there. */
export class OutOfStock extends ApiError {}

/** The order costs more than it may; `errors` have today's `unit_cost`. */
export class PriceChanged extends ApiError {}

/** The account has sent too many requests. */
export class RateLimited extends ApiError {}

/** The credential lacks the scope that the message names. */
export class ScopeNeeded extends ApiError {}

/** The order has several shipping options: name one. */
export class ShippingMethodRequired extends ApiError {}

/** The body, the query or the headers are too long. */
export class TooLarge extends ApiError {}

/** The account has as many pending orders or unpriced quotes as it may. */
export class TooManyPending extends ApiError {}

/** The service or its database cannot be reached. */
export class Unavailable extends ApiError {}

/** No saved address has the id. */
export class UnknownAddress extends ApiError {}

/** The shipping method is none of the order's options. */
export class UnknownShippingMethod extends ApiError {}

/** An item's product does not exist, or has no price for the account. */
export class UnknownSku extends ApiError {}

/** The body is compressed or not JSON. */
export class UnsupportedMedia extends ApiError {}

const byCode: Record<string, typeof ApiError> = {
  unauthorized: Unauthorized,
  access_denied: AccessDenied,
  account_blocked: AccountBlocked,
  cancelled: Cancelled,
  conflict: Conflict,
  credit_exceeded: CreditExceeded,
  cursor_expired: CursorExpired,
  duplicate_reference: DuplicateReference,
  expired: Expired,
  idempotency_key_reused: IdempotencyKeyReused,
  in_progress: InProgress,
  internal_error: InternalError,
  invalid: Invalid,
  ip_address_blocked: IpAddressBlocked,
  method_not_allowed: MethodNotAllowed,
  network_not_allowed: NetworkNotAllowed,
  no_credit_terms: NoCreditTerms,
  no_shipping_method: NoShippingMethod,
  not_found: NotFound,
  not_invoiced: NotInvoiced,
  not_priced: NotPriced,
  out_of_stock: OutOfStock,
  price_changed: PriceChanged,
  rate_limited: RateLimited,
  scope_needed: ScopeNeeded,
  shipping_method_required: ShippingMethodRequired,
  too_large: TooLarge,
  too_many_pending: TooManyPending,
  unavailable: Unavailable,
  unknown_address: UnknownAddress,
  unknown_shipping_method: UnknownShippingMethod,
  unknown_sku: UnknownSku,
  unsupported_media: UnsupportedMedia,
};

/** The error that a response is; a proxy's page becomes one too. */
export function errorOf(status: number, text: string, requestId: string | null, retryAfter: number | null): ApiError {
  const error =
    status === 401
      ? { message: "the key, the token or the client secret is missing or wrong", code: "unauthorized" }
      : (parsed(text) ?? { message: text.slice(0, 200), code: "" });
  const kind = Object.hasOwn(byCode, error.code) ? byCode[error.code] : undefined;
  return new (kind ?? ApiError)(status, error as WireError, requestId, retryAfter);
}

function parsed(text: string): WireError | undefined {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && "code" in found && "message" in found) {
      return found as WireError;
    }
  } catch {
    // no JSON
  }
  return undefined;
}
