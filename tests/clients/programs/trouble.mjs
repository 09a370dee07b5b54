// Does what its first argument names, and prints what came of it: something, or the class of the error.

import { readFileSync, writeFileSync } from "node:fs";
import { Consent, Tradecounter, verifiedEvent } from "tradecounter-client";

const { BASE, KEY = "any", ATTEMPTS = "6", SECRET, BODY, HEADERS, CLIENT_ID = "any", CLIENT_SECRET = "any" } = process.env;
const [, , wanted, file] = process.argv;
const shop = new Tradecounter(BASE, KEY, { timeout: 1, attempts: Number(ATTEMPTS) });
const name = (promise) => promise.then(() => "none", (error) => error.name);
const consent = (token, save) => new Consent(CLIENT_ID, CLIENT_SECRET, token, save);
const acting = (credentials) => new Tradecounter(BASE, "", { credentials });
const address = {
  contact_name: "Ada Example", street_one: "1 Test Street", city: "York", zip: "YO1 1AA", country_code: "GB",
};
const cases = {
  webhook: () => name(verifiedEvent(SECRET, JSON.parse(HEADERS), BODY)),
  address: async () => (await shop.addAddress(address)).id,
  decline: async () => {
    const found = [];
    for (let time = 0; time < 3; time++) found.push((await shop.declineQuote(file)).status);
    return found;
  },
  delete: async () => {
    const found = [];
    for (let time = 0; time < 2; time++) found.push(await name(shop.deleteAddress(Number(file))));
    return found;
  },
  slow: async () => [(await shop.categories()).length, await name(shop.manufacturers())],
  first: async () => {
    const { value } = await shop.sync("").next();
    return [value.whole, value.products.length];
  },
  blank: async () => {
    const found = [];
    for await (const product of shop.productsBySku(["", " "])) found.push(product.sku);
    return found;
  },
  dots: () => Promise.all([".", ".."].flatMap((text) => [name(shop.product(text)), name(shop.order(text))])),
  unsaved: async () => {
    let fails = true;
    const client = acting(consent(readFileSync(file, "utf8"), (token) => {
      if (fails) {
        fails = false;
        throw new Error("the disk is full");
      }
      writeFileSync(file, token);
    }));
    return [await name(client.customer()), await name(client.customer())];
  },
  issuer: () => name(acting(consent("any", () => {})).customer()),
  mistake: () => new Tradecounter(BASE, "first line\nsecret line").customer().catch((error) => error.message),
};
console.log(JSON.stringify(await cases[wanted]()));
