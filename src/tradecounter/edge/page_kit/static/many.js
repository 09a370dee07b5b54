// Rows that are ticked for a form: all at once, how many, and no buttons without any.
(() => {
  const form = document.querySelector("[data-many]");
  if (!form) return;
  const all = form.querySelector("[data-all]");
  const count = form.querySelector("[data-count]");
  const boxes = () => [...document.querySelectorAll(`input[type=checkbox][form=${form.id}]`)];

  const show = () => {
    const there = boxes();
    const chosen = there.filter((box) => box.checked).length;
    all.checked = chosen > 0 && chosen === there.length;
    all.indeterminate = chosen > 0 && chosen < there.length;
    count.textContent = chosen ? `${chosen} chosen` : "";
    form.hidden = there.length === 0;
    for (const button of form.querySelectorAll("button")) button.disabled = chosen === 0;
  };

  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    show();
  });
  document.addEventListener("change", (event) => {
    if (event.target.getAttribute("form") === form.id) show();
  });
  // Filters change the address of the list to which the form leads back, and not the form.
  form.addEventListener("submit", () => {
    if (form.elements.back) form.elements.back.value = location.pathname + location.search;
  });
  document.addEventListener("htmx:after:swap", show);
  window.addEventListener("pageshow", show);
  for (const element of form.querySelectorAll(".with-scripts")) element.hidden = false;
  show();
})();
