import { AccountApi, CatalogueApi, Configuration, OrdersApi, ResponseError } from "./index";

declare const process: { env: Record<string, string> };

const configuration = new Configuration({ basePath: process.env["BASE"]!, apiKey: process.env["KEY"]! });
const orders = new OrdersApi(configuration);

const product = await new CatalogueApi(configuration).getProduct({ sku: "CV-320P" });
const addresses = await new AccountApi(configuration).listAddresses();
const saved = { id: addresses[0]!.id };
const site = {
  contactName: "Sam Fitter", streetOne: "1 Site Road", city: "Leeds", zip: "LS1 4AP", countryCode: "GB",
};
const items = [{ sku: product.sku, quantity: 6 }];

const created = await orders.createOrder({
  createOrderRequest: {
    customerReference: "PO-typescript-fetch", items, billingAddress: saved, shippingAddress: site,
  },
  idempotencyKey: "typescript-fetch",
});
const shippingMethod = { id: created.shippingOptions[0]!.id };
const confirmed = await orders.confirmOrder({
  reference: created.confirmationCode, confirmOrderRequest: { shippingMethod },
});
const read = await orders.getOrder({ reference: confirmed.orderReference! });
const listed = await orders.listOrders({ accept: "application/json", customerReference: "PO-typescript-fetch" });

const second = await orders.createOrder({
  createOrderRequest: {
    customerReference: "PO-typescript-fetch-at-once", items, billingAddress: saved, shippingAddress: saved,
    shippingMethod, autoConfirm: true,
  },
});

const unknown = await orders.getOrder({ reference: "NOTHING" }).then(
  () => 200,
  (error: unknown) => (error instanceof ResponseError ? error.response.status : 0),
);

console.log(`sku ${product.sku}\nnet ${read.costNet}\nfirst ${read.orderReference}`);
console.log(`second ${second.orderReference}\nlisted ${listed[0]?.orderReference}\nunknown ${unknown}`);
