"""What jobs do and why they fail, in words."""

_NAMES = {
    "find_forgotten_password": "Look up a forgotten password",
    "invoice_dispatch": "Invoice a shipment",
    "mail_user_password": "E-mail: link to a new password",
    "mail_user_invited": "E-mail: invitation",
    "mail_user_browser": "E-mail: sign-in in a new browser",
    "mail_webhook_stopped": "E-mail: webhook stopped",
}
_REASONS = {
    "SMTPRecipientsRefused": "The mail server rejects the recipient's address: correct it, then run the job again.",
    "SMTPSenderRefused": "The mail server rejects the sender's address: see the setting MAIL_FROM.",
    "SMTPDataError": "The mail server rejects the contents of this e-mail.",
    "SMTPResponseException": "The mail server rejects this e-mail.",
    "SMTPAuthenticationError": "The mail server rejects the service's user or password: see the setting SMTP_URL.",
    "LookupError": "What it is about does not exist any more.",
}


def name_of(job: str) -> str:
    """Return what a job does: `mail_order_confirmed` is E-mail: order confirmed."""
    if job in _NAMES:
        return _NAMES[job]
    words = job.replace("_", " ")
    return f"E-mail: {words.removeprefix('mail ')}" if words.startswith("mail ") else words.capitalize()


def reason_of(error: str) -> str:
    """Return why a job failed; `error` is the type of the exception."""
    return _REASONS.get(error, f"Unexpected: {error}. The worker's log has the details.")
