// The shop: buttons and arrows for one unit less and one more, at most four products to compare, filters that stay open.
(() => {
  const MOST = 1000000;
  const MOST_COMPARED = 4;

  const step = (field, by) => {
    const units = Number(field.value.replaceAll(",", ""));
    if (!Number.isInteger(units)) return;
    field.value = String(Math.min(MOST, Math.max(Number(field.dataset.least ?? 1), units + by)));
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-step]");
    if (button) step(button.closest(".stepper").querySelector("input"), Number(button.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey || !event.target.matches?.(".stepper input")) return;
    event.preventDefault();
    step(event.target, by);
  });

  document.addEventListener("change", (event) => {
    if (!event.target.matches?.(".compare-tick input")) return;
    const boxes = [...document.querySelectorAll(".compare-tick input")];
    const isFull = boxes.filter((box) => box.checked).length >= MOST_COMPARED;
    for (const box of boxes) box.disabled = isFull && !box.checked;
  });

  // Of the prices of a product in a list, the one for the units that are to be added stands out.
  const markPrice = (offer) => {
    const units = Number(offer.querySelector(".stepper input")?.value.replaceAll(",", "")) || 1;
    const prices = [...offer.querySelectorAll(".offer-price [data-least]")];
    const current = prices.findLast((price) => Number(price.dataset.least) <= units);
    for (const price of prices) price.classList.toggle("current", price === current);
  };
  const markPrices = () => document.querySelectorAll(".offer").forEach(markPrice);
  document.addEventListener("input", (event) => {
    const offer = event.target.matches?.(".stepper input") && event.target.closest(".offer");
    if (offer) markPrice(offer);
  });
  for (const name of ["DOMContentLoaded", "htmx:after:swap"]) document.addEventListener(name, markPrices);

  // Once a product is added, its form has one unit again. The sum on its page follows.
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!ctx.target.matches?.(".add") || !document.querySelector(".buy .added")) return;
    document.querySelector(".buy [name=quantity]").dispatchEvent(new Event("input", { bubbles: true }));
  });

  // Narrow windows: the filters stay open while one after the other is ticked, until their button shows what they leave.
  let isNarrowing = false;
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.(".narrowing")) isNarrowing = event.target.open;
  }, true);
  document.addEventListener("submit", () => { isNarrowing = false; }, true);
  document.addEventListener("htmx:after:swap", () => {
    const filters = document.querySelector(".narrowing");
    if (filters && isNarrowing) filters.open = true;
  });
})();
