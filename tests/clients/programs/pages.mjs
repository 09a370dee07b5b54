// Prints the SKUs of all products, read page by page, at once and by their SKUs.

import { Tradecounter } from "tradecounter-client";

const shop = new Tradecounter(process.env.BASE, process.env.KEY);
const skus = async (products) => {
  const found = [];
  for await (const product of products) found.push(product.sku);
  return found;
};
const listed = await skus(shop.products({ limit: 50 }));
const atOnce = await skus(shop.products({ limit: 0, page: 7 }));
console.log(JSON.stringify({ listed, at_once: atOnce, by_sku: await skus(shop.productsBySku([...listed, "NO-SUCH"])) }));
