// Prints the SKUs of all products, read page by page, at once and, with a text, by their SKUs.

import { Tradecounter } from "tradecounter-client";

const shop = new Tradecounter(process.env.BASE, process.env.KEY);
const skus = async (products) => {
  const found = [];
  for await (const product of products) found.push(product.sku);
  return found;
};
const listed = await skus(shop.products({ limit: 50 }));
const atOnce = await skus(shop.products({ limit: 0, page: 7 }));
const bySku = [];
for await (const product of shop.productsBySku([...listed, "NO-SUCH"], { extra: ["short_description"] })) {
  if (product.short_description !== undefined) bySku.push(product.sku);
}
console.log(JSON.stringify({ listed, at_once: atOnce, by_sku: bySku }));
