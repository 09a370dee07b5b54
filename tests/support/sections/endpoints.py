"""Section 4 of the specification: the endpoints."""

ENDPOINTS: dict[str, dict[str, list[str]]] = {
    "4 GET /": {
        "public; name and documentation, in the body and as links": [
            "contract/openapi::the_index_names_the_documents_in_its_body_and_in_its_links",
            "contract/routes::a_public_route_does_not_mind_any_credential",
        ],
    },
    "4 GET /check-health": {
        "public; an object": [
            "api/web/health::health_says_what_is_wrong_and_is_200_all_the_same",
            "contract/routes::a_public_route_does_not_mind_any_credential",
        ],
    },
    "4 GET /ready": {
        "public; 503 with the reasons while the process should get no requests": [
            "api/web/health::ready_says_why_the_process_should_get_no_requests",
            "contract/routes::a_public_route_does_not_mind_any_credential",
        ],
    },
    "4 GET /openapi.json, GET /openapi.yaml": {
        "public; the interface document in both forms": [
            "contract/openapi::json_and_yaml_say_the_same_for_the_address_that_was_asked",
            "contract/routes::a_public_route_does_not_mind_any_credential",
        ],
        "the document is true": [
            "contract/generated_requests::no_answer_breaks_the_documents_promises",
            "contract/generated_client::it_lists_creates_confirms_and_reads",
            "contract/examples::every_body_has_examples_that_fit_its_schema",
        ],
    },
    "4 GET /product": {
        "active products at the customer's own prices and stock": [
            "api/catalogue/product_list_recomputed::each_filter_and_sort_gives_the_recomputed_list",
            "api/identity/isolation_properties::every_customer_sees_its_own_prices_orders_and_addresses_only",
            "api/catalogue/product_by_sku::inactive_unpriced_and_unknown_products_get_the_same_answer",
        ],
        "manufacturer: comma-separated keys": [
            "api/catalogue/product_filters::a_manufacturer_filter_finds_its_products"
        ],
        "category: comma-separated names": [
            "api/catalogue/product_filters::a_category_filter_finds_by_name_or_key_and_includes_children"
        ],
        "query: keywords over the details": [
            "api/catalogue/product_filters::a_query_finds_products_by_the_starts_of_words",
            "api/catalogue/product_filters::an_exact_sku_or_ean_comes_first_unless_a_sort_is_asked_for",
        ],
        "attribute: names, operators by type, values": [
            "api/catalogue/product_filters::an_attribute_filter_compares_values",
            "api/catalogue/product_bad_parameters::a_senseless_attribute_filter_is_refused",
            "unit/catalogue/attribute_index::the_index_finds_what_comparing_every_product_finds",
        ],
        "reduced or clearance; inStock": [
            "api/catalogue/product_filters::flags_filter_and_different_parameters_have_to_hold_together"
        ],
        "sort: four words, any other is 400": [
            "api/catalogue/product_filters::a_sort_orders_without_case_and_ties_break_on_sku",
            "api/catalogue/product_bad_parameters::a_bad_value_is_refused_and_named",
        ],
        "extra: fields to add": [
            "api/catalogue/product_formats::extra_fields_are_there_when_asked_for_and_else_absent"
        ],
        "as JSON or CSV, in pages": [
            "api/catalogue/product_formats::the_accept_header_chooses_the_format",
            "api/catalogue/product_formats::csv_follows_rfc_4180_to_the_byte",
            "api/catalogue/product_paging::a_page_has_its_slice_its_numbers_and_its_links",
        ],
    },
    "4 GET /product/{sku}": {
        "any case; JSON; with its descriptions": [
            "api/catalogue/product_by_sku::any_sku_percent_encoded_answers_with_its_own_product",
            "api/catalogue/product_by_sku::a_product_by_sku_is_the_one_of_the_list_with_its_descriptions",
            "api/catalogue/product_formats::one_product_is_json_whatever_is_accepted",
        ],
        "extra, comma-separated": ["api/catalogue/product_bad_parameters::one_product_refuses_an_unknown_extra"],
        "unknown is 404": ["api/catalogue/product_by_sku::inactive_unpriced_and_unknown_products_get_the_same_answer"],
    },
    "4 GET /order": {
        "the customer's own open and completed orders, newest first": [
            "api/ordering/list_orders::only_the_customers_own_confirmed_orders_are_listed",
            "api/ordering/list_orders::orders_come_newest_first",
        ],
        "as JSON or CSV, in pages": [
            "api/ordering/list_orders::csv_has_a_row_per_order_with_the_fields_of_the_json",
            "api/ordering/list_orders::links_lead_through_all_pages",
            "api/ordering/list_orders::a_page_limit_or_format_that_cannot_be_is_refused",
            "api/ordering/list_orders::an_order_of_400_lines_fits_a_spreadsheets_cell",
        ],
        "by reference, status and time (an addition)": [
            "api/ordering/filtered_orders::a_reference_is_found_in_any_case_and_with_white_space_around_it",
            "api/ordering/filtered_orders::a_status_is_found_in_any_case_and_an_unknown_one_finds_nothing",
            "api/ordering/filtered_orders::a_range_of_time_has_both_its_ends",
            "api/ordering/filtered_orders::what_is_no_local_time_is_refused_by_its_name",
        ],
    },
    "4 POST /order": {
        "validates, prices, returns options and code; 201": [
            "api/ordering/create_order::a_created_order_carries_every_field_of_the_response",
            "api/ordering/create_order::a_line_costs_its_quantity_at_the_break_it_reaches",
            "api/ordering/refused_orders::a_fault_is_refused_by_the_name_of_its_field",
        ],
        "confirmed at once when auto_confirm is true": [
            "api/ordering/auto_confirm::an_order_confirmed_at_once_is_created_with_its_ids"
        ],
        "its errors": [
            "contract/errors::an_error_has_the_general_body_and_is_announced",
            "contract/errors::every_error_of_the_document_is_tried_here",
        ],
        "Idempotency-Key, and Idempotent-Replay on a replay": [
            "api/ordering/idempotency::a_repetition_is_answered_to_the_byte_as_the_first_and_creates_nothing"
        ],
    },
    "4 GET /order/{reference}": {
        "by id or reference, with items and shipping": [
            "api/ordering/read_order::an_order_is_found_by_its_id_and_by_its_reference",
            "api/ordering/confirm_order::a_confirmed_order_reads_back_with_every_field",
        ],
        "unknown is 404": ["api/ordering/read_order::an_unknown_reference_is_not_found"],
        "where it goes, what has left, and when the rest is expected to (an addition)": [
            "api/ordering/still_to_come::an_order_shows_where_it_goes_and_for_whom",
            "api/ordering/still_to_come::units_are_counted_as_they_leave",
            "api/ordering/still_to_come::a_back_order_leaves_with_the_delivery_that_covers_it",
        ],
    },
    "4 PUT /order/{reference}": {
        "by the confirmation code alone": [
            "api/ordering/confirm_order::an_unknown_code_is_not_found",
            "api/ordering/confirm_order::neither_id_nor_reference_of_an_order_confirms_it",
        ],
        "every field but the shipping method is ignored": [
            "api/ordering/confirm_order::every_other_field_of_the_body_is_ignored"
        ],
        "without a method the account's default, if it was among the options": [
            "api/ordering/auto_confirm::a_pending_order_without_a_usable_default_needs_a_method",
            "api/ordering/auto_confirm::a_default_counts_for_the_addresses_that_it_serves",
        ],
        "the answer has order id and reference": [
            "api/ordering/confirm_order::a_confirmed_order_is_what_was_created_with_its_ids_and_method"
        ],
        "its errors": ["contract/errors::every_error_of_the_document_is_tried_here"],
    },
    "4 POST /order/{reference}/item/{orderItemId}/configuration": {
        "attaches at least one configuration and no more than remain; 200 with the item": [
            "api/fulfilment/configurations::the_answer_is_the_item_with_all_its_configurations",
            "api/fulfilment/configurations::no_more_than_the_units_of_an_item_can_be_configured",
        ],
        "the item is the order's, by its id or reference, and can be configured": [
            "api/fulfilment/configurations::an_item_is_named_by_the_orders_reference_too",
            "api/fulfilment/configurations::an_unknown_item_is_not_found",
            "api/fulfilment/configurations::an_item_that_is_not_configurable_is_refused",
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
        "it is there once the status shows it": [
            "api/billing/issuing::the_status_is_invoiced_and_a_copy_is_queued_where_the_account_has_an_address_for_it"
        ],
        "404 when unknown": ["api/billing/invoice::anothers_invoice_is_as_unknown_as_one_that_does_not_exist"],
    },
    "4 POST /quote": {
        "priced without placing an order; 201": [
            "api/ordering/quotes_requested::a_quote_is_priced_like_an_order_and_is_none_yet",
            "api/ordering/quotes_requested::a_quote_takes_neither_stock_nor_credit_and_is_not_listed",
        ],
        "auto_confirm set is 400": ["api/ordering/quotes_requested::auto_confirm_must_not_be_set"],
        "no fitting shipping method: no options, and support names the carriage (an addition)": [
            "api/ordering/quotes_without_shipping::what_no_method_fits_is_refused_as_an_order_and_taken_as_a_quote",
            "api/ordering/quotes_without_shipping::support_names_the_carriage_and_the_customer_confirms_with_it",
        ],
        "its other errors": [
            "api/ordering/quotes_requested::what_is_wrong_with_an_order_is_wrong_with_a_quote",
            "api/ordering/quotes_requested::a_quote_needs_credit_like_an_order",
        ],
        "Idempotency-Key": ["api/ordering/idempotency::a_repeated_quote_asks_support_once"],
    },
    "4 GET /customer": {
        "the account": ["api/customers/account::an_account_with_everything_shows_it"],
    },
    "4 GET /customer/credit": {
        "the overview": [
            "api/billing/credit_overview::an_account_that_never_ordered_has_all_its_credit",
            "api/billing/credit_overview::an_account_without_credit_terms_has_none",
        ],
    },
    "4 GET /customer/address": {
        "the active addresses": [
            "api/customers/address_book::a_saved_address_comes_back_with_an_id_and_is_listed",
            "api/customers/address_book::a_deleted_address_is_gone_for_lists_orders_and_a_second_deletion",
        ],
    },
    "4 POST /customer/address": {
        "201 with the new id; bad data is 400": [
            "api/customers/address_book::a_saved_address_comes_back_with_an_id_and_is_listed",
            "api/web/bad_fields::a_wrong_value_in_an_address_is_refused_by_its_name",
        ],
    },
    "4 DELETE /customer/address/{id}": {
        "204 without a body; unknown is 404": [
            "api/customers/address_book::a_deleted_address_is_gone_for_lists_orders_and_a_second_deletion",
            "api/customers/address_book::a_path_that_names_no_address_is_404",
            "contract/checked_responses::what_it_does_not_announce_fails",
        ],
    },
    "4 GET /category": {
        "a tree of two levels, whose names filter": [
            "api/catalogue/reference_data::categories_are_a_tree_whose_leaves_have_null_for_children",
            "api/catalogue/product_filters::a_category_filter_finds_by_name_or_key_and_includes_children",
        ],
    },
    "4 GET /manufacturer": {
        "by name; keys filter": [
            "api/catalogue/reference_data::manufacturers_are_ordered_by_name_without_case",
            "api/catalogue/product_filters::a_manufacturer_filter_finds_its_products",
        ],
    },
    "4 GET /attribute": {
        "what the attribute filter knows": [
            "api/catalogue/reference_data::attributes_have_their_type_and_values",
            "api/catalogue/reference_data::a_filter_by_an_attribute_that_is_gone_is_refused",
        ],
    },
    "4 POST /oauth/token": {
        "consent is exchanged for a bearer token of 64 characters, not to be stored": [
            "api/identity/token_exchange::consent_is_exchanged_for_a_token_that_works_like_the_customers_key",
            "api/identity/token_exchange::a_stock_oauth_client_obtains_a_token_and_uses_it",
        ],
        "every field by its rule, else 400": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words",
            "api/identity/token_exchange::the_resource_is_the_base_address_with_a_slash_at_its_end_or_not",
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
        "a blocked address is 403": [
            "api/identity/lockout::the_tenth_wrong_credential_is_401_and_then_everything_is_403",
            "contract/token_document::the_token_endpoint_is_described",
        ],
        "503 without the issuer, and without the database": [
            "api/identity/issuer_keys::an_issuer_that_cannot_be_used_is_a_503_and_over_by_itself",
            "api/identity/lockout::a_wrong_credential_that_cannot_be_counted_is_a_503",
        ],
    },
}
