import { confirmOrder, createOrder, getOrder, getProduct, listAddresses, listProducts } from "./tradecounter";

const listed = await listProducts({ category: ["desk-phones", "switches"], inStock: "true", limit: 5 }, options);
if (listed.status !== 200) throw new Error("no products");

const one = await getProduct("CV-320P", undefined, options);
if (one.status !== 200) throw new Error("no product");

const created = await createOrder({
  customer_reference: "PO-orval",
  items: [{ sku: one.data.sku, quantity: 6 }],
  billing_address: { id: 5001 },
  shipping_address: {
    contact_name: "Sam Fitter", street_one: "1 Site Road", city: "Leeds", zip: "LS1 4AP", country_code: "GB",
  },
}, { headers: { ...options.headers, "Idempotency-Key": "orval" } });
if (created.status !== 201) throw new Error("not created");

const method = { id: created.data.shipping_options[0]!.id };
const confirmed = await confirmOrder(created.data.confirmation_code, { shipping_method: method }, options);
if (confirmed.status !== 200 || !confirmed.data.order_reference) throw new Error("not confirmed");

const read = await getOrder(confirmed.data.order_reference, options);
if (read.status !== 200) throw new Error("not read");

const unknown = await getOrder("NOTHING", options);
const addresses = await listAddresses(options);
if (addresses.status !== 200) throw new Error("no addresses");
const saved: number[] = addresses.data.map((address) => address.id);

console.log(JSON.stringify({
  listed: listed.data.length,
  sku: read.data.items[0]?.product?.sku,
  reference: read.data.customer_reference,
  cost: read.data.cost_net === created.data.cost_net,
  unknown: unknown.status,
  saved: saved[0],
}));
