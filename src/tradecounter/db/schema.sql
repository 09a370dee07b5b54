-- What the migrations make, but for the job queue's own tables. Generated: see tests/contract/test_schema.py.

CREATE FUNCTION public.add_credit_note_to_vat_day() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        
    insert into vat_day (day, kind, country, rate, documents, net, vat)
    select (n.issued_at at time zone 'Europe/London')::date, 'credit_note', o.shipping_address ->> 'country_code',
           o.tax_rate, count(*), sum(n.net), sum(n.vat)
    from added n join invoice i on i.number = n.invoice join orders o on o.id = i.order_id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4

        on conflict (day, kind, country, rate) do update
        set documents = vat_day.documents + excluded.documents, net = vat_day.net + excluded.net,
            vat = vat_day.vat + excluded.vat;
        return null;
    end
    $$;

CREATE FUNCTION public.add_invoice_to_vat_day() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        
    insert into vat_day (day, kind, country, rate, documents, net, vat)
    select (i.supplied_at at time zone 'Europe/London')::date, 'invoice', o.shipping_address ->> 'country_code',
           o.tax_rate, count(*), sum(i.net), sum(i.vat)
    from added i join orders o on o.id = i.order_id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4

        on conflict (day, kind, country, rate) do update
        set documents = vat_day.documents + excluded.documents, net = vat_day.net + excluded.net,
            vat = vat_day.vat + excluded.vat;
        return null;
    end
    $$;

CREATE FUNCTION public.note_below_cost(ids bigint[]) RETURNS void
    LANGUAGE sql
    AS $$
        delete from product_below_cost b where b.product_id = any(ids) and not exists (
            select from product p join price c on c.product_id = p.id where p.id = b.product_id
            and least(c.single_unit_cost, c.five_plus_unit_cost, c.ten_plus_unit_cost) < p.purchase_cost);
        insert into product_below_cost
        select p.id from product p where p.id = any(ids) and exists (
            select from price c where c.product_id = p.id
            and least(c.single_unit_cost, c.five_plus_unit_cost, c.ten_plus_unit_cost) < p.purchase_cost)
        order by p.id on conflict do nothing;
    $$;

CREATE FUNCTION public.note_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        new.changed_at := greatest(old.changed_at, new.confirmed_at, clock_timestamp());
        return new;
    end
    $$;

CREATE FUNCTION public.note_changed_alerts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    declare
        users bigint[] := (select array_agg(user_id) from part p where to_jsonb(p) ->> 'in_stock_at' is null);
    begin
        perform from customer_user where id = any(users) order by id for no key update;
        update customer_user set alerts_changed_at = clock_timestamp() where id = any(users);
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_attributes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        insert into catalogue_change (topic) values ('catalogue');
        return null;
    end $$;

CREATE FUNCTION public.note_changed_contracts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', customer_id, array_agg(product_id) from added group by customer_id;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', each.customer_id, array_agg(each.product_id)
            from changed n join former o using (id),
                 lateral (values (n.customer_id, n.product_id), (o.customer_id, o.product_id))
                     as each (customer_id, product_id)
            where (n.customer_id, n.product_id, n.single_unit_cost, n.five_plus_unit_cost, n.ten_plus_unit_cost,
                   n.valid_from, n.valid_until)
                  is distinct from
                  (o.customer_id, o.product_id, o.single_unit_cost, o.five_plus_unit_cost, o.ten_plus_unit_cost,
                   o.valid_from, o.valid_until)
            group by each.customer_id;
        else
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', customer_id, array_agg(product_id) from former group by customer_id;
        end if;
        return null;
    end $$;

CREATE FUNCTION public.note_changed_deliveries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id) from added having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id)
            from (
                (table changed except all table former) union all (table former except all table changed)
            ) as differing
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id) from former having count(*) > 0;
        end if;
        return null;
    end $$;

CREATE FUNCTION public.note_changed_lists() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        update saved_list set changed_at = clock_timestamp() where id in (select list_id from part);
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_order(changed bigint) RETURNS void
    LANGUAGE sql
    AS $$
        update orders set status = status
        where id = changed and number is not null and xmin <> pg_current_xact_id()::xid
    $$;

CREATE FUNCTION public.note_changed_parts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        perform note_changed_order(c.order_id) from (select distinct order_id from part order by 1) as c;
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_parts_of_lines() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        perform note_changed_order(c.order_id) from (
            select distinct l.order_id from part join order_line l on l.id = part.line_id order by 1) as c;
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_parts_of_shipments() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        perform note_changed_order(c.order_id) from (
            select distinct s.order_id from part join shipment s on s.id = part.shipment_id order by 1) as c;
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_payments() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        update payment p set changed_at = clock_timestamp() from (select distinct payment_id as id from part) as c
        where p.id = c.id and p.xmin <> pg_current_xact_id()::xid;
        return null;
    end
    $$;

CREATE FUNCTION public.note_changed_prices() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id) from added group by price_list;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id)
            from changed n full join former o using (price_list, product_id)
            where (n.single_unit_cost, n.five_plus_unit_cost, n.ten_plus_unit_cost)
                  is distinct from (o.single_unit_cost, o.five_plus_unit_cost, o.ten_plus_unit_cost)
            group by price_list;
        else
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id) from former group by price_list;
        end if;
        return null;
    end $$;

CREATE FUNCTION public.note_changed_products() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from added where active having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids, former_skus)
            select 'catalogue', coalesce(array_agg(n.id) filter (where n.active or o.active), '{}'),
                   jsonb_object_agg(n.id, o.sku) filter (where n.sku <> o.sku)
            from changed n join former o using (id)
            where (n.active or o.active or n.sku <> o.sku) and n is distinct from o
              and ((n.purchase_cost, n.external_id) is not distinct from (o.purchase_cost, o.external_id)
                   or to_jsonb(n) - array['purchase_cost', 'external_id', 'changed_at']
                      is distinct from to_jsonb(o) - array['purchase_cost', 'external_id', 'changed_at'])
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from former where active having count(*) > 0;
        end if;
        return null;
    end $$;

CREATE FUNCTION public.note_changed_record() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        if new is distinct from old then
            new.changed_at := greatest(old.changed_at, clock_timestamp());
        end if;
        return new;
    end
    $$;

CREATE FUNCTION public.note_changed_returns() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        update order_return r set changed_at = clock_timestamp() from (select distinct return_id as id from part) as c
        where r.id = c.id and r.xmin <> pg_current_xact_id()::xid;
        return null;
    end
    $$;

CREATE FUNCTION public.note_costs_above_price() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        perform note_below_cost((
            select array_agg(n.id) from changed n join former o using (id)
            where n.purchase_cost is distinct from o.purchase_cost));
        return null;
    end
    $$;

CREATE FUNCTION public.note_first_prices() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        delete from product_without_price where product_id in (select product_id from part);
        return null;
    end
    $$;

CREATE FUNCTION public.note_last_prices() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        insert into product_without_price
        select p.id from product p where p.id in (select product_id from part) and not exists (
            select from price_list l cross join lateral (
                select from price c where c.price_list = l.key and c.product_id = p.id offset 0) as found)
        order by p.id on conflict do nothing;
        return null;
    end
    $$;

CREATE FUNCTION public.note_prices_below_cost() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        perform note_below_cost((select array_agg(distinct product_id) from part));
        return null;
    end
    $$;

CREATE FUNCTION public.note_product_without_price() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        insert into product_without_price select id from part order by id on conflict do nothing;
        return null;
    end
    $$;

CREATE FUNCTION public.number_catalogue_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
        update catalogue_change set version = new.version where topic = new.topic and version is null;
        return null;
    end $$;

CREATE FUNCTION public.reference_key(reference text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(NORMALIZE(btrim(regexp_replace(regexp_replace(reference, '[\u0001-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'::text, ''::text, 'g'::text), '[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+'::text, ' '::text, 'g'::text))));

COMMENT ON FUNCTION public.reference_key(reference text) IS 'The form in which references are compared: without case, invisible characters and surplus white space.';

CREATE FUNCTION public.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'the audit log only grows';
end
$$;

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'an invoice never changes';
end
$$;

CREATE FUNCTION public.refuse_money_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'credit notes and allocations never change';
end
$$;

CREATE TABLE public.access_token (
    id bigint NOT NULL,
    hash bytea NOT NULL,
    client_id text NOT NULL,
    customer_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    grant_id bigint
);

COMMENT ON COLUMN public.access_token.grant_id IS 'The grant of the own issuer that it comes from. Not a foreign key, which would lock grants before applications.';

ALTER TABLE public.access_token ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.access_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.account_balance (
    customer_id bigint NOT NULL,
    unallocated numeric(18,2) DEFAULT 0 NOT NULL,
    CONSTRAINT account_balance_unallocated_check CHECK ((unallocated >= (0)::numeric))
);

COMMENT ON TABLE public.account_balance IS 'The money of payments that is on the account; its row is the lock of all steps that move money.';

CREATE TABLE public.address (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    details jsonb NOT NULL,
    deleted_at timestamp with time zone,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.address.changed_at IS 'When it changed last; a trigger sets it.';

ALTER TABLE public.address ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.address_id_seq
    START WITH 5001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.agent_client (
    client_id text NOT NULL,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    address text,
    created_at timestamp with time zone NOT NULL,
    read_at timestamp with time zone
);

COMMENT ON TABLE public.agent_client IS 'Programs that ask customers to let them order at /mcp. They have no secret.';

COMMENT ON COLUMN public.agent_client.address IS 'From where it was registered, until a customer allows it.';

COMMENT ON COLUMN public.agent_client.read_at IS 'When the document at its client id, an address, was read; null for a registered client.';

CREATE TABLE public.agent_consent (
    id bigint NOT NULL,
    client_id text NOT NULL,
    customer_id bigint NOT NULL,
    user_id bigint,
    name text NOT NULL,
    redirect_uri text NOT NULL,
    code_hash bytea NOT NULL,
    code_challenge text NOT NULL,
    code_expires_at timestamp with time zone NOT NULL,
    code_used_at timestamp with time zone,
    scopes text[] NOT NULL,
    order_limit numeric(18,2),
    day_limit numeric(18,2),
    given_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    ended_at timestamp with time zone
);

COMMENT ON TABLE public.agent_consent IS 'What a user has allowed an agent for its customer, with the code that says so.';

COMMENT ON COLUMN public.agent_consent.order_limit IS 'Of one order, in pounds with VAT and shipping; null: no orders.';

COMMENT ON COLUMN public.agent_consent.day_limit IS 'Of all orders of a day in the United Kingdom.';

ALTER TABLE public.agent_consent ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agent_consent_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.agent_order (
    order_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    client_id text NOT NULL,
    day date NOT NULL,
    gross numeric(18,2) NOT NULL
);

COMMENT ON TABLE public.agent_order IS 'Orders that an agent has confirmed by itself; they count towards its day.';

CREATE TABLE public.agent_token (
    hash bytea NOT NULL,
    consent_id bigint NOT NULL,
    refreshes boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

COMMENT ON TABLE public.agent_token IS 'Access tokens for /mcp alone, and tokens that refresh them.';

CREATE TABLE public.allocation (
    id bigint NOT NULL,
    payment_id bigint NOT NULL,
    invoice bigint,
    refund_id bigint,
    amount numeric(18,2) NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT allocation_amount_check CHECK ((amount <> (0)::numeric)),
    CONSTRAINT allocation_check CHECK ((num_nonnulls(invoice, refund_id) = 1))
);

COMMENT ON TABLE public.allocation IS 'Where the money of payments goes; a negative amount takes it back.';

COMMENT ON COLUMN public.allocation.at IS 'From when it counts on statements.';

ALTER TABLE public.allocation ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.allocation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announced (
    the_one boolean DEFAULT true NOT NULL,
    at timestamp with time zone NOT NULL,
    seen pg_snapshot NOT NULL,
    price_version bigint NOT NULL,
    orders_from bigint DEFAULT 0 NOT NULL,
    CONSTRAINT announced_the_one_check CHECK (the_one)
);

COMMENT ON TABLE public.announced IS 'One row: which changes of prices and stock have their events.';

COMMENT ON COLUMN public.announced.seen IS 'The snapshot of the last announcement: it shows what was announced.';

COMMENT ON COLUMN public.announced.price_version IS 'The sum of the versions of prices and contracts then.';

COMMENT ON COLUMN public.announced.orders_from IS 'Orders with lower ids are too old to concern their customers.';

CREATE TABLE public.api_key (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    disabled_at timestamp with time zone,
    scopes text[],
    expires_at timestamp with time zone,
    networks text[] DEFAULT '{}'::text[] NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.api_key.scopes IS 'What the key may do; null: everything.';

COMMENT ON COLUMN public.api_key.networks IS 'From where it may be used; empty: from anywhere.';

COMMENT ON COLUMN public.api_key.changed_at IS 'When it changed last; a trigger sets it.';

ALTER TABLE public.api_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.application (
    client_id text NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    redirect_uris text[] DEFAULT '{}'::text[] NOT NULL
);

COMMENT ON COLUMN public.application.redirect_uris IS 'Where the own issuer may send a browser back to, exactly as written; empty: it serves another issuer only.';

CREATE TABLE public.attribute (
    key text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    possible_values jsonb DEFAULT '[]'::jsonb NOT NULL,
    active boolean DEFAULT true NOT NULL,
    CONSTRAINT attribute_type_check CHECK ((type = ANY (ARRAY['boolean'::text, 'string'::text, 'int'::text])))
);

CREATE TABLE public.audit_entry (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind text NOT NULL,
    actor_id text,
    actor_name text NOT NULL,
    acting_user text,
    address text,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.01');

COMMENT ON TABLE public.audit_entry IS 'Who changed what. Entries are never changed or deleted.';

ALTER TABLE public.audit_entry ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bank_file (
    id bigint NOT NULL,
    name text NOT NULL,
    at timestamp with time zone NOT NULL,
    made_by text NOT NULL,
    lines integer NOT NULL,
    recorded integer NOT NULL,
    payments_out integer NOT NULL,
    repeated integer NOT NULL,
    unplaced integer NOT NULL,
    rolled_back_at timestamp with time zone
);

COMMENT ON TABLE public.bank_file IS 'Every imported bank file, and whether it was rolled back.';

ALTER TABLE public.bank_file ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.bank_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bank_line (
    id bigint NOT NULL,
    bank_file_id bigint NOT NULL,
    line integer NOT NULL,
    day_written text NOT NULL,
    amount_written text NOT NULL,
    reference text NOT NULL,
    received_on date,
    amount numeric(18,2),
    usual text NOT NULL,
    identity text NOT NULL,
    occurrence integer NOT NULL,
    state text NOT NULL,
    why text NOT NULL,
    payment_id bigint,
    placed_by bigint,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT bank_line_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT bank_line_placed CHECK (((state <> 'placed'::text) OR (payment_id IS NOT NULL))),
    CONSTRAINT bank_line_state_check CHECK ((state = ANY (ARRAY['unplaced'::text, 'placed'::text, 'set_aside'::text])))
);

COMMENT ON TABLE public.bank_line IS 'Each line of bank files with money received, once, however often it is imported.';

COMMENT ON COLUMN public.bank_line.bank_file_id IS 'The first file with the line.';

COMMENT ON COLUMN public.bank_line.usual IS 'What names the payer, `payer_text` in the program. A payer whose lines were all placed with one customer, and one of them by hand, has this customer.';

COMMENT ON COLUMN public.bank_line.identity IS 'A hash of date, amount and reference; equal lines differ by occurrence.';

COMMENT ON COLUMN public.bank_line.payment_id IS 'The payment of the line; if it is not placed, the reversed one.';

COMMENT ON COLUMN public.bank_line.placed_by IS 'The file whose import placed the line; null if somebody did.';

ALTER TABLE public.bank_line ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.bank_line_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.basket_line (
    user_id bigint NOT NULL,
    product_id bigint NOT NULL,
    quantity integer NOT NULL,
    "position" bigint NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    CONSTRAINT basket_line_quantity_check CHECK ((quantity > 0))
);

COMMENT ON COLUMN public.basket_line."position" IS 'The order of the lines; a new line comes last.';

COMMENT ON COLUMN public.basket_line.note IS 'What the user notes about the line; the order gets it as a note.';

ALTER TABLE public.basket_line ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.basket_line_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.blocked_address (
    address text NOT NULL,
    blocked_until timestamp with time zone NOT NULL
);

CREATE TABLE public.caller_idempotency_key (
    caller text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.caller_idempotency_key IS 'As idempotency_key, for the back office''s API and the forms of all pages. Secrets are null in the bodies.';

COMMENT ON COLUMN public.caller_idempotency_key.caller IS 'The kind and the id, such as token/3, staff/1 or user/5.';

CREATE TABLE public.catalogue_change (
    id bigint NOT NULL,
    topic text NOT NULL,
    version bigint,
    price_list text,
    customer_id bigint,
    product_ids bigint[],
    former_skus jsonb
);

COMMENT ON TABLE public.catalogue_change IS 'The products that a statement changed, for the change feed. Triggers write it. Stock levels have changed_by.';

COMMENT ON COLUMN public.catalogue_change.version IS 'The version of the topic that shows the change; null until its transaction raises the version.';

COMMENT ON COLUMN public.catalogue_change.product_ids IS 'Null: all products.';

COMMENT ON COLUMN public.catalogue_change.former_skus IS 'The former SKU of each product whose SKU is spelled differently now, by id.';

ALTER TABLE public.catalogue_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.catalogue_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.catalogue_change_mark (
    at timestamp with time zone NOT NULL,
    versions jsonb NOT NULL,
    forgotten boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE public.catalogue_change_mark IS 'The versions at a time. What is not newer than a forgotten mark has been deleted from catalogue_change.';

CREATE TABLE public.catalogue_layout (
    version bigint NOT NULL,
    program text NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.catalogue_layout ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE public.category (
    key text NOT NULL,
    name text NOT NULL,
    parent_key text,
    "position" integer DEFAULT 0 NOT NULL,
    active boolean DEFAULT true NOT NULL
);

CREATE TABLE public.change (
    topic text NOT NULL,
    version bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE public.change IS 'A counter per kind of reference data; processes reload what has moved on.';

CREATE TABLE public.chosen_alert (
    user_id bigint NOT NULL,
    kind text NOT NULL,
    told_until timestamp with time zone NOT NULL,
    seen_invoice bigint,
    CONSTRAINT chosen_alert_kind_check CHECK ((kind = ANY (ARRAY['dispatched'::text, 'invoices_due'::text])))
);

COMMENT ON COLUMN public.chosen_alert.told_until IS 'Invoices due until then were in an e-mail, or due before the choice.';

COMMENT ON COLUMN public.chosen_alert.seen_invoice IS 'The last invoice at the last e-mail, which told of none of the later ones; null: there was no e-mail yet.';

CREATE TABLE public.configuration (
    id bigint NOT NULL,
    line_id bigint NOT NULL,
    data bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

COMMENT ON COLUMN public.configuration.data IS 'Encrypted, since it holds passwords.';

ALTER TABLE public.configuration ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.configuration_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.consent (
    id bigint NOT NULL,
    client_id text NOT NULL,
    customer_id bigint NOT NULL,
    user_id bigint,
    given_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);

COMMENT ON TABLE public.consent IS 'That an application may act for a customer; it stands until it is revoked.';

COMMENT ON COLUMN public.consent.user_id IS 'Who gave it.';

CREATE TABLE public.consent_grant (
    id bigint NOT NULL,
    consent_id bigint NOT NULL,
    code_hash bytea NOT NULL,
    code_challenge text NOT NULL,
    redirect_uri text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    code_expires_at timestamp with time zone NOT NULL,
    code_used_at timestamp with time zone,
    ended_at timestamp with time zone
);

COMMENT ON TABLE public.consent_grant IS 'One authorisation code, and with its refresh tokens all that it gave.';

ALTER TABLE public.consent_grant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.consent_grant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.consent ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.consent_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.contract_price (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    product_id bigint NOT NULL,
    single_unit_cost numeric(12,2) NOT NULL,
    five_plus_unit_cost numeric(12,2),
    ten_plus_unit_cost numeric(12,2),
    valid_from date,
    valid_until date,
    changed_by xid8,
    CONSTRAINT contract_price_check CHECK ((valid_until >= valid_from)),
    CONSTRAINT contract_price_five_plus_unit_cost_check CHECK ((five_plus_unit_cost >= (0)::numeric)),
    CONSTRAINT contract_price_single_unit_cost_check CHECK ((single_unit_cost >= (0)::numeric)),
    CONSTRAINT contract_price_ten_plus_unit_cost_check CHECK ((ten_plus_unit_cost >= (0)::numeric))
);

COMMENT ON COLUMN public.contract_price.changed_by IS 'The transaction that wrote the row last; null: before this column existed.';

ALTER TABLE public.contract_price ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.contract_price_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE public.credential_failure (
    address text NOT NULL,
    failed_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.credential_failure IS 'Unlogged: a crash resets the count.';

CREATE TABLE public.credit_exposure (
    customer_id bigint NOT NULL,
    outstanding numeric(18,2) DEFAULT 0 NOT NULL
);

COMMENT ON TABLE public.credit_exposure IS 'The unpaid gross of a customer''s confirmed orders; its row is the account''s lock.';

CREATE TABLE public.credit_note (
    number bigint NOT NULL,
    invoice bigint NOT NULL,
    customer_id bigint NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    net numeric(18,2) NOT NULL,
    vat numeric(18,2) NOT NULL,
    gross numeric(18,2) NOT NULL,
    document jsonb NOT NULL,
    pdf bytea NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT credit_note_gross_check CHECK ((gross > (0)::numeric))
);

COMMENT ON COLUMN public.credit_note.changed_at IS 'When it changed last; triggers set it.';

CREATE TABLE public.credit_note_line (
    credit_note bigint NOT NULL,
    "position" integer NOT NULL,
    invoice_position integer,
    quantity integer NOT NULL,
    net numeric(18,2) NOT NULL,
    vat numeric(18,2) NOT NULL,
    CONSTRAINT credit_note_line_quantity_check CHECK ((quantity > 0))
);

COMMENT ON COLUMN public.credit_note_line.invoice_position IS 'The line of the invoice; null for an amount.';

CREATE TABLE public.credit_note_number (
    the_one boolean DEFAULT true NOT NULL,
    last bigint NOT NULL,
    CONSTRAINT credit_note_number_the_one_check CHECK (the_one)
);

COMMENT ON TABLE public.credit_note_number IS 'One row: the last number of a credit note. Numbers have no gaps.';

CREATE TABLE public.customer (
    id bigint NOT NULL,
    email_address text NOT NULL,
    email_key text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    company text DEFAULT ''::text NOT NULL,
    accounts_email text,
    trade_account boolean DEFAULT false NOT NULL,
    price_list text,
    discount numeric(5,2) DEFAULT 0 NOT NULL,
    credit_limit numeric(14,2),
    term_days integer,
    packing text DEFAULT 'own'::text NOT NULL,
    shipping_method integer,
    unique_references boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    order_mails boolean DEFAULT true NOT NULL,
    blocked_at timestamp with time zone,
    blocked_reason text,
    external_id text,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT customer_check CHECK (((credit_limit IS NULL) = (term_days IS NULL))),
    CONSTRAINT customer_check1 CHECK (((blocked_at IS NULL) = (blocked_reason IS NULL))),
    CONSTRAINT customer_credit_limit_check CHECK ((credit_limit >= (0)::numeric)),
    CONSTRAINT customer_discount_check CHECK (((discount >= (0)::numeric) AND (discount <= (100)::numeric))),
    CONSTRAINT customer_packing_check CHECK ((packing = ANY (ARRAY['own'::text, 'plain'::text]))),
    CONSTRAINT customer_term_days_check CHECK ((term_days >= 0))
);

COMMENT ON COLUMN public.customer.discount IS 'Per cent off every price that is not a contract price.';

COMMENT ON COLUMN public.customer.order_mails IS 'Whether the account''s address gets the mails of orders that name no address themselves.';

COMMENT ON COLUMN public.customer.external_id IS 'The reseller''s own id of the customer, which the customer never sees.';

COMMENT ON COLUMN public.customer.changed_at IS 'When it changed last; triggers set it.';

CREATE TABLE public.customer_contact (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    name text NOT NULL,
    task text NOT NULL,
    email text NOT NULL,
    phone text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.customer_contact.task IS 'What to speak to the person about, such as invoices.';

COMMENT ON COLUMN public.customer_contact.changed_at IS 'When it changed last; a trigger sets it.';

ALTER TABLE public.customer_contact ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.customer_contact_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.customer ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.customer_id_seq
    START WITH 1001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.customer_note (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    text text NOT NULL,
    promised_on date,
    written_by text NOT NULL,
    written_at timestamp with time zone NOT NULL
);

COMMENT ON COLUMN public.customer_note.promised_on IS 'The day until which the customer has promised to pay.';

ALTER TABLE public.customer_note ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.customer_note_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.customer_request (
    id bigint NOT NULL,
    kind text NOT NULL,
    order_id bigint NOT NULL,
    user_id bigint,
    items jsonb NOT NULL,
    text text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_by bigint,
    answer text DEFAULT ''::text NOT NULL,
    opened_as text DEFAULT ''::text NOT NULL,
    closed_as text DEFAULT ''::text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT customer_request_kind_check CHECK ((kind = ANY (ARRAY['cancel'::text, 'return'::text, 'message'::text])))
);

COMMENT ON COLUMN public.customer_request.items IS 'Units to cancel or to return: `id`, `sku` and `quantity`.';

COMMENT ON COLUMN public.customer_request.opened_as IS 'The name of the key, the application or the agent that asked; empty for a user.';

COMMENT ON COLUMN public.customer_request.closed_as IS 'The service token or the command''s user that answered; empty for a member of the staff.';

COMMENT ON COLUMN public.customer_request.changed_at IS 'When it changed last; triggers set it.';

ALTER TABLE public.customer_request ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.customer_request_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.customer_user (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    name text NOT NULL,
    password_hash text,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    more_roles text[] DEFAULT '{}'::text[] NOT NULL,
    order_limit numeric(12,2),
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    alerts_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    agents_ended_at timestamp with time zone,
    CONSTRAINT customer_user_order_limit_check CHECK ((order_limit > (0)::numeric)),
    CONSTRAINT customer_user_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'buyer'::text, 'approver'::text, 'accounts'::text, 'developer'::text])))
);

COMMENT ON COLUMN public.customer_user.email_key IS 'The address in lower case. A user belongs to one customer.';

COMMENT ON COLUMN public.customer_user.password_hash IS 'Argon2; null until the user sets a password.';

COMMENT ON COLUMN public.customer_user.more_roles IS 'Further roles; `role` is the first.';

COMMENT ON COLUMN public.customer_user.order_limit IS 'The greatest gross of an order without approval; null: any.';

COMMENT ON COLUMN public.customer_user.changed_at IS 'When it changed last; a trigger sets it.';

COMMENT ON COLUMN public.customer_user.alerts_changed_at IS 'When an alert of the user began or ended; triggers set it.';

COMMENT ON COLUMN public.customer_user.agents_ended_at IS 'When the user was disabled or lost the roles that may allow agents; what it had allowed until then has ended. Null: never.';

ALTER TABLE public.customer_user ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.customer_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.event (
    sequence bigint NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    subject text NOT NULL,
    customer_id bigint,
    for_customer boolean NOT NULL,
    data jsonb NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.01');

COMMENT ON TABLE public.event IS 'The event log. Sequences are contiguous from 1.';

COMMENT ON COLUMN public.event.id IS 'Unique, since it has 96 random bits.';

COMMENT ON COLUMN public.event.for_customer IS 'Whether the customer may read the event; otherwise only the reseller may.';

CREATE TABLE public.event_sequence (
    the_one boolean DEFAULT true NOT NULL,
    last bigint NOT NULL,
    CONSTRAINT event_sequence_the_one_check CHECK (the_one)
);

COMMENT ON TABLE public.event_sequence IS 'One row: the last sequence in the log.';

CREATE TABLE public.feed (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    name text NOT NULL,
    columns jsonb NOT NULL,
    filter jsonb NOT NULL,
    markup numeric(6,2) NOT NULL,
    rounding text NOT NULL,
    vat_included boolean NOT NULL,
    hash bytea NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    addressed_at timestamp with time zone NOT NULL,
    last_read_at timestamp with time zone
);

COMMENT ON TABLE public.feed IS 'Catalogue files that programs read at an address that only the customer knows.';

COMMENT ON COLUMN public.feed.columns IS 'Pairs of a column and its heading, in the order of the file.';

COMMENT ON COLUMN public.feed.filter IS 'Parameters of GET /product.';

COMMENT ON COLUMN public.feed.markup IS 'Per cent that the prices are above what the customer pays.';

COMMENT ON COLUMN public.feed.hash IS 'Of the secret in the address.';

COMMENT ON COLUMN public.feed.secret IS 'The secret in the address, encrypted.';

COMMENT ON COLUMN public.feed.addressed_at IS 'When the address was made.';

ALTER TABLE public.feed ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.feed_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.forgotten_password (
    id bigint NOT NULL,
    site text NOT NULL,
    email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT forgotten_password_site_check CHECK ((site = ANY (ARRAY['staff'::text, 'account'::text])))
);

COMMENT ON TABLE public.forgotten_password IS 'What was typed, known or not: the worker looks it up, so that a response tells nothing, not even by its time.';

ALTER TABLE public.forgotten_password ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.forgotten_password_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.idempotency_key (
    customer_id bigint NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.01');

COMMENT ON TABLE public.idempotency_key IS 'Written in the transaction of what the key made.';

COMMENT ON COLUMN public.idempotency_key.fingerprint IS 'A hash of method, path and canonical JSON body.';

CREATE TABLE public.import_change (
    import_id bigint NOT NULL,
    line integer,
    key text NOT NULL,
    record text NOT NULL,
    before jsonb,
    after jsonb
);

COMMENT ON TABLE public.import_change IS 'The records that recent imports changed. Roll-backs restore `before`.';

COMMENT ON COLUMN public.import_change.import_id IS 'An import_run. Without a foreign key, whose check of each row would take a second in large imports.';

COMMENT ON COLUMN public.import_change.line IS 'The line of the file; null for a record that the file lacks.';

COMMENT ON COLUMN public.import_change.key IS 'The key of the record in the view of its kind.';

COMMENT ON COLUMN public.import_change.record IS 'The record''s key for people.';

COMMENT ON COLUMN public.import_change.before IS 'The changed fields before the import; null for a new record.';

COMMENT ON COLUMN public.import_change.after IS 'The changed fields after the import; null for a deleted record.';

CREATE TABLE public.import_run (
    id bigint NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone NOT NULL,
    made_by text NOT NULL,
    added integer DEFAULT 0 NOT NULL,
    changed integer DEFAULT 0 NOT NULL,
    unchanged integer DEFAULT 0 NOT NULL,
    deactivated integer DEFAULT 0 NOT NULL,
    rolled_back_at timestamp with time zone,
    raised integer,
    lowered integer,
    largest_rise numeric,
    largest_fall numeric,
    customers integer
);

COMMENT ON TABLE public.import_run IS 'Every import, and whether it was rolled back.';

COMMENT ON COLUMN public.import_run.raised IS 'Prices that rose; null for kinds without prices, and before this column existed.';

COMMENT ON COLUMN public.import_run.lowered IS 'Prices that fell; null as `raised`.';

COMMENT ON COLUMN public.import_run.largest_rise IS 'In per cent; null without one.';

COMMENT ON COLUMN public.import_run.largest_fall IS 'In per cent, below 0; null without one.';

COMMENT ON COLUMN public.import_run.customers IS 'Customers whose list or contract had a price that changed; null as `raised`.';

ALTER TABLE public.import_run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.import_run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.incoming_stock (
    product_id bigint NOT NULL,
    expected_on timestamp with time zone NOT NULL,
    incoming integer NOT NULL,
    CONSTRAINT incoming_stock_incoming_check CHECK ((incoming > 0))
);

CREATE TABLE public.installation (
    the_one boolean DEFAULT true NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    demo boolean DEFAULT false NOT NULL,
    sandbox boolean DEFAULT false NOT NULL,
    CONSTRAINT installation_the_one_check CHECK (the_one)
);

COMMENT ON TABLE public.installation IS 'One row. The id makes Message-IDs unique; a demo may issue invoices in the name of the example seller.';

COMMENT ON COLUMN public.installation.sandbox IS 'A sandbox''s database; only programs with SANDBOX=true use it.';

CREATE TABLE public.invoice (
    number bigint NOT NULL,
    order_id bigint NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    supplied_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    gross numeric(18,2) NOT NULL,
    document jsonb NOT NULL,
    pdf bytea NOT NULL,
    customer_id bigint NOT NULL,
    net numeric(18,2) NOT NULL,
    vat numeric(18,2) NOT NULL
);

COMMENT ON COLUMN public.invoice.supplied_at IS 'The time of supply: when the last of the order was dispatched.';

CREATE TABLE public.invoice_balance (
    invoice bigint NOT NULL,
    order_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    gross numeric(18,2) NOT NULL,
    paid numeric(18,2) DEFAULT 0 NOT NULL,
    credited numeric(18,2) DEFAULT 0 NOT NULL,
    due numeric(18,2) GENERATED ALWAYS AS (((gross - paid) - credited)) STORED NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT invoice_balance_credited_check CHECK ((credited >= (0)::numeric)),
    CONSTRAINT invoice_balance_due_check CHECK ((due >= (0)::numeric)),
    CONSTRAINT invoice_balance_paid_check CHECK ((paid >= (0)::numeric))
);

COMMENT ON TABLE public.invoice_balance IS 'What is paid and credited of each invoice, which itself never changes.';

COMMENT ON COLUMN public.invoice_balance.changed_at IS 'When it changed last; triggers set it.';

CREATE TABLE public.invoice_line (
    invoice bigint NOT NULL,
    "position" integer NOT NULL,
    line_id bigint,
    quantity integer NOT NULL,
    net numeric(18,2) NOT NULL,
    vat numeric(18,2) NOT NULL,
    CONSTRAINT invoice_line_quantity_check CHECK ((quantity > 0))
);

COMMENT ON COLUMN public.invoice_line."position" IS 'The place of the line in the document, from 1.';

COMMENT ON COLUMN public.invoice_line.line_id IS 'Null for shipping.';

CREATE TABLE public.invoice_number (
    the_one boolean DEFAULT true NOT NULL,
    last bigint NOT NULL,
    CONSTRAINT invoice_number_the_one_check CHECK (the_one)
);

COMMENT ON TABLE public.invoice_number IS 'One row. Issuing an invoice locks it, so that numbers have no gaps.';

CREATE TABLE public.invoice_reminder (
    invoice bigint NOT NULL,
    stage integer NOT NULL,
    reminded_at timestamp with time zone NOT NULL,
    CONSTRAINT invoice_reminder_stage_check CHECK ((stage > 0))
);

COMMENT ON COLUMN public.invoice_reminder.stage IS 'The days past the due date at which this reminder is sent.';

CREATE TABLE public.issuer_key (
    kid text NOT NULL,
    public_key text NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone
);

COMMENT ON TABLE public.issuer_key IS 'The keys that sign consent.';

COMMENT ON COLUMN public.issuer_key.public_key IS 'A JSON Web Key.';

COMMENT ON COLUMN public.issuer_key.private_key IS 'A JSON Web Key, encrypted.';

COMMENT ON COLUMN public.issuer_key.retired_at IS 'Null: it signs. A retired key stays public while tokens of it are valid.';

CREATE TABLE public.known_browser (
    id bigint NOT NULL,
    hash bytea NOT NULL,
    staff_id bigint,
    user_id bigint,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT known_browser_check CHECK ((num_nonnulls(staff_id, user_id) = 1))
);

COMMENT ON TABLE public.known_browser IS 'Browsers in which a person has signed in. A sign-in in another one sends an e-mail.';

COMMENT ON COLUMN public.known_browser.hash IS 'SHA-256 of the value in a cookie of its own.';

ALTER TABLE public.known_browser ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.known_browser_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.manufacturer (
    key text NOT NULL,
    name text NOT NULL,
    active boolean DEFAULT true NOT NULL
);

CREATE TABLE public.one_time_link (
    id bigint NOT NULL,
    hash bytea NOT NULL,
    staff_id bigint,
    user_id bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT one_time_link_check CHECK ((num_nonnulls(staff_id, user_id) = 1))
);

COMMENT ON TABLE public.one_time_link IS 'Links at which staff members and users set their password.';

COMMENT ON COLUMN public.one_time_link.id IS 'Random. The secret in the link is derived from it and from the secret key.';

CREATE TABLE public.order_approval (
    order_id bigint NOT NULL,
    requested_by bigint,
    requested_at timestamp with time zone NOT NULL,
    shipping_method integer NOT NULL,
    gross numeric(18,2) NOT NULL,
    note text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    decided_by bigint,
    decided_at timestamp with time zone,
    reason text DEFAULT ''::text NOT NULL,
    agent text DEFAULT ''::text NOT NULL,
    former_orders bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    priced_at timestamp with time zone,
    former_declines jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT order_approval_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'declined'::text])))
);

COMMENT ON COLUMN public.order_approval.agent IS 'The agent of the user that asked; empty: the user did.';

COMMENT ON COLUMN public.order_approval.former_orders IS 'The orders that it was for, until they were priced again.';

COMMENT ON COLUMN public.order_approval.priced_at IS 'When its order was priced again.';

COMMENT ON COLUMN public.order_approval.former_declines IS 'The declines of a quote that was asked for again since: gross, decided_by, decided_at and reason of each.';

CREATE TABLE public.order_change (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    units jsonb NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT order_change_kind_check CHECK ((kind = ANY (ARRAY['cancelled'::text, 'amended'::text])))
);

COMMENT ON TABLE public.order_change IS 'Changes of confirmed orders: cancelled parts and amendments.';

COMMENT ON COLUMN public.order_change.units IS 'The cancelled units by line id.';

ALTER TABLE public.order_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.order_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.order_line (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    "position" integer NOT NULL,
    product_id bigint NOT NULL,
    sku text NOT NULL,
    name text NOT NULL,
    quantity integer NOT NULL,
    unit_cost numeric(12,2) NOT NULL,
    cost_net numeric(18,2) NOT NULL,
    cost_tax numeric(18,2) NOT NULL,
    allocated integer DEFAULT 0 NOT NULL,
    back_ordered integer DEFAULT 0 NOT NULL,
    bundle_line_id bigint,
    dispatched integer DEFAULT 0 NOT NULL,
    cancelled integer DEFAULT 0 NOT NULL,
    returned integer DEFAULT 0 NOT NULL,
    requested_unit_cost numeric(12,2),
    unbilled integer DEFAULT 0 NOT NULL,
    CONSTRAINT order_line_check CHECK (((LEAST(quantity, allocated, back_ordered, dispatched, cancelled, returned, unbilled) >= 0) AND (unit_cost >= (0)::numeric)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.01');

COMMENT ON COLUMN public.order_line.quantity IS 'Units still wanted: ordered less cancelled. A cancelled order keeps what was wanted when it was cancelled.';

COMMENT ON COLUMN public.order_line.allocated IS 'Units promised and not yet dispatched.';

COMMENT ON COLUMN public.order_line.bundle_line_id IS 'Of a component: the line of the bundle, which alone has a price and takes stock.';

COMMENT ON COLUMN public.order_line.cancelled IS 'Units cancelled, one part or the whole order at a time.';

COMMENT ON COLUMN public.order_line.returned IS 'Dispatched units that came back.';

COMMENT ON COLUMN public.order_line.requested_unit_cost IS 'Of a priced quote: the unit cost at the request.';

COMMENT ON COLUMN public.order_line.unbilled IS 'Units that came back before they were invoiced; they cost nothing.';

ALTER TABLE public.order_line ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.order_line_id_seq
    START WITH 700001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.order_note (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    noted_by text NOT NULL,
    text text NOT NULL,
    by_customer boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE public.order_note IS 'Notes about orders. Customers see their own, and none of the reseller''s.';

ALTER TABLE public.order_note ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.order_note_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.order_number
    START WITH 100001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE public.return_number
    START WITH 1001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.order_return (
    id bigint DEFAULT nextval('public.return_number'::regclass) NOT NULL,
    order_id bigint NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone,
    closed_at timestamp with time zone,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT order_return_state_check CHECK ((state = ANY (ARRAY['open'::text, 'received'::text, 'closed'::text])))
);

COMMENT ON COLUMN public.order_return.id IS 'The number, without the prefix RMA-.';

COMMENT ON COLUMN public.order_return.changed_at IS 'When it changed last; triggers set it.';

CREATE TABLE public.orders (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    confirmation_code text NOT NULL,
    number bigint,
    order_reference text,
    customer_reference text NOT NULL,
    external_customer_id text,
    billing_address jsonb NOT NULL,
    shipping_address jsonb NOT NULL,
    order_notifications jsonb,
    courier_notifications jsonb,
    shipping_region integer NOT NULL,
    shipping_options jsonb NOT NULL,
    shipping_method integer,
    shipping_weight numeric(14,3) NOT NULL,
    shipping_net numeric(14,2),
    shipping_tax numeric(14,2),
    cost_net numeric(18,2) NOT NULL,
    cost_tax numeric(18,2) NOT NULL,
    tax_rate numeric(5,2) NOT NULL,
    gross numeric(18,2) GENERATED ALWAYS AS ((((cost_net + cost_tax) + COALESCE(shipping_net, (0)::numeric)) + COALESCE(shipping_tax, (0)::numeric))) STORED NOT NULL,
    paid numeric(18,2) DEFAULT 0 NOT NULL,
    status text,
    term_days integer,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    confirmed_at timestamp with time zone,
    priced_at timestamp with time zone,
    pricings integer DEFAULT 0 NOT NULL,
    quote_note text,
    cancelled_at timestamp with time zone,
    cancel_reason text,
    support_told_at timestamp with time zone,
    reminded_pricing integer DEFAULT 0 NOT NULL,
    expected_changed_at timestamp with time zone,
    credited numeric(18,2) DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    allow_back_orders boolean DEFAULT true NOT NULL,
    external_id text,
    in_basket_of bigint,
    CONSTRAINT orders_check CHECK (((number IS NULL) = (confirmed_at IS NULL))),
    CONSTRAINT orders_check1 CHECK (((number IS NULL) = (order_reference IS NULL))),
    CONSTRAINT orders_check2 CHECK (((number IS NULL) OR (shipping_method IS NOT NULL))),
    CONSTRAINT orders_check3 CHECK (((kind = 'quote'::text) OR (priced_at IS NULL))),
    CONSTRAINT orders_kind_check CHECK ((kind = ANY (ARRAY['order'::text, 'quote'::text]))),
    CONSTRAINT orders_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'expired'::text, 'confirmed'::text, 'cancelled'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.01');

COMMENT ON COLUMN public.orders.number IS 'The number in the order reference, given at confirmation.';

COMMENT ON COLUMN public.orders.term_days IS 'The credit term agreed when the order was confirmed.';

COMMENT ON COLUMN public.orders.priced_at IS 'When support last priced the quote; it cannot be confirmed before.';

COMMENT ON COLUMN public.orders.support_told_at IS 'When the mail that asks support for a price went out.';

COMMENT ON COLUMN public.orders.reminded_pricing IS 'The pricing of a quote whose end the customer was reminded of; 0: none.';

COMMENT ON COLUMN public.orders.expected_changed_at IS 'When the expected dates of a back-order changed last, after its confirmation.';

COMMENT ON COLUMN public.orders.credited IS 'The gross of the credit notes against the invoices of the order.';

COMMENT ON COLUMN public.orders.changed_at IS 'When what the customer sees of the order changed last; triggers set it.';

COMMENT ON COLUMN public.orders.allow_back_orders IS 'Whether the order may wait for stock, as its creation said.';

COMMENT ON COLUMN public.orders.external_id IS 'The reseller''s own id of the order, which the customer never sees.';

COMMENT ON COLUMN public.orders.in_basket_of IS 'The user whose basket still has the lines of the order, until it is confirmed; null: nobody''s.';

ALTER TABLE public.orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.packing_video (
    order_id bigint NOT NULL,
    video_file text NOT NULL,
    streaming_playlist text NOT NULL
);

CREATE UNLOGGED TABLE public.password_failure (
    id bigint NOT NULL,
    account text NOT NULL,
    address text NOT NULL,
    failed_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.password_failure IS 'Unlogged: after a crash, the count starts again.';

COMMENT ON COLUMN public.password_failure.account IS 'The address that was typed, in lower case, whether known or not.';

ALTER TABLE public.password_failure ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.password_failure_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.payment (
    id bigint NOT NULL,
    amount numeric(18,2) NOT NULL,
    recorded_at timestamp with time zone CONSTRAINT payment_paid_at_not_null NOT NULL,
    customer_id bigint NOT NULL,
    received_on date NOT NULL,
    counts_from timestamp with time zone NOT NULL,
    method text NOT NULL,
    reference text NOT NULL,
    reversed_at timestamp with time zone,
    reversal_reason text,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT payment_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT payment_check CHECK (((reversed_at IS NULL) = (reversal_reason IS NULL))),
    CONSTRAINT payment_method_check CHECK ((method = ANY (ARRAY['bank_transfer'::text, 'direct_debit'::text, 'card'::text, 'cheque'::text, 'cash'::text, 'other'::text, 'refund'::text])))
);

COMMENT ON COLUMN public.payment.counts_from IS 'From when it counts on statements: when it was recorded, or an earlier day.';

COMMENT ON COLUMN public.payment.changed_at IS 'When it changed last; triggers set it.';

ALTER TABLE public.payment ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.payment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.picture (
    digest text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    added_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.picture ALTER COLUMN content SET STORAGE EXTERNAL;

COMMENT ON TABLE public.picture IS 'Pictures of products, which never change.';

COMMENT ON COLUMN public.picture.digest IS 'The SHA-256 of the content in hexadecimal digits, which the address has.';

CREATE TABLE public.price (
    price_list text NOT NULL,
    product_id bigint NOT NULL,
    single_unit_cost numeric(12,2) NOT NULL,
    five_plus_unit_cost numeric(12,2),
    ten_plus_unit_cost numeric(12,2),
    changed_by xid8,
    CONSTRAINT price_five_plus_unit_cost_check CHECK ((five_plus_unit_cost >= (0)::numeric)),
    CONSTRAINT price_single_unit_cost_check CHECK ((single_unit_cost >= (0)::numeric)),
    CONSTRAINT price_ten_plus_unit_cost_check CHECK ((ten_plus_unit_cost >= (0)::numeric))
);

COMMENT ON COLUMN public.price.changed_by IS 'The transaction that wrote the row last; null: before this column existed.';

CREATE TABLE public.price_alert (
    user_id bigint NOT NULL,
    list_id bigint NOT NULL,
    known jsonb NOT NULL,
    changes jsonb DEFAULT '{}'::jsonb NOT NULL,
    checked_on date NOT NULL
);

COMMENT ON COLUMN public.price_alert.known IS 'The price of one unit by product id, as the user knows it.';

COMMENT ON COLUMN public.price_alert.changes IS 'What an e-mail tells of each day, such as 2026-11-30: before and after by product id.';

CREATE TABLE public.price_list (
    key text NOT NULL
);

CREATE TABLE public.product (
    id bigint NOT NULL,
    sku text NOT NULL,
    sku_key text NOT NULL,
    ean text,
    name text NOT NULL,
    manufacturer text NOT NULL,
    weight_kg numeric(10,3) DEFAULT 0 NOT NULL,
    box_width_mm numeric(10,1) DEFAULT 0 NOT NULL,
    box_height_mm numeric(10,1) DEFAULT 0 NOT NULL,
    box_length_mm numeric(10,1) DEFAULT 0 NOT NULL,
    clearance_product boolean DEFAULT false NOT NULL,
    configurable boolean DEFAULT false NOT NULL,
    consumer_unit_cost numeric(12,2) DEFAULT 0 NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    description_html text DEFAULT ''::text NOT NULL,
    short_description text DEFAULT ''::text NOT NULL,
    store_url text DEFAULT ''::text NOT NULL,
    images jsonb DEFAULT '[]'::jsonb NOT NULL,
    categories jsonb DEFAULT '[]'::jsonb NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    related_products jsonb DEFAULT '[]'::jsonb NOT NULL,
    similar_products jsonb DEFAULT '[]'::jsonb NOT NULL,
    active boolean DEFAULT true NOT NULL,
    components jsonb DEFAULT '[]'::jsonb NOT NULL,
    purchase_cost numeric(12,2),
    documents jsonb DEFAULT '[]'::jsonb NOT NULL,
    external_id text,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT product_purchase_cost_check CHECK ((purchase_cost >= (0)::numeric))
);

COMMENT ON COLUMN public.product.sku_key IS 'The SKU without regard to case, as the application folds it.';

COMMENT ON COLUMN public.product.components IS 'Of a bundle: key (a sku_key) and quantity of what one of it holds.';

COMMENT ON COLUMN public.product.purchase_cost IS 'What the reseller pays for a unit; customers never see it.';

COMMENT ON COLUMN public.product.documents IS 'Datasheets and other links: objects with `name` and `url`.';

COMMENT ON COLUMN public.product.external_id IS 'The reseller''s own id of the product, which customers never see.';

COMMENT ON COLUMN public.product.changed_at IS 'When it changed last; triggers set it.';

CREATE TABLE public.product_below_cost (
    product_id bigint NOT NULL
);

COMMENT ON TABLE public.product_below_cost IS 'Products with a list price below the purchase cost; triggers keep it.';

ALTER TABLE public.product ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.product_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.product_without_price (
    product_id bigint NOT NULL
);

COMMENT ON TABLE public.product_without_price IS 'Products on no price list; triggers keep it.';

CREATE TABLE public.quote_link (
    order_id bigint NOT NULL,
    id bigint NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

COMMENT ON TABLE public.quote_link IS 'The link in the e-mail of a priced quote; a new price replaces it.';

COMMENT ON COLUMN public.quote_link.id IS 'Random. The secret in the link is derived from it and from the secret key.';

CREATE TABLE public.recovery_code (
    hash bytea NOT NULL,
    second_factor_id bigint NOT NULL,
    used_at timestamp with time zone
);

COMMENT ON COLUMN public.recovery_code.hash IS 'SHA-256 of a code of 128 random bits.';

CREATE TABLE public.refresh_token (
    hash bytea NOT NULL,
    grant_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

COMMENT ON TABLE public.refresh_token IS 'A used one is kept until it expires: when it comes again, its grant ends.';

CREATE TABLE public.remittance (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    user_id bigint,
    amount numeric(18,2) NOT NULL,
    paid_on date NOT NULL,
    reference text NOT NULL,
    invoices bigint[] NOT NULL,
    told_at timestamp with time zone NOT NULL,
    payment_id bigint,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT remittance_amount_check CHECK ((amount > (0)::numeric))
);

COMMENT ON COLUMN public.remittance.payment_id IS 'The payment that a bank file had of it; null while it is awaited.';

COMMENT ON COLUMN public.remittance.changed_at IS 'When it changed last; a trigger sets it.';

ALTER TABLE public.remittance ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.remittance_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.removed_price (
    price_list text,
    customer_id bigint,
    product_id bigint NOT NULL,
    changed_by xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT removed_price_check CHECK (((price_list IS NULL) <> (customer_id IS NULL)))
);

COMMENT ON TABLE public.removed_price IS 'Deleted prices of lists and of contracts, until their change is announced.';

CREATE TABLE public.repeated_bank_line (
    bank_line_id bigint NOT NULL,
    bank_file_id bigint NOT NULL,
    line integer NOT NULL
);

COMMENT ON TABLE public.repeated_bank_line IS 'Lines of a file that an earlier file stored. If that one is rolled back, they belong to this one.';

CREATE UNLOGGED TABLE public.request_count (
    customer_id bigint NOT NULL,
    window_start timestamp with time zone NOT NULL,
    requests bigint NOT NULL
);

COMMENT ON TABLE public.request_count IS 'Requests of a customer in a window, added up from all processes.';

CREATE TABLE public.request_file (
    id bigint NOT NULL,
    request_id bigint NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL
);

ALTER TABLE public.request_file ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.request_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.request_log (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    caller text NOT NULL,
    at timestamp with time zone NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status integer DEFAULT 0 NOT NULL,
    code text DEFAULT ''::text NOT NULL,
    milliseconds integer,
    request_id text,
    bytes bigint,
    count bigint
);

COMMENT ON TABLE public.request_log IS 'Requests of keys, applications and agents in the last seven days.';

COMMENT ON COLUMN public.request_log.caller IS 'key/ID, application/CLIENT_ID or agent/ID.';

COMMENT ON COLUMN public.request_log.path IS 'Without the query; of counted requests, the path of the operation.';

COMMENT ON COLUMN public.request_log.count IS 'How many requests of the minute the row stands for; null: one.';

ALTER TABLE public.request_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.request_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.return_line (
    return_id bigint NOT NULL,
    line_id bigint NOT NULL,
    quantity integer NOT NULL,
    restocked integer DEFAULT 0 NOT NULL,
    scrapped integer DEFAULT 0 NOT NULL,
    credited integer DEFAULT 0 NOT NULL,
    serial_numbers text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT return_line_check CHECK (((restocked + scrapped) <= quantity)),
    CONSTRAINT return_line_check1 CHECK ((credited <= (restocked + scrapped))),
    CONSTRAINT return_line_credited_check CHECK ((credited >= 0)),
    CONSTRAINT return_line_quantity_check CHECK ((quantity > 0)),
    CONSTRAINT return_line_restocked_check CHECK ((restocked >= 0)),
    CONSTRAINT return_line_scrapped_check CHECK ((scrapped >= 0))
);

COMMENT ON COLUMN public.return_line.credited IS 'Units that came back and are on a credit note, or were not invoiced.';

CREATE TABLE public.revoked_consent (
    client_id text NOT NULL,
    customer_id bigint NOT NULL,
    revoked_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.revoked_consent IS 'Subject tokens issued until then are no longer exchanged.';

CREATE TABLE public.saved_list (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    user_id bigint,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.saved_list.user_id IS 'Whose own list it is; null for one of all users of the customer.';

COMMENT ON COLUMN public.saved_list.changed_at IS 'When it changed last; triggers set it.';

ALTER TABLE public.saved_list ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.saved_list_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.saved_list_line (
    list_id bigint NOT NULL,
    product_id bigint NOT NULL,
    quantity integer NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT saved_list_line_quantity_check CHECK ((quantity > 0))
);

ALTER TABLE public.saved_list_line ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.saved_list_line_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.saved_view (
    id bigint NOT NULL,
    staff_id bigint NOT NULL,
    name text NOT NULL,
    path text NOT NULL,
    query text NOT NULL,
    shared boolean NOT NULL,
    on_today boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);

COMMENT ON COLUMN public.saved_view.shared IS 'Whether all staff see it who may open the list.';

ALTER TABLE public.saved_view ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.saved_view_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.second_factor (
    id bigint NOT NULL,
    staff_id bigint,
    user_id bigint,
    session_id bigint,
    secret bytea NOT NULL,
    last_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    CONSTRAINT second_factor_check CHECK ((num_nonnulls(staff_id, user_id) = 1))
);

COMMENT ON TABLE public.second_factor IS 'Time-based one-time passwords (RFC 6238).';

COMMENT ON COLUMN public.second_factor.session_id IS 'Where it was begun: no other session shows the secret or confirms it, so that a person never confirms the secret of a stranger who knows the password.';

COMMENT ON COLUMN public.second_factor.secret IS 'Encrypted.';

COMMENT ON COLUMN public.second_factor.last_step IS 'The step of the last good code: codes of later steps only are good.';

COMMENT ON COLUMN public.second_factor.confirmed_at IS 'Null until the first code; a person''s former one stays until then.';

ALTER TABLE public.second_factor ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.second_factor_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.secret_key (
    fingerprint text NOT NULL,
    used_since timestamp with time zone NOT NULL,
    retired_at timestamp with time zone
);

COMMENT ON TABLE public.secret_key IS 'Fingerprints of the keys that data in this database may be encrypted with.';

CREATE TABLE public.serial_number (
    id bigint NOT NULL,
    shipment_id bigint NOT NULL,
    line_id bigint NOT NULL,
    serial_number text NOT NULL,
    mac_address text DEFAULT ''::text NOT NULL,
    provisioning_sku text DEFAULT ''::text NOT NULL
);

ALTER TABLE public.serial_number ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.serial_number_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.service_token (
    id bigint NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT service_token_scopes_check CHECK ((cardinality(scopes) > 0))
);

ALTER TABLE public.service_token ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.service_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.session (
    id bigint NOT NULL,
    hash bytea NOT NULL,
    staff_id bigint,
    user_id bigint,
    needs_second_factor boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    proven_at timestamp with time zone NOT NULL,
    address text NOT NULL,
    browser text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT session_check CHECK ((num_nonnulls(staff_id, user_id) = 1))
);

COMMENT ON COLUMN public.session.hash IS 'SHA-256 of the value in the cookie.';

COMMENT ON COLUMN public.session.needs_second_factor IS 'Only the password is checked so far. The next step makes a new session.';

COMMENT ON COLUMN public.session.seen_at IS 'The last request, exact to a minute.';

COMMENT ON COLUMN public.session.proven_at IS 'When the password or a code was last asked for.';

COMMENT ON COLUMN public.session.browser IS 'The User-Agent header.';

ALTER TABLE public.session ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.session_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.shipment (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    shipping_method integer NOT NULL,
    tracking_number text,
    contact_email text,
    contact_phone text,
    dispatched_at timestamp with time zone NOT NULL,
    invoice bigint,
    carrier text
);

COMMENT ON COLUMN public.shipment.contact_email IS 'Whom the courier tells, as the order said (courier_notifications).';

COMMENT ON COLUMN public.shipment.invoice IS 'The invoice of its units; null until they are invoiced.';

COMMENT ON COLUMN public.shipment.carrier IS 'Null: the provider of its shipping method.';

ALTER TABLE public.shipment ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.shipment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.shipment_line (
    shipment_id bigint NOT NULL,
    line_id bigint NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT shipment_line_quantity_check CHECK ((quantity > 0))
);

CREATE TABLE public.shipping_method (
    id integer NOT NULL,
    provider text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    region integer NOT NULL,
    countries jsonb NOT NULL,
    max_weight_kg numeric(10,3) NOT NULL,
    base_cost_net numeric(12,2) NOT NULL,
    cost_per_kg_net numeric(12,2) DEFAULT 0 NOT NULL,
    transit_days integer DEFAULT 1 NOT NULL,
    cut_off time without time zone DEFAULT '17:00:00'::time without time zone NOT NULL,
    active boolean DEFAULT true NOT NULL,
    tracking_url text,
    CONSTRAINT shipping_method_base_cost_net_check CHECK ((base_cost_net >= (0)::numeric)),
    CONSTRAINT shipping_method_cost_per_kg_net_check CHECK ((cost_per_kg_net >= (0)::numeric)),
    CONSTRAINT shipping_method_transit_days_check CHECK ((transit_days >= 0))
);

COMMENT ON COLUMN public.shipping_method.tracking_url IS 'With {tracking_number} in the place of the number.';

CREATE TABLE public.shipping_region (
    id integer NOT NULL,
    name text NOT NULL,
    countries jsonb DEFAULT '[]'::jsonb NOT NULL,
    postcodes jsonb DEFAULT '[]'::jsonb NOT NULL,
    active boolean DEFAULT true NOT NULL
);

COMMENT ON COLUMN public.shipping_region.postcodes IS 'British areas such as BT and districts such as KW15.';

CREATE TABLE public.staff_member (
    id bigint NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    name text NOT NULL,
    password_hash text,
    roles text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT staff_member_roles_check CHECK (((cardinality(roles) > 0) AND (roles <@ ARRAY['support'::text, 'warehouse'::text, 'finance'::text, 'catalogue'::text, 'administrator'::text])))
);

COMMENT ON COLUMN public.staff_member.email_key IS 'The address in lower case.';

COMMENT ON COLUMN public.staff_member.password_hash IS 'Argon2; null until the member sets a password.';

ALTER TABLE public.staff_member ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.staff_member_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.stock_alert (
    user_id bigint NOT NULL,
    product_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    in_stock_at timestamp with time zone
);

COMMENT ON COLUMN public.stock_alert.in_stock_at IS 'When the user was told; null while the user waits.';

CREATE TABLE public.stock_level (
    product_id bigint NOT NULL,
    available bigint DEFAULT 0 NOT NULL,
    allocated bigint DEFAULT 0 NOT NULL,
    back_ordered bigint DEFAULT 0 NOT NULL,
    changed_by xid8 DEFAULT pg_current_xact_id() NOT NULL,
    location text DEFAULT ''::text NOT NULL,
    CONSTRAINT stock_level_check CHECK ((LEAST(available, allocated, back_ordered) >= 0))
);

COMMENT ON COLUMN public.stock_level.available IS 'Units that can still be sold.';

COMMENT ON COLUMN public.stock_level.allocated IS 'Units promised to confirmed orders and not yet dispatched.';

COMMENT ON COLUMN public.stock_level.back_ordered IS 'Units ordered that no stock could be allocated to.';

COMMENT ON COLUMN public.stock_level.changed_by IS 'The transaction that changed `available` or `back_ordered` last; processes read what is new.';

COMMENT ON COLUMN public.stock_level.location IS 'The place in the warehouse, such as a shelf; empty if unknown.';

CREATE TABLE public.synonym_group (
    key text NOT NULL,
    words text NOT NULL,
    active boolean DEFAULT true NOT NULL
);

CREATE TABLE public.taken_back_shipment (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    tracking_number text,
    dispatched_at timestamp with time zone NOT NULL,
    units jsonb NOT NULL,
    reason text NOT NULL,
    taken_back_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.taken_back_shipment IS 'Shipments that never left, although they were recorded as dispatched.';

COMMENT ON COLUMN public.taken_back_shipment.id IS 'The id that the shipment had.';

COMMENT ON COLUMN public.taken_back_shipment.units IS 'The units that are allocated again, by line id.';

CREATE TABLE public.tracking_event (
    id bigint NOT NULL,
    shipment_id bigint NOT NULL,
    date text NOT NULL,
    type text NOT NULL,
    description text NOT NULL,
    locality text DEFAULT ''::text NOT NULL,
    in_second_hour boolean DEFAULT false NOT NULL
);

COMMENT ON COLUMN public.tracking_event.in_second_hour IS 'When clocks go back, a local time occurs twice: whether `date` is the second occurrence.';

ALTER TABLE public.tracking_event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tracking_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.unnumbered_event (
    "position" bigint NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    subject text NOT NULL,
    customer_id bigint,
    for_customer boolean NOT NULL,
    data jsonb NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

COMMENT ON TABLE public.unnumbered_event IS 'Events of committed transactions that are not in the log yet.';

COMMENT ON COLUMN public.unnumbered_event."position" IS 'Drawn after the lock on the subject is taken, so the events of a subject are in their order.';

ALTER TABLE public.unnumbered_event ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.unnumbered_event_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.vat_day (
    day date NOT NULL,
    kind text NOT NULL,
    country text NOT NULL,
    rate numeric(5,2) NOT NULL,
    documents bigint NOT NULL,
    net numeric(18,2) NOT NULL,
    vat numeric(18,2) NOT NULL,
    CONSTRAINT vat_day_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text])))
);

COMMENT ON TABLE public.vat_day IS 'Sums of invoices by the UK day of their tax point, of credit notes by that of issue; triggers keep them.';

COMMENT ON COLUMN public.vat_day.country IS 'That of the delivery.';

CREATE TABLE public.webhook (
    id bigint NOT NULL,
    customer_id bigint,
    url text NOT NULL,
    types text[] NOT NULL,
    description text NOT NULL,
    state text NOT NULL,
    reason text,
    secret bytea NOT NULL,
    former_secret bytea,
    former_secret_until timestamp with time zone,
    read_up_to bigint NOT NULL,
    failing_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webhook_check CHECK (((former_secret IS NULL) = (former_secret_until IS NULL))),
    CONSTRAINT webhook_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);

COMMENT ON COLUMN public.webhook.customer_id IS 'Whose events it gets; null: the reseller, who gets all.';

COMMENT ON COLUMN public.webhook.types IS 'Empty: all types.';

COMMENT ON COLUMN public.webhook.reason IS 'Why it is not active; null: its owner paused it.';

COMMENT ON COLUMN public.webhook.secret IS 'Encrypted, as is the former one.';

COMMENT ON COLUMN public.webhook.read_up_to IS 'The sequence up to which every event for it has its delivery.';

COMMENT ON COLUMN public.webhook.failing_since IS 'The first failure since the last success; null: the last attempt succeeded.';

COMMENT ON COLUMN public.webhook.changed_at IS 'When it changed last; a trigger sets it.';

CREATE TABLE public.webhook_attempt (
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    status smallint,
    milliseconds integer NOT NULL,
    error text,
    response text NOT NULL
);

COMMENT ON COLUMN public.webhook_attempt.response IS 'The first 2 kB of the body.';

CREATE TABLE public.webhook_delivery (
    id bigint NOT NULL,
    webhook_id bigint NOT NULL,
    sequence bigint,
    event_id text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    delivered_at timestamp with time zone,
    CONSTRAINT webhook_delivery_check CHECK (((delivered_at IS NULL) OR (next_attempt_at IS NULL)))
);

COMMENT ON COLUMN public.webhook_delivery.sequence IS 'The event; null for a ping.';

COMMENT ON COLUMN public.webhook_delivery.retries IS 'Failures since the endpoint was last set active; the wait grows with them.';

COMMENT ON COLUMN public.webhook_delivery.next_attempt_at IS 'Null while an earlier delivery of the subject waits, and after success. An attempt moves it on before it begins, so that a delivery of a killed worker is repeated.';

ALTER TABLE public.webhook_delivery ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.webhook ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_balance
    ADD CONSTRAINT account_balance_pkey PRIMARY KEY (customer_id);

ALTER TABLE ONLY public.address
    ADD CONSTRAINT address_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agent_client
    ADD CONSTRAINT agent_client_pkey PRIMARY KEY (client_id);

ALTER TABLE ONLY public.agent_consent
    ADD CONSTRAINT agent_consent_code_hash_key UNIQUE (code_hash);

ALTER TABLE ONLY public.agent_consent
    ADD CONSTRAINT agent_consent_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agent_order
    ADD CONSTRAINT agent_order_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY public.agent_token
    ADD CONSTRAINT agent_token_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.allocation
    ADD CONSTRAINT allocation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announced
    ADD CONSTRAINT announced_pkey PRIMARY KEY (the_one);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.application
    ADD CONSTRAINT application_pkey PRIMARY KEY (client_id);

ALTER TABLE ONLY public.attribute
    ADD CONSTRAINT attribute_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bank_file
    ADD CONSTRAINT bank_file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bank_line
    ADD CONSTRAINT bank_line_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.basket_line
    ADD CONSTRAINT basket_line_pkey PRIMARY KEY (user_id, product_id);

ALTER TABLE ONLY public.blocked_address
    ADD CONSTRAINT blocked_address_pkey PRIMARY KEY (address);

ALTER TABLE ONLY public.caller_idempotency_key
    ADD CONSTRAINT caller_idempotency_key_pkey PRIMARY KEY (caller, key);

ALTER TABLE ONLY public.catalogue_change_mark
    ADD CONSTRAINT catalogue_change_mark_pkey PRIMARY KEY (at);

ALTER TABLE ONLY public.catalogue_change
    ADD CONSTRAINT catalogue_change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.catalogue_layout
    ADD CONSTRAINT catalogue_layout_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.category
    ADD CONSTRAINT category_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_pkey PRIMARY KEY (topic);

ALTER TABLE ONLY public.chosen_alert
    ADD CONSTRAINT chosen_alert_pkey PRIMARY KEY (user_id, kind);

ALTER TABLE ONLY public.configuration
    ADD CONSTRAINT configuration_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.consent_grant
    ADD CONSTRAINT consent_grant_code_hash_key UNIQUE (code_hash);

ALTER TABLE ONLY public.consent_grant
    ADD CONSTRAINT consent_grant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.consent
    ADD CONSTRAINT consent_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.contract_price
    ADD CONSTRAINT contract_price_customer_id_product_id_valid_from_key UNIQUE NULLS NOT DISTINCT (customer_id, product_id, valid_from);

ALTER TABLE ONLY public.contract_price
    ADD CONSTRAINT contract_price_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.credit_exposure
    ADD CONSTRAINT credit_exposure_pkey PRIMARY KEY (customer_id);

ALTER TABLE ONLY public.credit_note_line
    ADD CONSTRAINT credit_note_line_pkey PRIMARY KEY (credit_note, "position");

ALTER TABLE ONLY public.credit_note_number
    ADD CONSTRAINT credit_note_number_pkey PRIMARY KEY (the_one);

ALTER TABLE ONLY public.credit_note
    ADD CONSTRAINT credit_note_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.customer_contact
    ADD CONSTRAINT customer_contact_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_email_key_key UNIQUE (email_key);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_external_id_key UNIQUE (external_id) DEFERRABLE;

ALTER TABLE ONLY public.customer_note
    ADD CONSTRAINT customer_note_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.customer_request
    ADD CONSTRAINT customer_request_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.customer_user
    ADD CONSTRAINT customer_user_email_key_key UNIQUE (email_key);

ALTER TABLE ONLY public.customer_user
    ADD CONSTRAINT customer_user_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (sequence);

ALTER TABLE ONLY public.event_sequence
    ADD CONSTRAINT event_sequence_pkey PRIMARY KEY (the_one);

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.forgotten_password
    ADD CONSTRAINT forgotten_password_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (customer_id, key);

ALTER TABLE ONLY public.import_run
    ADD CONSTRAINT import_run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.incoming_stock
    ADD CONSTRAINT incoming_stock_pkey PRIMARY KEY (product_id, expected_on);

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (the_one);

ALTER TABLE ONLY public.invoice_balance
    ADD CONSTRAINT invoice_balance_pkey PRIMARY KEY (invoice);

ALTER TABLE ONLY public.invoice_line
    ADD CONSTRAINT invoice_line_pkey PRIMARY KEY (invoice, "position");

ALTER TABLE ONLY public.invoice_number
    ADD CONSTRAINT invoice_number_pkey PRIMARY KEY (the_one);

ALTER TABLE ONLY public.invoice
    ADD CONSTRAINT invoice_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.invoice_reminder
    ADD CONSTRAINT invoice_reminder_pkey PRIMARY KEY (invoice, stage);

ALTER TABLE ONLY public.issuer_key
    ADD CONSTRAINT issuer_key_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY public.known_browser
    ADD CONSTRAINT known_browser_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.manufacturer
    ADD CONSTRAINT manufacturer_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT one_time_link_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT one_time_link_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.order_approval
    ADD CONSTRAINT order_approval_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY public.order_change
    ADD CONSTRAINT order_change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_order_id_position_key UNIQUE (order_id, "position");

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.order_note
    ADD CONSTRAINT order_note_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.order_return
    ADD CONSTRAINT order_return_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_confirmation_code_key UNIQUE (confirmation_code);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_number_key UNIQUE (number);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_order_reference_key UNIQUE (order_reference);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.packing_video
    ADD CONSTRAINT packing_video_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY public.password_failure
    ADD CONSTRAINT password_failure_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.payment
    ADD CONSTRAINT payment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.picture
    ADD CONSTRAINT picture_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.price_alert
    ADD CONSTRAINT price_alert_pkey PRIMARY KEY (user_id, list_id);

ALTER TABLE ONLY public.price_list
    ADD CONSTRAINT price_list_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_pkey PRIMARY KEY (price_list, product_id);

ALTER TABLE ONLY public.product_below_cost
    ADD CONSTRAINT product_below_cost_pkey PRIMARY KEY (product_id);

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_external_id_key UNIQUE (external_id) DEFERRABLE;

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_sku_key_key UNIQUE (sku_key);

ALTER TABLE ONLY public.product_without_price
    ADD CONSTRAINT product_without_price_pkey PRIMARY KEY (product_id);

ALTER TABLE ONLY public.quote_link
    ADD CONSTRAINT quote_link_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.quote_link
    ADD CONSTRAINT quote_link_id_key UNIQUE (id);

ALTER TABLE ONLY public.quote_link
    ADD CONSTRAINT quote_link_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.remittance
    ADD CONSTRAINT remittance_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repeated_bank_line
    ADD CONSTRAINT repeated_bank_line_pkey PRIMARY KEY (bank_line_id, bank_file_id);

ALTER TABLE ONLY public.request_count
    ADD CONSTRAINT request_count_pkey PRIMARY KEY (customer_id, window_start);

ALTER TABLE ONLY public.request_file
    ADD CONSTRAINT request_file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.request_log
    ADD CONSTRAINT request_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.return_line
    ADD CONSTRAINT return_line_pkey PRIMARY KEY (return_id, line_id);

ALTER TABLE ONLY public.revoked_consent
    ADD CONSTRAINT revoked_consent_pkey PRIMARY KEY (client_id, customer_id);

ALTER TABLE ONLY public.saved_list_line
    ADD CONSTRAINT saved_list_line_pkey PRIMARY KEY (list_id, product_id);

ALTER TABLE ONLY public.saved_list
    ADD CONSTRAINT saved_list_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.saved_view
    ADD CONSTRAINT saved_view_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.secret_key
    ADD CONSTRAINT secret_key_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY public.serial_number
    ADD CONSTRAINT serial_number_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.service_token
    ADD CONSTRAINT service_token_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.service_token
    ADD CONSTRAINT service_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.shipment_line
    ADD CONSTRAINT shipment_line_pkey PRIMARY KEY (shipment_id, line_id);

ALTER TABLE ONLY public.shipment
    ADD CONSTRAINT shipment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.shipping_method
    ADD CONSTRAINT shipping_method_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.shipping_region
    ADD CONSTRAINT shipping_region_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.staff_member
    ADD CONSTRAINT staff_member_email_key_key UNIQUE (email_key);

ALTER TABLE ONLY public.staff_member
    ADD CONSTRAINT staff_member_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.stock_alert
    ADD CONSTRAINT stock_alert_pkey PRIMARY KEY (user_id, product_id);

ALTER TABLE ONLY public.stock_level
    ADD CONSTRAINT stock_level_pkey PRIMARY KEY (product_id);

ALTER TABLE ONLY public.synonym_group
    ADD CONSTRAINT synonym_group_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.taken_back_shipment
    ADD CONSTRAINT taken_back_shipment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tracking_event
    ADD CONSTRAINT tracking_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.unnumbered_event
    ADD CONSTRAINT unnumbered_event_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.vat_day
    ADD CONSTRAINT vat_day_pkey PRIMARY KEY (day, kind, country, rate);

ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT webhook_attempt_pkey PRIMARY KEY (delivery_id, attempt);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (id);

CREATE INDEX access_token_expiry ON public.access_token USING btree (expires_at);

CREATE INDEX access_token_of_customer ON public.access_token USING btree (customer_id);

CREATE INDEX access_token_of_grant ON public.access_token USING btree (grant_id) WHERE (grant_id IS NOT NULL);

CREATE INDEX address_deleted ON public.address USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX address_of_customer ON public.address USING btree (customer_id) WHERE (deleted_at IS NULL);

CREATE INDEX agent_client_of_address ON public.agent_client USING btree (address, created_at) WHERE (address IS NOT NULL);

CREATE INDEX agent_consent_of_client ON public.agent_consent USING btree (client_id);

CREATE INDEX agent_consent_of_customer ON public.agent_consent USING btree (customer_id);

CREATE INDEX agent_consent_of_user ON public.agent_consent USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX agent_order_of_day ON public.agent_order USING btree (customer_id, client_id, day);

CREATE INDEX agent_token_by_expiry ON public.agent_token USING btree (expires_at);

CREATE INDEX agent_token_of_consent ON public.agent_token USING btree (consent_id);

CREATE INDEX allocation_of_invoice ON public.allocation USING btree (invoice) WHERE (invoice IS NOT NULL);

CREATE INDEX allocation_of_payment ON public.allocation USING btree (payment_id);

CREATE INDEX allocation_of_refund ON public.allocation USING btree (refund_id) WHERE (refund_id IS NOT NULL);

CREATE INDEX api_key_of_customer ON public.api_key USING btree (customer_id);

CREATE UNIQUE INDEX attribute_by_form ON public.attribute USING btree (lower((NORMALIZE(btrim(key), NFC) COLLATE "C")));

CREATE INDEX audit_entry_by_time ON public.audit_entry USING brin (at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX audit_entry_of_subject ON public.audit_entry USING btree (subject, id);

CREATE INDEX bank_line_by_change ON public.bank_line USING btree (changed_at);

CREATE UNIQUE INDEX bank_line_identity ON public.bank_line USING btree (identity, occurrence);

CREATE INDEX bank_line_of_file ON public.bank_line USING btree (bank_file_id);

CREATE INDEX bank_line_of_payment ON public.bank_line USING btree (payment_id) WHERE (payment_id IS NOT NULL);

CREATE INDEX bank_line_placed_by ON public.bank_line USING btree (placed_by) WHERE (placed_by IS NOT NULL);

CREATE INDEX bank_line_usual ON public.bank_line USING btree (usual) WHERE (state = 'placed'::text);

CREATE INDEX bank_line_waiting ON public.bank_line USING btree (id) WHERE (state = 'unplaced'::text);

CREATE INDEX caller_idempotency_key_by_age ON public.caller_idempotency_key USING btree (created_at);

CREATE INDEX catalogue_change_by_version ON public.catalogue_change USING btree (topic, version);

CREATE INDEX catalogue_change_without_version ON public.catalogue_change USING btree (topic) WHERE (version IS NULL);

CREATE UNIQUE INDEX category_by_form ON public.category USING btree (lower((NORMALIZE(btrim(key), NFC) COLLATE "C")));

CREATE INDEX configuration_of_line ON public.configuration USING btree (line_id);

CREATE INDEX consent_grant_ended ON public.consent_grant USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX consent_grant_of_consent ON public.consent_grant USING btree (consent_id);

CREATE INDEX consent_grant_unused ON public.consent_grant USING btree (code_expires_at) WHERE (code_used_at IS NULL);

CREATE INDEX consent_of_customer ON public.consent USING btree (customer_id);

CREATE INDEX consent_of_user ON public.consent USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX consent_that_stands ON public.consent USING btree (client_id, customer_id) WHERE (revoked_at IS NULL);

CREATE INDEX credential_failure_of_address ON public.credential_failure USING btree (address, failed_at);

CREATE INDEX credit_note_by_change ON public.credit_note USING btree (changed_at);

CREATE INDEX credit_note_by_issue ON public.credit_note USING btree (issued_at, number);

CREATE INDEX credit_note_of_customer ON public.credit_note USING btree (customer_id, number);

CREATE INDEX credit_note_of_invoice ON public.credit_note USING btree (invoice);

CREATE INDEX customer_by_change ON public.customer USING btree (changed_at);

CREATE INDEX customer_contact_of_customer ON public.customer_contact USING btree (customer_id);

CREATE INDEX customer_note_of_customer ON public.customer_note USING btree (customer_id, written_at DESC, id DESC);

CREATE INDEX customer_note_promised ON public.customer_note USING btree (customer_id, id DESC) WHERE (promised_on IS NOT NULL);

CREATE INDEX customer_request_by_change ON public.customer_request USING btree (changed_at);

CREATE INDEX customer_request_of_order ON public.customer_request USING btree (order_id);

CREATE INDEX customer_request_of_user ON public.customer_request USING btree (user_id);

CREATE INDEX customer_request_open ON public.customer_request USING btree (opened_at) WHERE (closed_at IS NULL);

CREATE INDEX customer_user_of_customer ON public.customer_user USING btree (customer_id);

CREATE INDEX event_by_type ON public.event USING btree (type, sequence);

CREATE INDEX event_in_timeline ON public.event USING btree (customer_id, occurred_at DESC, sequence DESC) WHERE ((customer_id IS NOT NULL) AND (type <> ALL (ARRAY['price.changed'::text, 'stock.changed'::text])));

CREATE INDEX event_of_customer ON public.event USING btree (customer_id, sequence) WHERE (customer_id IS NOT NULL);

CREATE INDEX feed_of_customer ON public.feed USING btree (customer_id, id);

CREATE INDEX forgotten_password_by_age ON public.forgotten_password USING btree (created_at);

CREATE INDEX idempotency_key_by_age ON public.idempotency_key USING btree (created_at);

CREATE INDEX import_change_of_import ON public.import_change USING btree (import_id, COALESCE(line, 2147483647));

CREATE INDEX invoice_balance_by_change ON public.invoice_balance USING btree (changed_at);

CREATE INDEX invoice_balance_by_due ON public.invoice_balance USING btree (due, invoice);

CREATE INDEX invoice_balance_by_gross ON public.invoice_balance USING btree (gross, invoice);

CREATE INDEX invoice_balance_of_order ON public.invoice_balance USING btree (order_id);

CREATE INDEX invoice_by_gross ON public.invoice USING btree (gross, number);

CREATE INDEX invoice_by_issue ON public.invoice USING brin (issued_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX invoice_by_supply ON public.invoice USING btree (supplied_at, number);

CREATE INDEX invoice_line_of_line ON public.invoice_line USING btree (line_id) WHERE (line_id IS NOT NULL);

CREATE INDEX invoice_of_customer ON public.invoice USING btree (customer_id, number);

CREATE INDEX invoice_of_order ON public.invoice USING btree (order_id);

CREATE INDEX invoice_unpaid ON public.invoice_balance USING btree (customer_id, due_at, invoice) INCLUDE (due) WHERE (due > (0)::numeric);

CREATE INDEX invoice_without_vat ON public.invoice USING btree (supplied_at, number) WHERE (vat = (0)::numeric);

CREATE UNIQUE INDEX issuer_key_that_signs ON public.issuer_key USING btree ((true)) WHERE (retired_at IS NULL);

CREATE INDEX known_browser_by_age ON public.known_browser USING btree (seen_at);

CREATE UNIQUE INDEX known_browser_of_staff ON public.known_browser USING btree (staff_id, hash) WHERE (staff_id IS NOT NULL);

CREATE UNIQUE INDEX known_browser_of_user ON public.known_browser USING btree (user_id, hash) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX manufacturer_by_form ON public.manufacturer USING btree (lower((NORMALIZE(btrim(key), NFC) COLLATE "C")));

CREATE INDEX one_time_link_by_expiry ON public.one_time_link USING btree (expires_at);

CREATE INDEX one_time_link_of_staff ON public.one_time_link USING btree (staff_id) WHERE (staff_id IS NOT NULL);

CREATE INDEX one_time_link_of_user ON public.one_time_link USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX order_approval_by_decider ON public.order_approval USING btree (decided_by);

CREATE INDEX order_approval_of_former_order ON public.order_approval USING gin (former_orders) WHERE (former_orders <> '{}'::bigint[]);

CREATE INDEX order_approval_of_user ON public.order_approval USING btree (requested_by);

CREATE INDEX order_approval_waiting ON public.order_approval USING btree (order_id) WHERE (state = 'waiting'::text);

CREATE INDEX order_change_of_order ON public.order_change USING btree (order_id);

CREATE INDEX order_line_back_ordered ON public.order_line USING btree (product_id) WHERE (back_ordered > 0);

CREATE INDEX order_line_of_bundle ON public.order_line USING btree (bundle_line_id) WHERE (bundle_line_id IS NOT NULL);

CREATE INDEX order_line_of_product ON public.order_line USING btree (product_id, order_id);

CREATE INDEX order_note_of_order ON public.order_note USING btree (order_id);

CREATE INDEX order_return_by_change ON public.order_return USING btree (changed_at);

CREATE INDEX order_return_of_order ON public.order_return USING btree (order_id);

CREATE INDEX orders_by_change ON public.orders USING btree (customer_id, changed_at) WHERE (state = 'confirmed'::text);

CREATE INDEX orders_by_change_of_any ON public.orders USING btree (changed_at);

CREATE INDEX orders_by_customer_reference ON public.orders USING btree (public.reference_key(customer_reference), customer_id);

CREATE INDEX orders_by_placing ON public.orders USING btree (COALESCE(confirmed_at, created_at), id);

CREATE INDEX orders_by_postcode ON public.orders USING btree (upper(regexp_replace((shipping_address ->> 'zip'::text), '[^[:alnum:]]'::text, ''::text, 'g'::text)) text_pattern_ops);

CREATE INDEX orders_by_reference_digits ON public.orders USING btree ("substring"(customer_reference, '([0-9]{3,})([^0-9]+[0-9]{0,2})*$'::text) text_pattern_ops) WHERE ("substring"(customer_reference, '([0-9]{3,})([^0-9]+[0-9]{0,2})*$'::text) IS NOT NULL);

CREATE INDEX orders_by_reference_word ON public.orders USING btree (lower(regexp_replace(customer_reference, '[^[:alnum:]]'::text, ''::text, 'g'::text)) text_pattern_ops) WHERE (customer_reference <> ''::text);

CREATE INDEX orders_by_status ON public.orders USING btree (status, confirmed_at) INCLUDE (gross, id) WHERE (state = 'confirmed'::text);

CREATE INDEX orders_by_status_and_total ON public.orders USING btree (status, gross, id) WHERE (state = 'confirmed'::text);

CREATE INDEX orders_by_total ON public.orders USING btree (gross, id);

CREATE INDEX orders_cancelled ON public.orders USING btree (COALESCE(confirmed_at, created_at), id) WHERE (state = 'cancelled'::text);

CREATE INDEX orders_expired ON public.orders USING btree (expires_at) WHERE (state = 'expired'::text);

CREATE UNIQUE INDEX orders_external_id_key ON public.orders USING btree (external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX orders_in_baskets ON public.orders USING btree (in_basket_of) WHERE (in_basket_of IS NOT NULL);

CREATE INDEX orders_of_any_state ON public.orders USING btree (customer_id, id);

CREATE INDEX orders_of_customer ON public.orders USING btree (customer_id, confirmed_at DESC, number DESC) INCLUDE (id, status, customer_reference, order_reference) WHERE (state = 'confirmed'::text);

CREATE INDEX orders_pending ON public.orders USING btree (customer_id, kind, expires_at) WHERE (state = 'pending'::text);

CREATE INDEX orders_unpaid ON public.orders USING btree (customer_id) WHERE ((state = 'confirmed'::text) AND ((paid + credited) < gross));

CREATE INDEX password_failure_by_age ON public.password_failure USING btree (failed_at);

CREATE INDEX password_failure_of_account ON public.password_failure USING btree (account, failed_at);

CREATE INDEX password_failure_of_address ON public.password_failure USING btree (address, failed_at);

CREATE INDEX payment_by_amount ON public.payment USING btree (amount, id);

CREATE INDEX payment_by_change ON public.payment USING btree (changed_at);

CREATE INDEX payment_of_customer ON public.payment USING btree (customer_id, id);

CREATE INDEX price_alert_of_list ON public.price_alert USING btree (list_id);

CREATE INDEX price_alert_to_check ON public.price_alert USING btree (checked_on);

CREATE UNIQUE INDEX price_list_by_form ON public.price_list USING btree (lower((NORMALIZE(btrim(key), NFC) COLLATE "C")));

CREATE INDEX product_by_change ON public.product USING btree (changed_at);

CREATE INDEX product_without_description ON public.product USING btree (sku_key) WHERE (active AND (description = ''::text) AND (description_html = ''::text));

CREATE INDEX product_without_ean ON public.product USING btree (sku_key) WHERE (active AND (ean IS NULL));

CREATE INDEX product_without_picture ON public.product USING btree (sku_key) WHERE (active AND (images = '[]'::jsonb));

CREATE INDEX quotes ON public.orders USING btree (id) WHERE (kind = 'quote'::text);

CREATE INDEX quotes_of_customer ON public.orders USING btree (customer_id, id) WHERE (kind = 'quote'::text);

CREATE INDEX quotes_waiting ON public.orders USING btree (created_at) WHERE ((kind = 'quote'::text) AND (state = 'pending'::text) AND (priced_at IS NULL));

CREATE INDEX recovery_code_of_factor ON public.recovery_code USING btree (second_factor_id);

CREATE INDEX refresh_token_expiry ON public.refresh_token USING btree (expires_at);

CREATE INDEX refresh_token_of_grant ON public.refresh_token USING btree (grant_id);

CREATE INDEX remittance_awaited ON public.remittance USING btree (amount) WHERE (payment_id IS NULL);

CREATE INDEX remittance_of_customer ON public.remittance USING btree (customer_id, id);

CREATE INDEX remittance_of_payment ON public.remittance USING btree (payment_id);

CREATE INDEX repeated_bank_line_of_file ON public.repeated_bank_line USING btree (bank_file_id);

CREATE INDEX request_file_of_request ON public.request_file USING btree (request_id, id);

CREATE INDEX request_log_at ON public.request_log USING btree (at);

CREATE UNIQUE INDEX request_log_counted ON public.request_log USING btree (customer_id, caller, at, method, path, status, code) WHERE (count IS NOT NULL);

CREATE INDEX request_log_of_caller ON public.request_log USING btree (customer_id, caller, id DESC);

CREATE INDEX return_line_of_line ON public.return_line USING btree (line_id);

CREATE INDEX saved_list_of_customer ON public.saved_list USING btree (customer_id);

CREATE INDEX saved_list_of_user ON public.saved_list USING btree (user_id);

CREATE INDEX saved_view_of_member ON public.saved_view USING btree (staff_id);

CREATE INDEX second_factor_of_session ON public.second_factor USING btree (session_id);

CREATE UNIQUE INDEX second_factor_of_staff ON public.second_factor USING btree (staff_id, ((confirmed_at IS NULL))) WHERE (staff_id IS NOT NULL);

CREATE UNIQUE INDEX second_factor_of_user ON public.second_factor USING btree (user_id, ((confirmed_at IS NULL))) WHERE (user_id IS NOT NULL);

CREATE INDEX serial_number_by_code ON public.serial_number USING btree (lower(regexp_replace(serial_number, '[^0-9A-Za-z]'::text, ''::text, 'g'::text)) text_pattern_ops);

CREATE INDEX serial_number_by_end ON public.serial_number USING btree (reverse(lower(regexp_replace(serial_number, '[^0-9A-Za-z]'::text, ''::text, 'g'::text))) text_pattern_ops);

CREATE INDEX serial_number_by_end_of_mac ON public.serial_number USING btree (reverse(lower(regexp_replace(mac_address, '[^0-9A-Za-z]'::text, ''::text, 'g'::text))) text_pattern_ops) WHERE (mac_address <> ''::text);

CREATE INDEX serial_number_by_mac ON public.serial_number USING btree (lower(regexp_replace(mac_address, '[^0-9A-Za-z]'::text, ''::text, 'g'::text)) text_pattern_ops) WHERE (mac_address <> ''::text);

CREATE INDEX serial_number_by_text ON public.serial_number USING btree (lower(serial_number));

CREATE INDEX serial_number_of_line ON public.serial_number USING btree (line_id);

CREATE INDEX session_by_age ON public.session USING btree (seen_at);

CREATE INDEX session_of_staff ON public.session USING btree (staff_id) WHERE (staff_id IS NOT NULL);

CREATE INDEX session_of_user ON public.session USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX shipment_by_end_of_tracking ON public.shipment USING btree (reverse(lower(regexp_replace(tracking_number, '[^0-9A-Za-z]'::text, ''::text, 'g'::text))) text_pattern_ops) WHERE (tracking_number IS NOT NULL);

CREATE INDEX shipment_by_tracking_code ON public.shipment USING btree (lower(regexp_replace(tracking_number, '[^0-9A-Za-z]'::text, ''::text, 'g'::text)) text_pattern_ops) WHERE (tracking_number IS NOT NULL);

CREATE INDEX shipment_by_tracking_number ON public.shipment USING btree (lower(tracking_number)) WHERE (tracking_number IS NOT NULL);

CREATE INDEX shipment_line_of_line ON public.shipment_line USING btree (line_id);

CREATE INDEX shipment_of_order ON public.shipment USING btree (order_id);

CREATE INDEX stock_alert_waiting ON public.stock_alert USING btree (product_id) WHERE (in_stock_at IS NULL);

CREATE INDEX stock_level_by_place ON public.stock_level USING btree (location, product_id);

CREATE INDEX stock_level_changed ON public.stock_level USING btree (changed_by);

CREATE INDEX taken_back_shipment_of_order ON public.taken_back_shipment USING btree (order_id);

CREATE INDEX tracking_event_of_shipment ON public.tracking_event USING btree (shipment_id);

CREATE INDEX webhook_attempt_by_age ON public.webhook_attempt USING btree (at);

CREATE INDEX webhook_delivery_by_age ON public.webhook_delivery USING btree (delivered_at) WHERE (delivered_at IS NOT NULL);

CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook_id, next_attempt_at, id) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_delivery_of_webhook ON public.webhook_delivery USING btree (webhook_id, id);

CREATE INDEX webhook_delivery_waiting ON public.webhook_delivery USING btree (webhook_id, subject, id) WHERE (delivered_at IS NULL);

CREATE INDEX webhook_of_customer ON public.webhook USING btree (customer_id);

CREATE TRIGGER added_attribute_is_noted AFTER INSERT ON public.attribute FOR EACH ROW WHEN (new.active) EXECUTE FUNCTION public.note_changed_attributes();

CREATE TRIGGER added_contract_prices_are_noted AFTER INSERT ON public.contract_price REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_contracts();

CREATE TRIGGER added_first_prices AFTER INSERT ON public.price REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_first_prices();

CREATE TRIGGER added_incoming_stocks_are_noted AFTER INSERT ON public.incoming_stock REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_deliveries();

CREATE TRIGGER added_prices_are_noted AFTER INSERT ON public.price REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_prices();

CREATE TRIGGER added_prices_below_cost AFTER INSERT ON public.price REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_prices_below_cost();

CREATE TRIGGER added_products_are_noted AFTER INSERT ON public.product REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_products();

CREATE TRIGGER added_products_without_price AFTER INSERT ON public.product REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_product_without_price();

CREATE TRIGGER address_changes BEFORE UPDATE OF details ON public.address FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER allocation_changes_payment AFTER INSERT ON public.allocation REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_payments();

CREATE TRIGGER allocation_never_changes BEFORE DELETE OR UPDATE ON public.allocation FOR EACH ROW EXECUTE FUNCTION public.refuse_money_change();

CREATE TRIGGER api_key_changes BEFORE UPDATE OF name, scopes, networks, expires_at, disabled_at ON public.api_key FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER audit_entry_never_changes BEFORE DELETE OR UPDATE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER audit_log_is_never_emptied BEFORE TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER catalogue_changes_are_numbered AFTER INSERT OR UPDATE ON public.change FOR EACH ROW EXECUTE FUNCTION public.number_catalogue_changes();

CREATE TRIGGER changed_attribute_is_noted AFTER UPDATE ON public.attribute FOR EACH ROW WHEN ((((old.key IS DISTINCT FROM new.key) OR (old.name IS DISTINCT FROM new.name)) OR (old.active IS DISTINCT FROM new.active))) EXECUTE FUNCTION public.note_changed_attributes();

CREATE TRIGGER changed_contract_prices_are_noted AFTER UPDATE ON public.contract_price REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_contracts();

CREATE TRIGGER changed_costs_above_price AFTER UPDATE ON public.product REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_costs_above_price();

CREATE TRIGGER changed_incoming_stocks_are_noted AFTER UPDATE ON public.incoming_stock REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_deliveries();

CREATE TRIGGER changed_prices_are_noted AFTER UPDATE ON public.price REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_prices();

CREATE TRIGGER changed_prices_below_cost AFTER UPDATE ON public.price REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_prices_below_cost();

CREATE TRIGGER changed_products_are_noted AFTER UPDATE ON public.product REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_products();

CREATE TRIGGER chosen_alert_delete_changes_user AFTER DELETE ON public.chosen_alert REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_alerts();

CREATE TRIGGER chosen_alert_insert_changes_user AFTER INSERT ON public.chosen_alert REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_alerts();

CREATE TRIGGER configuration_delete_changes_order AFTER DELETE ON public.configuration REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_lines();

CREATE TRIGGER configuration_insert_changes_order AFTER INSERT ON public.configuration REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_lines();

CREATE TRIGGER credit_note_adds_to_vat_day AFTER INSERT ON public.credit_note REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.add_credit_note_to_vat_day();

CREATE TRIGGER credit_note_changes BEFORE UPDATE ON public.credit_note FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER credit_note_never_changes BEFORE DELETE OR UPDATE ON public.credit_note FOR EACH ROW EXECUTE FUNCTION public.refuse_money_change();

CREATE TRIGGER customer_changes BEFORE UPDATE ON public.customer FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER customer_contact_changes BEFORE UPDATE OF name, task, email, phone ON public.customer_contact FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER customer_request_changes BEFORE UPDATE ON public.customer_request FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER customer_user_changes BEFORE UPDATE OF email, name, role, more_roles, order_limit, password_hash, disabled_at ON public.customer_user FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER invoice_adds_to_vat_day AFTER INSERT ON public.invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.add_invoice_to_vat_day();

CREATE TRIGGER invoice_balance_changes BEFORE UPDATE ON public.invoice_balance FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER invoice_never_changes BEFORE DELETE OR UPDATE ON public.invoice FOR EACH ROW EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER order_changes BEFORE UPDATE ON public.orders FOR EACH ROW WHEN ((new.changed_at = old.changed_at)) EXECUTE FUNCTION public.note_change();

CREATE TRIGGER order_line_delete_changes_order AFTER DELETE ON public.order_line REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER order_line_insert_changes_order AFTER INSERT ON public.order_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER order_line_update_changes_order AFTER UPDATE ON public.order_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER order_return_changes BEFORE UPDATE ON public.order_return FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER packing_video_delete_changes_order AFTER DELETE ON public.packing_video REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER packing_video_insert_changes_order AFTER INSERT ON public.packing_video REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER packing_video_update_changes_order AFTER UPDATE ON public.packing_video REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER payment_changes BEFORE UPDATE ON public.payment FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER price_alert_delete_changes_user AFTER DELETE ON public.price_alert REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_alerts();

CREATE TRIGGER price_alert_insert_changes_user AFTER INSERT ON public.price_alert REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_alerts();

CREATE TRIGGER product_changes BEFORE UPDATE ON public.product FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER remittance_changes BEFORE UPDATE OF payment_id ON public.remittance FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER removed_attribute_is_noted AFTER DELETE ON public.attribute FOR EACH ROW WHEN (old.active) EXECUTE FUNCTION public.note_changed_attributes();

CREATE TRIGGER removed_contract_prices_are_noted AFTER DELETE ON public.contract_price REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_contracts();

CREATE TRIGGER removed_incoming_stocks_are_noted AFTER DELETE ON public.incoming_stock REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_deliveries();

CREATE TRIGGER removed_last_prices AFTER DELETE ON public.price REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_last_prices();

CREATE TRIGGER removed_prices_are_noted AFTER DELETE ON public.price REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_prices();

CREATE TRIGGER removed_prices_below_cost AFTER DELETE ON public.price REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_prices_below_cost();

CREATE TRIGGER removed_products_are_noted AFTER DELETE ON public.product REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_products();

CREATE TRIGGER return_line_changes_return AFTER UPDATE ON public.return_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_returns();

CREATE TRIGGER saved_list_changes BEFORE UPDATE OF name, user_id ON public.saved_list FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

CREATE TRIGGER saved_list_line_delete_changes_list AFTER DELETE ON public.saved_list_line REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_lists();

CREATE TRIGGER saved_list_line_insert_changes_list AFTER INSERT ON public.saved_list_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_lists();

CREATE TRIGGER saved_list_line_update_changes_list AFTER UPDATE ON public.saved_list_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_lists();

CREATE TRIGGER serial_number_delete_changes_order AFTER DELETE ON public.serial_number REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER serial_number_insert_changes_order AFTER INSERT ON public.serial_number REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER serial_number_update_changes_order AFTER UPDATE ON public.serial_number REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER shipment_delete_changes_order AFTER DELETE ON public.shipment REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER shipment_insert_changes_order AFTER INSERT ON public.shipment REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER shipment_line_delete_changes_order AFTER DELETE ON public.shipment_line REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER shipment_line_insert_changes_order AFTER INSERT ON public.shipment_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER shipment_line_update_changes_order AFTER UPDATE ON public.shipment_line REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER shipment_update_changes_order AFTER UPDATE ON public.shipment REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts();

CREATE TRIGGER stock_alert_delete_changes_user AFTER DELETE ON public.stock_alert REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_alerts();

CREATE TRIGGER tracking_event_delete_changes_order AFTER DELETE ON public.tracking_event REFERENCING OLD TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER tracking_event_insert_changes_order AFTER INSERT ON public.tracking_event REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER tracking_event_update_changes_order AFTER UPDATE ON public.tracking_event REFERENCING NEW TABLE AS part FOR EACH STATEMENT EXECUTE FUNCTION public.note_changed_parts_of_shipments();

CREATE TRIGGER webhook_changes BEFORE UPDATE OF url, types, description, state, reason, failing_since ON public.webhook FOR EACH ROW EXECUTE FUNCTION public.note_changed_record();

ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.application(client_id);

ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.account_balance
    ADD CONSTRAINT account_balance_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.address
    ADD CONSTRAINT address_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.agent_consent
    ADD CONSTRAINT agent_consent_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.agent_client(client_id);

ALTER TABLE ONLY public.agent_consent
    ADD CONSTRAINT agent_consent_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.agent_consent
    ADD CONSTRAINT agent_consent_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.agent_order
    ADD CONSTRAINT agent_order_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.agent_order
    ADD CONSTRAINT agent_order_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.agent_token
    ADD CONSTRAINT agent_token_consent_id_fkey FOREIGN KEY (consent_id) REFERENCES public.agent_consent(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.allocation
    ADD CONSTRAINT allocation_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.allocation
    ADD CONSTRAINT allocation_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payment(id);

ALTER TABLE ONLY public.allocation
    ADD CONSTRAINT allocation_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES public.payment(id);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.bank_line
    ADD CONSTRAINT bank_line_bank_file_id_fkey FOREIGN KEY (bank_file_id) REFERENCES public.bank_file(id);

ALTER TABLE ONLY public.bank_line
    ADD CONSTRAINT bank_line_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payment(id);

ALTER TABLE ONLY public.bank_line
    ADD CONSTRAINT bank_line_placed_by_fkey FOREIGN KEY (placed_by) REFERENCES public.bank_file(id);

ALTER TABLE ONLY public.basket_line
    ADD CONSTRAINT basket_line_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.basket_line
    ADD CONSTRAINT basket_line_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.category
    ADD CONSTRAINT category_parent_key_fkey FOREIGN KEY (parent_key) REFERENCES public.category(key);

ALTER TABLE ONLY public.chosen_alert
    ADD CONSTRAINT chosen_alert_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.configuration
    ADD CONSTRAINT configuration_line_id_fkey FOREIGN KEY (line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.consent
    ADD CONSTRAINT consent_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.application(client_id);

ALTER TABLE ONLY public.consent
    ADD CONSTRAINT consent_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.consent_grant
    ADD CONSTRAINT consent_grant_consent_id_fkey FOREIGN KEY (consent_id) REFERENCES public.consent(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.consent
    ADD CONSTRAINT consent_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.contract_price
    ADD CONSTRAINT contract_price_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.contract_price
    ADD CONSTRAINT contract_price_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.credit_exposure
    ADD CONSTRAINT credit_exposure_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.credit_note
    ADD CONSTRAINT credit_note_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.credit_note
    ADD CONSTRAINT credit_note_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.credit_note_line
    ADD CONSTRAINT credit_note_line_credit_note_fkey FOREIGN KEY (credit_note) REFERENCES public.credit_note(number);

ALTER TABLE ONLY public.customer_contact
    ADD CONSTRAINT customer_contact_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.customer_note
    ADD CONSTRAINT customer_note_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_price_list_fkey FOREIGN KEY (price_list) REFERENCES public.price_list(key);

ALTER TABLE ONLY public.customer_request
    ADD CONSTRAINT customer_request_closed_by_fkey FOREIGN KEY (closed_by) REFERENCES public.staff_member(id);

ALTER TABLE ONLY public.customer_request
    ADD CONSTRAINT customer_request_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_request
    ADD CONSTRAINT customer_request_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.customer_user
    ADD CONSTRAINT customer_user_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.incoming_stock
    ADD CONSTRAINT incoming_stock_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.invoice_balance
    ADD CONSTRAINT invoice_balance_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.invoice_balance
    ADD CONSTRAINT invoice_balance_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.invoice_balance
    ADD CONSTRAINT invoice_balance_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.invoice
    ADD CONSTRAINT invoice_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.invoice_line
    ADD CONSTRAINT invoice_line_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.invoice_line
    ADD CONSTRAINT invoice_line_line_id_fkey FOREIGN KEY (line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.invoice
    ADD CONSTRAINT invoice_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.invoice_reminder
    ADD CONSTRAINT invoice_reminder_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.known_browser
    ADD CONSTRAINT known_browser_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff_member(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.known_browser
    ADD CONSTRAINT known_browser_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT one_time_link_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff_member(id);

ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT one_time_link_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.order_approval
    ADD CONSTRAINT order_approval_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.order_approval
    ADD CONSTRAINT order_approval_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.order_approval
    ADD CONSTRAINT order_approval_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.order_change
    ADD CONSTRAINT order_change_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_bundle_line_id_fkey FOREIGN KEY (bundle_line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.order_note
    ADD CONSTRAINT order_note_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.order_return
    ADD CONSTRAINT order_return_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_in_basket_of_fkey FOREIGN KEY (in_basket_of) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.packing_video
    ADD CONSTRAINT packing_video_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.payment
    ADD CONSTRAINT payment_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.price_alert
    ADD CONSTRAINT price_alert_list_id_fkey FOREIGN KEY (list_id) REFERENCES public.saved_list(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.price_alert
    ADD CONSTRAINT price_alert_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_price_list_fkey FOREIGN KEY (price_list) REFERENCES public.price_list(key);

ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.product_below_cost
    ADD CONSTRAINT product_below_cost_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_manufacturer_fkey FOREIGN KEY (manufacturer) REFERENCES public.manufacturer(key);

ALTER TABLE ONLY public.product_without_price
    ADD CONSTRAINT product_without_price_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.quote_link
    ADD CONSTRAINT quote_link_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_second_factor_id_fkey FOREIGN KEY (second_factor_id) REFERENCES public.second_factor(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.consent_grant(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.remittance
    ADD CONSTRAINT remittance_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.remittance
    ADD CONSTRAINT remittance_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payment(id);

ALTER TABLE ONLY public.remittance
    ADD CONSTRAINT remittance_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.repeated_bank_line
    ADD CONSTRAINT repeated_bank_line_bank_file_id_fkey FOREIGN KEY (bank_file_id) REFERENCES public.bank_file(id);

ALTER TABLE ONLY public.repeated_bank_line
    ADD CONSTRAINT repeated_bank_line_bank_line_id_fkey FOREIGN KEY (bank_line_id) REFERENCES public.bank_line(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.request_file
    ADD CONSTRAINT request_file_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.customer_request(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.request_log
    ADD CONSTRAINT request_log_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.return_line
    ADD CONSTRAINT return_line_line_id_fkey FOREIGN KEY (line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.return_line
    ADD CONSTRAINT return_line_return_id_fkey FOREIGN KEY (return_id) REFERENCES public.order_return(id);

ALTER TABLE ONLY public.revoked_consent
    ADD CONSTRAINT revoked_consent_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.application(client_id);

ALTER TABLE ONLY public.revoked_consent
    ADD CONSTRAINT revoked_consent_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.saved_list
    ADD CONSTRAINT saved_list_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.saved_list_line
    ADD CONSTRAINT saved_list_line_list_id_fkey FOREIGN KEY (list_id) REFERENCES public.saved_list(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.saved_list_line
    ADD CONSTRAINT saved_list_line_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.saved_list
    ADD CONSTRAINT saved_list_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.saved_view
    ADD CONSTRAINT saved_view_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff_member(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.session(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff_member(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.serial_number
    ADD CONSTRAINT serial_number_line_id_fkey FOREIGN KEY (line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.serial_number
    ADD CONSTRAINT serial_number_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES public.shipment(id);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff_member(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.shipment
    ADD CONSTRAINT shipment_invoice_fkey FOREIGN KEY (invoice) REFERENCES public.invoice(number);

ALTER TABLE ONLY public.shipment_line
    ADD CONSTRAINT shipment_line_line_id_fkey FOREIGN KEY (line_id) REFERENCES public.order_line(id);

ALTER TABLE ONLY public.shipment_line
    ADD CONSTRAINT shipment_line_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES public.shipment(id);

ALTER TABLE ONLY public.shipment
    ADD CONSTRAINT shipment_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.stock_alert
    ADD CONSTRAINT stock_alert_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.stock_alert
    ADD CONSTRAINT stock_alert_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.customer_user(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.stock_level
    ADD CONSTRAINT stock_level_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);

ALTER TABLE ONLY public.taken_back_shipment
    ADD CONSTRAINT taken_back_shipment_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id);

ALTER TABLE ONLY public.tracking_event
    ADD CONSTRAINT tracking_event_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES public.shipment(id);

ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT webhook_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.webhook_delivery(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_sequence_fkey FOREIGN KEY (sequence) REFERENCES public.event(sequence);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhook(id) ON DELETE CASCADE;
