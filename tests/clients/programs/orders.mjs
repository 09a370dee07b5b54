// Places the orders that its arguments name, and prints their references.

import { Tradecounter } from "tradecounter-client";

const address = {
  contact_name: "Ada Example", street_one: "1 Test Street", city: "Leeds", zip: "LS1 1AA", country_code: "GB",
};
const shop = new Tradecounter(process.env.BASE, process.env.KEY);
const placed = {};
for (const reference of process.argv.slice(2)) {
  await shop.credit();
  const created = await shop.createOrder({
    customer_reference: reference,
    items: [{ sku: "CV-320P", quantity: 1 }],
    billing_address: address,
    shipping_address: address,
  });
  const shipping_method = { id: created.shipping_options[0].id };
  placed[reference] = (await shop.confirmOrder(created.confirmation_code, { shipping_method })).order_reference;
}
console.log(JSON.stringify(placed));
