"""Rules of the specification whose features are still being built, with the tests that will prove them.

As soon as those tests are there, a row belongs into the table; `tests/contract/test_sections.py` says so.
"""

AWAITED: dict[str, dict[str, list[str]]] = {
    "2 Order": {
        "configurations, serial numbers and tracking events, as dispatched": [
            "api/fulfilment/dispatch::a_whole_order_leaves_at_once",
            "api/fulfilment/dispatch::tracking_events_are_in_order_of_date_and_the_latest_is_the_status",
            "api/fulfilment/configurations::the_answer_is_the_item_with_all_its_configurations",
        ],
    },
    "2 OrderVideoResponse, Error, OAuthError": {
        "a video is two addresses": [
            "api/fulfilment/configurations::an_order_has_no_video_until_there_is_one_and_a_new_one_replaces_it"
        ],
        "an OAuth error is one of five words": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words",
        ],
    },
    "3 POST /quote": {
        "a ticket is raised, support sets the price, the customer is told": [
            "api/ordering/quotes_requested::support_is_told_of_a_quote_in_the_same_transaction",
            "api/ordering/quotes_priced::the_customer_is_told_of_each_price_in_the_same_transaction",
        ],
        "the code then confirms the order at the adjusted price": [
            "api/ordering/quotes_requested::a_priced_quote_becomes_an_order_at_its_price",
        ],
    },
    "4 POST /order/{reference}/item/{orderItemId}/configuration": {
        "attaches at least one configuration and no more than remain; 200 with the item": [
            "api/fulfilment/configurations::the_answer_is_the_item_with_all_its_configurations",
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured",
        ],
    },
    "4 GET /order/{reference}/video": {
        "its addresses, 404 without one": [
            "api/fulfilment/configurations::an_order_has_no_video_until_there_is_one_and_a_new_one_replaces_it"
        ],
    },
    "4 GET /order/{reference}/invoice": {
        "a PDF": ["api/billing/invoice::it_is_a_pdf_file_by_reference_and_by_id"],
        "412 before it is issued": ["api/billing/invoice::before_it_is_issued_the_answer_is_412"],
        "404 when unknown": ["api/billing/invoice::anothers_invoice_is_as_unknown_as_one_that_does_not_exist"],
    },
    "4 POST /order": {
        "Idempotency-Key, and Idempotent-Replay on a replay": [
            "api/ordering/idempotency::a_repetition_is_answered_to_the_byte_as_the_first_and_creates_nothing",
        ],
    },
    "4 POST /quote": {
        "priced without placing an order; 201": [
            "api/ordering/quotes_requested::a_quote_is_priced_like_an_order_and_is_none_yet",
            "api/ordering/quotes_requested::a_quote_takes_neither_stock_nor_credit_and_is_not_listed",
        ],
        "auto_confirm set is 400": ["api/ordering/quotes_requested::auto_confirm_must_not_be_set"],
        "its other errors": [
            "api/ordering/quotes_requested::what_is_wrong_with_an_order_is_wrong_with_a_quote",
            "api/ordering/quotes_requested::a_quote_needs_credit_like_an_order",
        ],
        "Idempotency-Key": ["api/ordering/idempotency::a_repeated_quote_asks_support_once"],
    },
    "4 POST /oauth/token": {
        "consent is exchanged for a bearer token of 64 characters, not to be stored": [
            "api/identity/token_exchange::consent_is_exchanged_for_a_token_that_works_like_the_customers_key",
            "api/identity/token_exchange::a_stock_oauth_client_obtains_a_token_and_uses_it",
        ],
        "every field by its rule, else 400": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words",
            "api/identity/token_exchange::the_resource_is_the_exact_base_address",
            "api/identity/token_exchange::what_is_not_said_to_be_a_form_is_an_invalid_request",
        ],
        "the subject token is the issuer's, or invalid_grant without detail": [
            "api/identity/subject_tokens::a_claim_that_is_wrong_or_missing_refuses_the_token",
            "api/identity/subject_tokens::an_unsigned_token_is_refused",
        ],
        "a client that is not authenticated is 401": [
            "api/identity/token_exchange::basic_credentials_that_are_wrong_or_cannot_be_read_are_401",
            "api/identity/token_exchange::missing_client_credentials_are_401",
        ],
        "503 without the issuer": [
            "api/identity/issuer_keys::an_issuer_that_cannot_be_used_is_a_503_and_over_by_itself"
        ],
    },
    "5 Authentication": {
        "a token gives the customer's own access, for a while, then 401": [
            "api/identity/bearer_tokens::a_token_stands_for_its_customer_alone",
            "api/identity/bearer_tokens::a_token_expires_to_the_second_also_when_it_is_remembered",
        ],
        "the subject token is no credential": ["api/identity/bearer_tokens::what_is_no_access_token_is_refused"],
        "the client authenticates by HTTP Basic or in the form": [
            "api/identity/token_exchange::credentials_may_be_in_the_form",
            "api/identity/token_exchange::http_basic_is_form_encoded_inside",
        ],
        "ten invalid credentials in a minute block the address for five": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403",
        ],
    },
    "6 Events": {
        "a priced quote is told to the customer": [
            "api/notifications/order_mails::a_priced_quote_is_told_to_its_contact_and_to_the_account",
        ],
        "orders' contacts are told": ["api/notifications/order_mails::a_confirmed_order_is_told_to_its_contact"],
        "the accounts address receives copies of invoices": [
            "api/notifications/order_mails::an_invoice_goes_to_the_contact_and_a_copy_to_the_accounts_address",
        ],
    },
    "7 Errors": {
        "the token endpoint has its own body": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words",
        ],
    },
    "7 400": {
        "auto_confirm on a quote": ["api/ordering/quotes_requested::auto_confirm_must_not_be_set"],
        "a key with another method, path or body": [
            "api/ordering/idempotency::another_body_with_the_same_key_is_refused",
            "api/ordering/idempotency::another_path_with_the_same_key_is_refused",
        ],
        "too many configurations": [
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured"
        ],
    },
    "7 401": {
        "an expired token": ["api/identity/bearer_tokens::a_token_expires_to_the_second_also_when_it_is_remembered"],
    },
    "7 403": {
        "the address is blocked": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403",
        ],
    },
    "7 409": {
        "the same request is still being processed": [
            "concurrency/idempotency_races::while_a_request_is_under_way_its_key_is_taken_on_every_server",
        ],
    },
    "7 412": {
        "an invoice before it is issued": ["api/billing/invoice::before_it_is_issued_the_answer_is_412"],
    },
    "7 429": {
        "the rate limit is exceeded": ["api/identity/rate_limit::one_request_too_many_is_429_in_the_general_body"],
    },
    "7 503": {
        "also when the database hangs": [
            "api/web/outages::a_database_that_hangs_is_a_503_in_seconds_and_over_when_it_goes_on",
        ],
    },
    "8 Idempotency key": {
        "255 characters at most": [
            "api/ordering/idempotency::the_longest_key_is_good",
            "api/ordering/idempotency::a_bad_key_is_refused_naming_the_header",
        ],
        "for the account and the identical method, path and body": [
            "api/ordering/idempotency::customers_may_use_the_same_key",
            "api/ordering/idempotency::another_path_with_the_same_key_is_refused",
            "unit/rest/idempotency_keys::method_and_path_are_part_of_the_fingerprint",
        ],
    },
    "8 Invalid-credential lockout": {
        "ten within 60 seconds, for five minutes, on all authenticated endpoints": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403",
            "api/identity/lockout::a_block_ends_after_five_minutes_to_the_second_and_is_not_prolonged",
            "api/identity/lockout::failures_older_than_a_minute_no_longer_count",
        ],
    },
    "8 Rate limit": {
        "429, wait five minutes; new orders and quotes are exempt": [
            "api/identity/rate_limit::one_request_too_many_is_429_in_the_general_body",
            "api/identity/rate_limit::a_window_is_five_minutes_by_the_clock",
            "api/identity/rate_limit::creating_orders_neither_counts_nor_is_refused",
        ],
    },
    "8 API key and bearer token length": {
        "64 characters of a token": [
            "api/identity/token_exchange::consent_is_exchanged_for_a_token_that_works_like_the_customers_key",
        ],
    },
    "8 Configurations": {
        "at least one, at most what remains": [
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured"
        ],
    },
    "8 Idempotency rules": {
        "the first response comes again to the byte, marked, and nothing is created": [
            "api/ordering/idempotency::a_repetition_is_answered_to_the_byte_as_the_first_and_creates_nothing",
            "concurrency/idempotency_races::of_forty_identical_creations_on_two_servers_one_creates",
        ],
        "a failed request leaves the key unused": ["api/ordering/idempotency_failures::a_wrong_request_does_not"],
    },
}
