// Invoices that are ticked as paid: how many, and what is due of them together.
(() => {
  const show = () => {
    const said = document.querySelector("[data-sum]");
    if (!said) return;
    const ticked = [...said.closest("fieldset").querySelectorAll("[data-due]:checked")];
    const pence = ticked.reduce((sum, box) => sum + Math.round(Number(box.dataset.due) * 100), 0);
    const pounds = (pence / 100).toLocaleString("en-GB", { minimumFractionDigits: 2 });
    said.textContent = `${ticked.length} ${ticked.length === 1 ? "invoice" : "invoices"}, £${pounds}`;
    said.hidden = ticked.length === 0;
  };
  document.addEventListener("change", show);
  document.addEventListener("htmx:after:swap", show);
  window.addEventListener("pageshow", show);
  show();
})();
