"""Damage to the database after a trial, with the fault that the checks must then find, by its name.

`{first}` and `{last}` are the ids of the first and the last order, `{reference}` is the reference of the last one, and
`{customer}` the id of the first customer.
"""

# Each of these is done alone.
ALONE = {
    "a lost order": (
        "delete from orders where id = (select min(id) from orders)",
        "order: lost",
    ),
    "a doubled payment": (
        """
        insert into payment (amount, recorded_at, customer_id, received_on, counts_from, method, reference)
        select amount, recorded_at, customer_id, received_on, counts_from, method, reference
        from payment where id = (select min(id) from payment)
        """,
        "payment: doubled or unknown",
    ),
    "a gap in the invoice numbers": (
        "delete from invoice where number = (select min(number) + 1 from invoice)",
        "invoice: gap in the numbers",
    ),
    "a missing event": (
        "delete from event where sequence = (select max(sequence) - 3 from event)",
        "event: gap in the sequences",
    ),
}
# These are done all at once, to save time.
TOGETHER = {
    "a doubled order": (
        """
        insert into orders (customer_id, kind, state, confirmation_code, customer_reference, billing_address,
                            shipping_address, shipping_region, shipping_options, shipping_weight, cost_net, cost_tax,
                            tax_rate, created_at)
        select customer_id, kind, 'pending', 'COPY', customer_reference, billing_address,
               shipping_address, shipping_region, shipping_options, shipping_weight, cost_net, cost_tax,
               tax_rate, created_at
        from orders where id = (select min(id) from orders)
        """,
        "order: doubled or unknown",
    ),
    "a lost reversal": (
        """
        update payment set reversed_at = null, reversal_reason = null
        where id = (select min(id) from payment where reversed_at is not null)
        """,
        "reversal: lost",
    ),
    "a doubled shipment": (
        """
        with made as (
            insert into shipment (order_id, shipping_method, tracking_number, dispatched_at)
            select order_id, shipping_method, tracking_number, dispatched_at
            from shipment where id = (select min(id) from shipment)
            returning id
        )
        insert into shipment_line
        select made.id, line_id, quantity from made, shipment_line
        where shipment_id = (select min(id) from shipment)
        """,
        "shipment: doubled or unknown",
    ),
    "a lost credit note": (
        "delete from credit_note where number = (select max(number) from credit_note)",
        "credit_note: lost",
    ),
    "a gap at the end of the credit notes' numbers": (
        "update credit_note_number set last = last + 1",
        "credit note: gap in the numbers",
    ),
    "two events of an order in the wrong order": (
        """
        update event
        set type = case type when 'order.created' then 'order.confirmed' else 'order.created' end
        where subject = (select 'order/' || min(id) from orders) and type in ('order.created', 'order.confirmed')
        """,
        "event: out of order, order/{first}",
    ),
    "an event that nothing caused": (
        """
        insert into event
        select last + 1, 'evt_new', 'order.expired', now(), 'order/' || (select max(order_id) from order_line),
               null, false, '{}'
        from event_sequence
        """,
        "event: missing, doubled or unknown, order/{last}",
    ),
    "an event without a number": (
        """
        insert into unnumbered_event (id, type, occurred_at, subject, for_customer, data)
        values ('evt_left', 'order.created', now(), 'order/1', false, '{}')
        """,
        "event: without a number",
    ),
    "an entry of the audit log that is missing": (
        "delete from audit_entry where id = (select max(id) from audit_entry where action = 'payment.record')",
        "audit entry: lost",
    ),
    "an entry of the audit log that is doubled": (
        """
        insert into audit_entry (at, actor_kind, actor_name, acting_user, action, subject, before, after)
        select at, actor_kind, actor_name, acting_user, action, subject, before, after
        from audit_entry where id = (select max(id) from audit_entry where action = 'order.dispatch')
        """,
        "audit entry: doubled or unknown",
    ),
    "a unit that left twice": (
        """
        update stock_level set available = available - 1
        where product_id = (select id from product where sku = 'PHONE')
        """,
        "stock of PHONE differs",
    ),
    "a line with too many dispatched units": (
        "update order_line set dispatched = dispatched + 1 where id = (select max(id) from order_line)",
        "order {reference} differs",
    ),
    "credit that was charged twice": (
        """
        update credit_exposure set outstanding = outstanding + 1
        where customer_id = (select min(customer_id) from credit_exposure)
        """,
        "account {customer}: wrong exposure",
    ),
    "an invoice that was changed": (
        "update invoice set gross = gross + 1 where number = (select max(number) from invoice)",
        "an invoice differs from its lines",
    ),
}
