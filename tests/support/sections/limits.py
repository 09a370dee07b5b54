"""Sections 5 to 9 of the specification: authentication, events, errors, limits, versioning."""

LIMITS: dict[str, dict[str, list[str]]] = {
    "5 Authentication": {
        "every endpoint but the public ones needs a credential": [
            "contract/routes::every_route_but_the_public_ones_needs_a_credential",
            "contract/openapi::security_requirements_name_schemes_that_exist",
            "contract/routes::the_interface_document_knows_the_same_routes_and_which_are_public",
        ],
        "a key in the header, or in the query; it says who the customer is": [
            "api/identity/credentials::a_key_in_the_header_is_accepted",
            "api/identity/credentials::a_key_in_the_query_is_accepted",
            "api/identity/credentials::the_header_beats_the_query",
        ],
        "a disabled key stops working": [
            "api/identity/key_lifecycle::a_disabled_key_stops_working_and_the_customers_others_go_on"
        ],
        "a bearer token counts alone": [
            "api/identity/credentials::a_bearer_token_counts_alone_whatever_key_comes_with_it",
            "api/identity/credentials::an_empty_bearer_token_does_not_fall_back_to_the_key",
        ],
        "missing or invalid is 401 with an empty JSON body": [
            "contract/errors::a_refused_credential_is_the_one_exception",
            "api/identity/credentials::no_credential_is_told_apart_from_a_bad_one_only_by_the_challenge",
        ],
        "with the backend away, 503": [
            "api/web/faults::an_absent_database_is_a_503_until_it_is_back",
            "api/identity/lockout::a_wrong_credential_that_cannot_be_counted_is_a_503",
        ],
        "a customer sees its own prices and orders only": [
            "api/identity/isolation_properties::every_customer_sees_its_own_prices_orders_and_addresses_only",
            "api/identity/isolation::lists_hold_only_the_customers_own",
            "api/web/shared_responses::no_response_holds_anything_of_another_request",
            "api/identity/isolation::reading_a_foreign_order_answers_as_for_an_unknown_one",
        ],
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
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403"
        ],
    },
    "6 Events": {
        "orders carry the contacts for notifications": [
            "api/ordering/create_order::a_created_order_carries_every_field_of_the_response"
        ],
        "a priced quote is told to the customer": [
            "api/notifications/order_mails::a_priced_quote_is_told_to_its_contact_and_to_the_account"
        ],
        "orders' contacts are told": ["api/notifications/order_mails::a_confirmed_order_is_told_to_its_contact"],
        "the accounts address receives copies of invoices": [
            "api/notifications/order_mails::an_invoice_goes_to_the_contact_and_a_copy_to_the_accounts_address"
        ],
    },
    "7 Errors": {
        "the status is set, the body is a message that says why": [
            "contract/errors::an_error_has_the_general_body_and_is_announced",
            "contract/errors::addresses_and_methods_that_there_are_not_have_the_general_body",
            "contract/checked_responses::what_it_does_not_announce_fails",
        ],
        "every kind of refusal has its status": ["unit/web/error_table::every_kind_of_refusal_has_a_status_of_its_own"],
        "the token endpoint has its own body": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words"
        ],
    },
    "7 400": {
        "invalid data on creation": [
            "api/ordering/refused_orders::a_fault_is_refused_by_the_name_of_its_field",
            "api/web/bad_bodies::what_is_no_clean_json_is_refused_everywhere",
            "api/web/bad_fields::a_wrong_value_in_an_address_is_refused_by_its_name",
        ],
        "a sort that is not one": ["api/catalogue/product_bad_parameters::a_bad_value_is_refused_and_named"],
        "an invalid shipping method": [
            "api/ordering/confirm_order::an_invalid_method_is_refused_and_the_order_stays_pending"
        ],
        "auto_confirm on a quote": ["api/ordering/quotes_requested::auto_confirm_must_not_be_set"],
        "a key with another method, path or body": [
            "api/ordering/idempotency::another_body_with_the_same_key_is_refused",
            "api/ordering/idempotency::another_path_with_the_same_key_is_refused",
        ],
        "an item that cannot be configured, or too many configurations": [
            "api/fulfilment/configurations::an_item_that_is_not_configurable_is_refused",
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured",
        ],
    },
    "7 401": {
        "missing or invalid key or token": [
            "api/identity/credentials::a_key_that_is_not_exactly_right_is_refused",
            "unit/web/error_table::a_refused_credential_is_an_empty_object_and_a_challenge",
        ],
        "an expired token": ["api/identity/bearer_tokens::a_token_expires_to_the_second_also_when_it_is_remembered"],
    },
    "7 402": {
        "no credit terms, or not enough credit": [
            "api/ordering/order_credit::an_account_without_credit_terms_cannot_order",
            "api/ordering/order_credit::credit_is_checked_again_at_confirmation",
            "concurrency/credit_limit::of_fifty_confirmations_at_once_exactly_those_succeed_that_the_limit_allows",
        ],
    },
    "7 403": {
        "the address is blocked": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403"
        ],
    },
    "7 404": {
        "unknown address": ["api/web/order_of_checks::an_unknown_address_is_404_for_everybody"],
        "unknown reference, SKU, address id or code": [
            "api/ordering/read_order::an_unknown_reference_is_not_found",
            "api/catalogue/product_by_sku::inactive_unpriced_and_unknown_products_get_the_same_answer",
            "api/customers/address_book::a_path_that_names_no_address_is_404",
            "api/ordering/confirm_order::an_unknown_code_is_not_found",
        ],
    },
    "7 409": {
        "data would be there twice": [
            "api/ordering/unique_references::the_reference_of_a_confirmed_order_is_refused_naming_that_order",
            "api/ordering/unique_references::case_and_space_around_do_not_make_another_reference",
            "concurrency/the_same_order::of_twenty_pending_orders_with_one_unique_reference_one_is_held",
        ],
        "the same request is still being processed": [
            "concurrency/idempotency_races::while_a_request_is_under_way_its_key_is_taken_on_every_server"
        ],
        "as many pending orders, or unpriced quotes, as an account may have": [
            "api/ordering/most_pending::one_pending_order_too_many_is_refused_and_writes_nothing",
            "api/ordering/most_pending::one_unpriced_quote_too_many_is_refused_until_support_has_priced_one",
            "concurrency/caps::of_many_at_once_as_many_are_created_as_there_is_room_for",
        ],
    },
    "7 410": {
        "the pending order has expired": [
            "api/ordering/confirm_order::an_expired_order_is_gone_before_anything_else_is_wrong_with_it"
        ],
    },
    "7 412": {
        "no shipping method and no default": [
            "api/ordering/auto_confirm::without_a_method_and_a_usable_default_412_and_nothing_is_created",
            "api/ordering/confirm_order::without_a_method_and_a_default_nothing_can_be_confirmed",
        ],
        "a quote before it is priced": [
            "api/ordering/quotes_requested::a_quote_that_is_not_priced_yet_cannot_be_confirmed"
        ],
        "an invoice before it is issued": ["api/billing/invoice::before_it_is_issued_the_answer_is_412"],
    },
    "7 429": {
        "the rate limit is exceeded": [
            "api/identity/rate_limit::one_request_too_many_is_429_and_says_when_the_window_ends",
            "api/identity/rate_limit::a_client_that_waits_as_retry_after_says_is_served_again",
        ],
    },
    "7 500": {
        "an unexpected error": ["api/web/faults::a_fault_of_ours_is_a_500_that_names_the_request_and_nothing_else"],
    },
    "7 503": {
        "temporarily unavailable": [
            "api/web/faults::an_absent_database_is_a_503_until_it_is_back",
            "unit/web/error_table::a_database_that_is_away_is_a_503_that_says_when_to_come_back",
        ],
        "also when the database hangs": [
            "api/web/outages::a_database_that_hangs_is_a_503_in_seconds_and_over_when_it_goes_on"
        ],
        "also when prices and stock could not be confirmed for too long": [
            "api/catalogue/stale_data::unconfirmed_data_is_refused_also_from_memory_until_it_is_confirmed"
        ],
    },
    "7 504": {
        "no request waits for a third party but the issuer, whose absence is 503": [
            "contract/sections::no_operation_waits_for_a_third_party"
        ],
    },
    "8 Page size": {
        "500 at most, 100 by default, 0 is all": [
            "api/catalogue/product_bad_parameters::a_bad_value_is_refused_and_named",
            "api/ordering/list_orders::a_page_limit_or_format_that_cannot_be_is_refused",
            "api/catalogue/product_paging::json_without_page_and_limit_is_the_first_hundred",
            "api/ordering/list_orders::a_limit_of_0_returns_the_whole_history",
        ],
    },
    "8 Unpaginated CSV catalogue": {
        "whole without limit and page": [
            "api/catalogue/product_paging::csv_without_page_and_limit_is_the_whole_catalogue"
        ],
    },
    "8 Price and stock cache": {
        "changes show once the server has noticed, which is within five minutes": [
            "api/catalogue/product_prices::imported_prices_show_as_soon_as_the_server_notices",
            "api/catalogue/product_stock::imported_stock_shows_once_the_server_has_noticed",
            "unit/settings::a_bad_value_is_refused_and_its_variable_named",
        ],
        "what could not be confirmed for so long is not shown": [
            "api/catalogue/stale_data::unconfirmed_data_is_refused_also_from_memory_until_it_is_confirmed"
        ],
    },
    "8 Pending order lifetime": {
        "24 hours": ["api/ordering/confirm_order::a_pending_order_can_be_confirmed_for_exactly_24_hours"],
    },
    "8 Idempotency key": {
        "255 characters at most": [
            "api/ordering/idempotency::the_longest_key_is_good",
            "api/ordering/idempotency::a_bad_key_is_refused_naming_the_header",
        ],
        "remembered permanently": ["api/ordering/idempotency::a_key_is_remembered_for_good"],
        "for the account and the identical method, path and body": [
            "api/ordering/idempotency::customers_may_use_the_same_key",
            "api/ordering/idempotency::another_path_with_the_same_key_is_refused",
            "unit/rest/idempotency_keys::method_and_path_are_part_of_the_fingerprint",
        ],
    },
    "8 Invalid-credential lockout": {
        "ten within 60 seconds, for five minutes, on all authenticated endpoints": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403",
            "api/identity/lockout::a_credential_that_is_presented_and_wrong_counts",
            "api/identity/lockout::another_process_counts_on_and_learns_of_the_block_when_it_looks",
            "api/identity/lockout::a_block_ends_after_five_minutes_to_the_second_and_is_not_prolonged",
            "api/identity/lockout::failures_older_than_a_minute_no_longer_count",
        ],
    },
    "8 Rate limit": {
        "429, wait five minutes; new orders and quotes are exempt": [
            "contract/openapi::every_credential_may_be_refused_blocked_or_limited",
            "api/identity/rate_limit::one_request_too_many_is_429_and_says_when_the_window_ends",
            "api/identity/rate_limit::a_window_is_five_minutes_by_the_clock",
            "api/identity/rate_limit::creating_orders_neither_counts_nor_is_refused",
            "api/identity/rate_by_size::a_whole_catalogue_counts_as_a_request_for_every_500_products_each_time",
        ],
    },
    "8 API key and bearer token length": {
        "64 characters": ["api/identity/key_lifecycle::a_key_is_64_hexadecimal_characters_and_never_the_same"],
        "64 characters of a token": [
            "api/identity/token_exchange::consent_is_exchanged_for_a_token_that_works_like_the_customers_key"
        ],
    },
    "8 Order items": {
        "at least one item, of at least one unit": [
            "api/ordering/refused_orders::a_fault_is_refused_by_the_name_of_its_field",
            "api/ordering/refused_orders::bounds_themselves_are_accepted",
        ],
    },
    "8 Configurations": {
        "at least one, at most what remains": [
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured"
        ],
    },
    "8 Category depth": {
        "two levels": [
            "api/catalogue/reference_data::categories_are_a_tree_whose_leaves_have_null_for_children",
            "imports/bad_rows::a_bad_row_is_refused_with_its_line_and_its_reason",
        ],
    },
    "8 Idempotency rules": {
        "the first response comes again to the byte, marked, and nothing is created": [
            "api/ordering/idempotency::a_repetition_is_answered_to_the_byte_as_the_first_and_creates_nothing",
            "concurrency/idempotency_races::of_forty_identical_creations_on_two_servers_one_creates",
        ],
        "a failed request leaves the key unused": ["api/ordering/idempotency_failures::a_wrong_request_does_not"],
    },
    "9 Versioning": {
        "the document's version is 1.0, the paths have none": [
            "contract/openapi::the_head_of_the_document_is_that_of_the_specification",
            "contract/routes::the_routes_are_exactly_those_of_the_specification",
        ],
        "orders come newest first": ["api/ordering/list_orders::orders_come_newest_first"],
        "JSON in general, CSV for the two lists without an Accept header": [
            "api/catalogue/product_formats::the_accept_header_chooses_the_format",
            "api/ordering/list_orders::csv_is_the_answer_unless_json_is_wanted",
        ],
        "the order status is open-ended": ["contract/sections::the_document_gives_no_fixed_set_of_order_states"],
    },
}
