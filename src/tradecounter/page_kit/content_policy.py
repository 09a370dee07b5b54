"""The content policy of HTML pages: everything from the service itself, no inline script, no inline style."""

# `form-action 'none'`: forms are sent by scripts only, so that a key in a form never becomes part of an address.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
