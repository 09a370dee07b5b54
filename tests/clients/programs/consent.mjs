// Acts for a customer, with the refresh token in a file: once, and again with a new client.

import { readFileSync, writeFileSync } from "node:fs";
import { Consent, ConsentEnded, Tradecounter } from "tradecounter-client";

const { BASE, CLIENT_ID, CLIENT_SECRET } = process.env;
const file = process.argv[2];
const first = readFileSync(file, "utf8");
const client = (token) =>
  new Tradecounter(BASE, "", {
    credentials: new Consent(CLIENT_ID, CLIENT_SECRET, token, (next) => writeFileSync(file, next)),
  });
const names = [];
for (const _ of [1, 2]) {
  const shop = client(readFileSync(file, "utf8"));
  const [customer] = await Promise.all([shop.customer(), shop.credit()]);
  names.push(customer.last_name);
}
const ended = await client(first).customer().then(() => false, (error) => error instanceof ConsentEnded);
console.log(JSON.stringify({ names, ended }));
