// Finds operations, fields and errors of the page by words; also opens what a link leads into.
(() => {
  const MOST = 30;
  const box = document.querySelector("[data-search]");
  const input = box.querySelector("input");
  const list = box.querySelector("ul");
  const entries = [...document.querySelectorAll("[data-find]")].map((element) => {
    const name = element.matches("h3") ? element.textContent.replace(/#\s*$/, "").trim() : path(element);
    return {
      id: element.id,
      name,
      where: element.dataset.where,
      text: `${name} ${element.dataset.find} ${element.dataset.where}`.toLowerCase(),
      rank: element.matches("h3") ? 0 : 1,
    };
  });
  let selected = -1;

  // A field with those that it is in: `items.product.sku`.
  function path(element) {
    const names = [];
    for (let field = element; field; field = field.parentElement.closest("li[data-find]")) names.unshift(field.dataset.find);
    return names.join(".");
  }

  function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return entries
      .filter((entry) => words.every((word) => entry.text.includes(word)))
      .map((entry) => ({ entry, weight: entry.rank + (entry.name.toLowerCase().startsWith(words[0]) ? 0 : 2) }))
      .sort((one, other) => one.weight - other.weight)
      .slice(0, MOST)
      .map(({ entry }) => entry);
  }

  function draw() {
    const found = find(input.value);
    list.replaceChildren(...found.map((entry, place) => {
      const item = document.createElement("li");
      item.id = `found-${place}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.target = entry.id;
      const where = document.createElement("span");
      where.className = "where";
      where.textContent = entry.where;
      item.append(entry.name, where);
      return item;
    }));
    if (!found.length && input.value.trim()) {
      const none = document.createElement("li");
      none.className = "none";
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      none.textContent = "Nothing found";
      list.append(none);
    }
    selected = -1;
    show(Boolean(input.value.trim()));
    if (found.length) select(0);
  }

  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) input.removeAttribute("aria-activedescendant");
  }

  function select(place) {
    const items = [...list.querySelectorAll("[data-target]")];
    if (!items.length) return;
    selected = (place + items.length) % items.length;
    items.forEach((item, number) => item.setAttribute("aria-selected", String(number === selected)));
    input.setAttribute("aria-activedescendant", items[selected].id);
    items[selected].scrollIntoView({ block: "nearest" });
  }

  function go(id) {
    show(false);
    input.blur();
    if (location.hash === `#${id}`) reveal();
    else location.hash = id;
  }

  // What is folded away is opened before the browser scrolls to it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  input.addEventListener("input", draw);
  input.addEventListener("focus", () => { if (input.value.trim()) draw(); });
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(selected + 1);
    else if (event.key === "ArrowUp") select(selected - 1);
    else if (event.key === "Escape") show(false);
    else if (event.key === "Enter") {
      const item = list.querySelector("[aria-selected=true]");
      if (item && !list.hidden) go(item.dataset.target);
    } else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const item = event.target.closest("[data-target]");
    if (item) go(item.dataset.target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  addEventListener("hashchange", reveal);

  box.hidden = false;
  if (location.hash) reveal();
})();
