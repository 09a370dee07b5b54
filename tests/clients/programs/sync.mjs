// Keeps a copy of the catalogue in a file; with a second argument, until it is killed.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Tradecounter } from "tradecounter-client";

const [file, follow] = process.argv.slice(2);
const copy = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { cursor: null, products: {} };
for await (const batch of new Tradecounter(process.env.BASE, process.env.KEY).sync(copy.cursor, follow ? 20 : undefined)) {
  if (batch.whole) copy.products = {};
  for (const sku of batch.removed) delete copy.products[sku];
  for (const product of batch.products) copy.products[product.sku] = product;
  copy.cursor = batch.cursor;
  writeFileSync(`${file}.part`, JSON.stringify(copy)); // all of it appears at once
  renameSync(`${file}.part`, file);
}
