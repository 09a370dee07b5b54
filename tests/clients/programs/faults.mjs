// Prints the classes of the errors that wrong requests get.

import { Tradecounter, verifiedEvent } from "tradecounter-client";

const { BASE, KEY, SECRET, BODY, HEADERS } = process.env;
const name = (promise) => promise.then(() => "none", (error) => error.name);
const shop = new Tradecounter(BASE, KEY);
const address = { id: (await shop.addresses())[0].id };
const order = {
  customer_reference: "PO-wrong", items: [{ sku: "NO-SUCH", quantity: 1 }],
  billing_address: address, shipping_address: address,
};
const error = await shop.createOrder(order).catch((found) => found);
const headers = JSON.parse(HEADERS);
console.log(JSON.stringify({
  order: [error.name, error.status, error.errors[0].field, error.requestId !== null],
  number: await name(shop.createOrder({ ...order, max_cost_gross: Number("12,50") })),
  product: await name(shop.product("NO-SUCH")),
  key: await name(new Tradecounter(BASE, "wrong").products().next()),
  nobody: await name(new Tradecounter("http://127.0.0.1:9", KEY, { attempts: 2 }).customer()),
  event: (await verifiedEvent(SECRET, headers, BODY)).type,
  endless: await name(verifiedEvent(SECRET, { ...headers, "Webhook-Timestamp": "9".repeat(5000) }, BODY)),
  forged: await name(verifiedEvent(SECRET, headers, BODY.replace("1001", "1002"))),
}));
