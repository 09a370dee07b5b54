import { confirmOrder, createOrder, getOrder, getProduct, listAddresses, listProducts } from "./tradecounter";

const listed = await listProducts({ query: { category: ["desk-phones", "switches"], inStock: "true", limit: 5 } });
if (!listed.data) throw new Error("no products");

const one = await getProduct({ path: { sku: "CV-320P" } });
if (!one.data) throw new Error("no product");

const created = await createOrder({
  headers: { "Idempotency-Key": "hey-api" },
  body: {
    customer_reference: "PO-hey-api",
    items: [{ sku: one.data.sku, quantity: 6 }],
    billing_address: { id: 5001 },
    shipping_address: {
      contact_name: "Sam Fitter", street_one: "1 Site Road", city: "Leeds", zip: "LS1 4AP", country_code: "GB",
    },
  },
});
if (!created.data) throw new Error("not created");

const confirmed = await confirmOrder({
  path: { reference: created.data.confirmation_code },
  body: { shipping_method: { id: created.data.shipping_options[0]!.id } },
});
if (!confirmed.data?.order_reference) throw new Error("not confirmed");

const read = await getOrder({ path: { reference: confirmed.data.order_reference } });
if (!read.data) throw new Error("not read");

const unknown = await getOrder({ path: { reference: "NOTHING" } });
const addresses = await listAddresses();
const saved: number[] = (addresses.data ?? []).map((address) => address.id);

console.log(JSON.stringify({
  listed: listed.data.length,
  sku: read.data.items[0]?.product?.sku,
  reference: read.data.customer_reference,
  cost: read.data.cost_net === created.data.cost_net,
  unknown: unknown.response.status,
  saved: saved[0],
}));
