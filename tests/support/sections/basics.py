"""Sections 1 to 3 of the specification: general rules, resources, states."""

BASICS: dict[str, dict[str, list[str]]] = {
    "1 General rules": {
        "an order needs credit terms and enough available credit, else 402": [
            "api/ordering/order_credit::an_account_without_credit_terms_cannot_order",
            "api/ordering/order_credit::an_order_may_use_the_credit_to_the_last_penny_and_not_one_more",
        ],
        "nothing cancels or amends an order, nor applies for an account: there are no such operations": [
            "contract/routes::the_routes_are_exactly_those_of_the_specification"
        ],
        "answers are JSON unless stated": [
            "contract/checked_responses::what_it_does_not_announce_fails",
            "api/catalogue/product_formats::one_product_is_json_whatever_is_accepted",
            "api/ordering/read_order::one_order_is_json_whatever_is_accepted",
        ],
        "times are UK local time, to the second, without an offset": [
            "unit/kit/local_time::local_text_has_the_form_of_the_specification_and_is_at_most_an_hour_ahead",
            "unit/kit/local_time::a_moment_is_written_in_uk_time_without_an_offset",
            "api/ordering/read_order::created_on_is_uk_time_in_winter_too",
        ],
        "prices are numbers; gross is net and tax": [
            "contract/openapi::amounts_are_numbers",
            "api/catalogue/product_formats::json_has_amounts_and_sizes_as_plain_numbers",
            "api/ordering/create_order::totals_are_those_of_the_items_without_shipping",
        ],
    },
    "1 Content negotiation": {
        "the Accept header chooses, the parameter overrides it": [
            "api/catalogue/product_formats::the_accept_header_chooses_the_format",
            "api/catalogue/product_formats::the_accept_parameter_overrides_the_header",
            "api/catalogue/product_formats::any_other_accept_parameter_is_refused",
            "unit/rest/accept_header::any_mixture_of_ranges_gives_what_a_plain_reading_gives",
        ],
        "without the header, and for text/html, CSV": [
            "unit/rest/accept_header::an_accept_header_gives_the_format_that_the_decisions_say",
            "api/ordering/list_orders::csv_is_the_answer_unless_json_is_wanted",
        ],
        "all other endpoints answer in JSON": [
            "api/catalogue/product_formats::one_product_is_json_whatever_is_accepted",
            "api/ordering/read_order::one_order_is_json_whatever_is_accepted",
        ],
    },
    "1 Pagination": {
        "pages count from 1, and one beyond the end is empty": [
            "api/ordering/list_orders::pages_divide_the_list_and_one_beyond_the_end_is_empty",
            "unit/rest/page_headers::the_pages_together_are_everything_once",
        ],
        "a page has 100 results unless limit says otherwise; 0 is everything": [
            "api/catalogue/product_paging::json_without_page_and_limit_is_the_first_hundred",
            "api/ordering/list_orders::a_limit_of_0_returns_the_whole_history",
        ],
        "page and limit out of bounds are refused": [
            "api/catalogue/product_bad_parameters::a_bad_value_is_refused_and_named",
            "api/ordering/list_orders::a_page_limit_or_format_that_cannot_be_is_refused",
        ],
        "the body is a plain array or table; the headers say total, page, limit and pages": [
            "api/catalogue/product_paging::a_page_has_its_slice_its_numbers_and_its_links",
            "contract/checked_responses::what_it_does_not_announce_fails",
        ],
        "links lead to the pages that exist, and carry the rest of the query": [
            "unit/rest/page_headers::links_lead_to_the_pages_that_exist",
            "api/catalogue/product_paging::links_keep_the_other_parameters_in_order",
            "api/web/shared_responses::the_links_of_a_shared_answer_keep_the_query_of_their_request",
            "api/catalogue/product_paging::following_the_links_visits_every_page_once",
        ],
        "the catalogue as CSV is whole unless a page is named; orders are always paged": [
            "api/catalogue/product_paging::csv_without_page_and_limit_is_the_whole_catalogue",
            "api/catalogue/product_paging::csv_with_a_page_alone_is_paged_by_the_hundred",
            "api/ordering/list_orders::csv_is_paged_like_json_even_without_page_and_limit",
        ],
        "orders come newest first": ["api/ordering/list_orders::orders_come_newest_first"],
    },
    "2 Product": {
        "every field, of the types of the table": [
            "unit/storefront/rendered_products::json_and_csv_hold_every_field_of_every_product",
            "imports/every_kind::every_field_of_a_product_arrives",
        ],
        "a SKU is looked up without regard to case": [
            "api/catalogue/product_by_sku::any_sku_percent_encoded_answers_with_its_own_product",
            "api/catalogue/real_catalogue::every_sku_percent_encoded_answers_with_its_own_product",
        ],
        "costs are net, by the account's pricing, from one, five and ten units": [
            "api/catalogue/product_prices::the_price_list_or_else_the_default_one_prices_a_product_less_the_discount",
            "unit/pricing/price_book::a_break_begins_at_five_and_at_ten",
        ],
        "extra fields are there when asked for and else absent; descriptions always on one product": [
            "api/catalogue/product_formats::extra_fields_are_there_when_asked_for_and_else_absent",
            "api/catalogue/product_by_sku::a_product_by_sku_is_the_one_of_the_list_with_its_descriptions",
        ],
        "availability has units, a label and deliveries, which trade accounts see": [
            "api/catalogue/product_stock::the_label_follows_units_and_what_the_customer_may_know",
            "api/catalogue/product_stock::a_trade_account_sees_deliveries_in_order_of_date_in_uk_time",
            "api/catalogue/product_stock::other_accounts_see_no_deliveries",
        ],
    },
    "2 Order": {
        "every field, of the types of the table": [
            "api/ordering/confirm_order::a_confirmed_order_reads_back_with_every_field",
            "api/ordering/list_orders::csv_has_a_row_per_order_with_the_fields_of_the_json",
        ],
        "the reference's prefix is one of two, by the packing": [
            "api/ordering/confirm_order::the_reference_tells_the_accounts_packing"
        ],
        "costs are those of the items, shipping has its own": [
            "api/ordering/create_order::totals_are_those_of_the_items_without_shipping",
            "api/ordering/tax_and_regions::items_and_shipping_of_a_confirmed_order_are_taxed_alike",
        ],
        "shipping names its method, its costs and the courier's contacts": [
            "api/ordering/confirm_order::a_confirmed_order_reads_back_with_every_field",
            "api/ordering/read_order::an_order_without_courier_contacts_shows_none",
        ],
        "related items are a bundle's components": [
            "api/fulfilment/bundles::components_are_related_items_and_neither_items_nor_charged"
        ],
        "configurations, serial numbers and tracking events, as dispatched": [
            "api/fulfilment/dispatch::a_whole_order_leaves_at_once",
            "api/fulfilment/dispatch::tracking_events_are_in_order_of_date_and_the_latest_is_the_status",
            "api/fulfilment/configurations::the_answer_is_the_item_with_all_its_configurations",
        ],
    },
    "2 Order request": {
        "the required fields are required, the others are not": [
            "api/ordering/refused_orders::a_required_field_that_is_missing_is_named",
            "api/ordering/create_order::an_order_with_the_required_fields_alone_has_no_optional_ones",
        ],
        "the answer carries every field": [
            "api/ordering/create_order::a_created_order_carries_every_field_of_the_response"
        ],
        "an address is full or saved, and the id wins": [
            "api/ordering/order_addresses::an_order_may_mix_a_saved_and_a_full_address",
            "api/ordering/order_addresses::the_id_wins_and_the_details_are_not_even_validated",
        ],
        "of the shipping method only the id is needed": [
            "api/ordering/auto_confirm::an_order_confirmed_at_once_is_created_with_its_ids"
        ],
        "the region is 1 unless given": [
            "api/ordering/tax_and_regions::without_a_region_that_of_the_country_is_taken",
            "api/ordering/tax_and_regions::a_given_region_counts",
            "api/ordering/postcode_regions::the_postcode_decides_the_region_and_so_the_options",
        ],
        "what is read-only is ignored on input": [
            "api/ordering/create_order::what_the_service_sets_is_ignored_on_input"
        ],
        "order id and reference are set once confirmed": [
            "api/ordering/confirm_order::a_confirmed_order_is_what_was_created_with_its_ids_and_method"
        ],
        "the weight is that of all items": [
            "api/ordering/create_order::the_weight_is_that_of_all_items_and_unknown_weights_are_nothing"
        ],
        "shipping options have a price, and dates": [
            "api/ordering/shipping_options::an_option_costs_its_base_and_the_orders_weight",
            "api/ordering/shipping_options::dates_are_uk_time_by_cut_off_and_working_days",
        ],
    },
    "2 CustomerAddress": {
        "the required fields are required": [
            "api/web/bad_fields::a_missing_field_of_an_address_is_named",
            "api/ordering/order_addresses::a_full_address_needs_its_required_fields",
        ],
        "the country is ISO 3166-1 alpha-2": [
            "api/customers/address_book::a_country_that_is_none_is_refused_with_a_hint_where_one_can_be_given",
            "api/customers/address_book::countries_and_island_territories_are_taken",
        ],
        "numbers in the UK are local or international, elsewhere international": [
            "api/customers/address_book::phone_numbers_are_taken_local_in_the_uk_and_international_everywhere",
            "api/customers/address_book::a_local_number_outside_the_uk_is_told_how_to_be_written",
        ],
        "the id is read-only": ["api/customers/address_book::an_id_that_is_sent_in_is_ignored_whatever_it_is"],
    },
    "2 Customer": {
        "every field, accounts_email optional, credit terms or null": [
            "api/customers/account::an_account_with_everything_shows_it",
            "api/customers/account::an_account_without_credit_has_null_terms_and_no_accounts_email",
        ],
    },
    "2 CreditOverview": {
        "what may be owed, is owed, is left": [
            "api/billing/credit_overview::what_is_available_is_the_limit_less_what_all_orders_come_to"
        ],
        "orders with something due, what of them, and since when": [
            "api/billing/credit_overview::an_order_is_owed_with_its_shipping_until_the_end_of_the_day_after_its_term",
            "api/billing/credit_overview::a_part_payment_leaves_the_rest_due_and_a_full_one_nothing",
            "api/billing/credit_overview::an_order_is_overdue_once_its_due_second_is_over",
        ],
    },
    "2 Reference data": {
        "categories nest, without children null": [
            "api/catalogue/reference_data::categories_are_a_tree_whose_leaves_have_null_for_children"
        ],
        "manufacturers have key and name": [
            "api/catalogue/reference_data::manufacturers_are_ordered_by_name_without_case"
        ],
        "attributes have a type and values": ["api/catalogue/reference_data::attributes_have_their_type_and_values"],
    },
    "2 OrderVideoResponse, Error, OAuthError": {
        "an error is its message": ["contract/errors::an_error_has_the_general_body_and_is_announced"],
        "a video is two addresses": [
            "api/fulfilment/configurations::an_order_has_no_video_until_there_is_one_and_a_new_one_replaces_it"
        ],
        "an OAuth error is one of five words": [
            "api/identity/token_exchange::a_wrong_field_is_refused_in_oauths_words"
        ],
    },
    "3 POST /order, to be confirmed": {
        "the order is pending; the answer has its code and the shipping options": [
            "api/ordering/create_order::a_created_order_carries_every_field_of_the_response",
            "api/ordering/create_order::a_pending_order_is_not_among_the_customers_orders_and_holds_neither_stock_nor_credit",
        ],
        "auto_confirm of false is as if absent": [
            "api/ordering/auto_confirm::auto_confirm_of_false_or_null_leaves_the_order_pending"
        ],
        "the credit has to suffice": ["api/ordering/order_credit::what_is_owed_already_is_not_available"],
    },
    "3 POST /order, confirmed at once": {
        "with a method, or the account's default, it is confirmed at the live price": [
            "api/ordering/auto_confirm::an_order_confirmed_at_once_is_created_with_its_ids",
            "api/ordering/auto_confirm::the_accounts_default_serves_when_no_method_is_named",
            "api/ordering/auto_confirm::the_live_price_counts",
        ],
        "the method has to be valid": [
            "api/ordering/auto_confirm::a_method_that_was_not_offered_is_refused_even_if_the_default_was"
        ],
    },
    "3 POST /order, confirmed at once without a method": {
        "412, and nothing is created": [
            "api/ordering/auto_confirm::without_a_method_and_a_usable_default_412_and_nothing_is_created"
        ],
    },
    "3 POST /quote": {
        "a ticket is raised, support sets the price, the customer is told": [
            "api/ordering/quotes_requested::support_is_told_of_a_quote_in_the_same_transaction",
            "api/ordering/quotes_priced::the_customer_is_told_of_each_price_in_the_same_transaction",
        ],
        "the code then confirms the order at the adjusted price": [
            "api/ordering/quotes_requested::a_priced_quote_becomes_an_order_at_its_price"
        ],
    },
    "3 PUT /order/{reference}, in time": {
        "confirmed, with order id and reference": [
            "api/ordering/confirm_order::a_confirmed_order_is_what_was_created_with_its_ids_and_method",
            "api/ordering/confirm_order::a_pending_order_can_be_confirmed_for_exactly_24_hours",
        ],
    },
    "3 PUT /order/{reference}, expired": {
        "410": [
            "api/ordering/confirm_order::an_expired_order_is_gone_before_anything_else_is_wrong_with_it",
            "api/ordering/expiry::an_order_that_was_marked_expired_is_gone",
        ],
    },
    "3 PUT /order/{reference}, without a method": {
        "412, and the order stays pending": [
            "api/ordering/confirm_order::without_a_method_and_a_default_nothing_can_be_confirmed"
        ],
    },
    "3 pending, by time": {
        "older than 24 hours it cannot be confirmed": [
            "api/ordering/confirm_order::a_pending_order_can_be_confirmed_for_exactly_24_hours",
            "api/ordering/confirm_order::the_24_hours_are_real_ones_when_the_clocks_change",
            "api/ordering/expiry::only_pending_orders_whose_time_is_over_expire",
        ],
    },
}
