// Sends requests from the page to the service that it comes from. The key stays in this tab and never in an address.
(() => {
  const STORED = "tradecounter.key";
  const keys = document.querySelectorAll("[data-key]");

  function remember(key) {
    for (const field of keys) if (field.value !== key) field.value = key;
    try { sessionStorage.setItem(STORED, key); } catch { /* the page remembers it */ }
  }

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  }

  function requestOf(form) {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    const headers = new Headers();
    for (const field of form.querySelectorAll("[data-in]")) {
      const value = field.value.trim();
      if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
      else if (value && field.dataset.in === "query") query.append(field.name, value);
      else if (value) headers.set(field.name, value);
    }
    const key = form.querySelector("[data-key]")?.value.trim();
    if (key) headers.set("X-Api-Key", key);
    if (!headers.has("Accept")) headers.set("Accept", "application/json");
    const body = form.querySelector("[data-body]")?.value.trim() || undefined;
    if (body) headers.set("Content-Type", "application/json");
    // The page may be served below a path: addresses are relative to it.
    const address = new URL(`.${path}`, location.href.replace(/[?#].*/, ""));
    address.search = query;
    return new Request(address, { method: form.dataset.method, headers, body, credentials: "omit", cache: "no-store" });
  }

  async function parts(response) {
    const type = response.headers.get("Content-Type") ?? "";
    const status = element("p", "");
    status.append(element("span", String(response.status), { class: `status ${response.ok ? "good" : "bad"}` }), ` ${response.statusText}`);
    const headers = element("details", "");
    headers.append(element("summary", "Response headers"));
    headers.append(element("pre", [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"), { tabindex: "0" }));
    if (type.startsWith("application/pdf")) {
      const link = element("a", "Save the PDF file", { href: URL.createObjectURL(await response.blob()), download: "invoice.pdf" });
      return [status, link, headers];
    }
    let text = await response.text();
    if (type.startsWith("application/json") && text) {
      try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it is */ }
    }
    return text ? [status, element("pre", text, { tabindex: "0" }), headers] : [status, headers];
  }

  async function send(form) {
    const button = form.querySelector(".send");
    const result = form.querySelector("[data-result]");
    button.disabled = true;
    try {
      result.replaceChildren(...await parts(await fetch(requestOf(form))));
    } catch (error) {
      result.replaceChildren(element("p", `The request could not be sent: ${error.message}`));
    }
    button.disabled = false;
    result.hidden = false;
  }

  for (const field of keys) field.addEventListener("input", () => remember(field.value));
  document.addEventListener("submit", (event) => {
    if (!event.target.closest("[data-try]")) return;
    event.preventDefault();
    send(event.target);
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-examples]")) return;
    event.target.form.querySelector("[data-body]").value = event.target.value;
  });

  let stored = "";
  try { stored = sessionStorage.getItem(STORED) ?? ""; } catch { /* not allowed */ }
  if (stored) remember(stored);
  for (const part of document.querySelectorAll("[data-try]")) part.hidden = false;
})();
