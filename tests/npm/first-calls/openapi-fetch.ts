const listed = await client.GET("/product", {
  params: { query: { category: ["desk-phones", "switches"], inStock: "true", limit: 5 } },
});
if (!listed.data) throw new Error(JSON.stringify(listed.error));

const one = await client.GET("/product/{sku}", { params: { path: { sku: "CV-320P" } } });
if (!one.data) throw new Error("no product");

const created = await client.POST("/order", {
  params: { header: { "Idempotency-Key": "openapi-fetch" } },
  body: {
    customer_reference: "PO-openapi-fetch",
    items: [{ sku: one.data.sku, quantity: 6 }],
    billing_address: { id: 5001 },
    shipping_address: {
      contact_name: "Sam Fitter", street_one: "1 Site Road", city: "Leeds", zip: "LS1 4AP", country_code: "GB",
    },
  },
});
if (!created.data) throw new Error("not created");

const confirmed = await client.PUT("/order/{reference}", {
  params: { path: { reference: created.data.confirmation_code } },
  body: { shipping_method: { id: created.data.shipping_options[0]!.id } },
});
if (!confirmed.data?.order_reference) throw new Error("not confirmed");

const read = await client.GET("/order/{reference}", {
  params: { path: { reference: confirmed.data.order_reference } },
});
if (!read.data) throw new Error("not read");

const unknown = await client.GET("/order/{reference}", { params: { path: { reference: "NOTHING" } } });
const addresses = await client.GET("/customer/address");
const saved: number[] = (addresses.data ?? []).map((address) => address.id);

console.log(JSON.stringify({
  listed: listed.data.length,
  sku: read.data.items[0]?.product?.sku,
  reference: read.data.customer_reference,
  cost: read.data.cost_net === created.data.cost_net,
  unknown: unknown.response.status,
  saved: saved[0],
}));
