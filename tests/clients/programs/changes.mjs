// Prints the SKUs of what has changed since a cursor, and the cursor that follows.

import { CursorExpired, Tradecounter } from "tradecounter-client";

const skus = [];
let last = process.argv[2];
try {
  for await (const { changes, cursor } of new Tradecounter(process.env.BASE, process.env.KEY).changes(last)) {
    skus.push(...changes.filter((change) => change.product !== null).map((change) => change.sku));
    last = cursor;
  }
} catch (error) {
  if (!(error instanceof CursorExpired)) throw error;
  last = "expired";
}
console.log(JSON.stringify({ skus, cursor: last }));
