"""The HTTP status of each kind of error."""

from tradecounter.kit.errors import Kind

STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.PAYMENT_REQUIRED: 402,
    Kind.BLOCKED: 403,
    Kind.FORBIDDEN: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.GONE: 410,
    Kind.PRECONDITION_FAILED: 412,
    Kind.TOO_LARGE: 413,
    Kind.QUERY_TOO_LONG: 414,
    Kind.UNSUPPORTED_MEDIA: 415,
    Kind.TOO_MANY_REQUESTS: 429,
    Kind.UNAVAILABLE: 503,
}
