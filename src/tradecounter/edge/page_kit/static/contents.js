// Marks in the contents the part of the page that is being read; on phones, closes the contents.
(() => {
  const contents = document.querySelector(".contents");
  if (!contents) return;
  const links = new Map();
  for (const link of contents.querySelectorAll('a[href^="#"]')) {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target) links.set(target, link);
  }
  const targets = [...links.keys()];
  let marked = null;

  function mark() {
    let current = targets[0];
    for (const target of targets) {
      if (target.getBoundingClientRect().top > 120) break;
      current = target;
    }
    if (current === marked) return;
    links.get(marked)?.removeAttribute("aria-current");
    marked = current;
    const link = links.get(current);
    link?.setAttribute("aria-current", "true");
    if (link && getComputedStyle(contents).position === "sticky") {
      const box = contents.getBoundingClientRect();
      const place = link.getBoundingClientRect();
      if (place.top < box.top + 40 || place.bottom > box.bottom - 40) {
        contents.scrollTop += place.top - box.top - box.height / 2;
      }
    }
  }

  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();

  const fold = contents.querySelector("details");
  const narrow = matchMedia("(max-width: 60rem)");
  const fit = () => { fold.open = !narrow.matches; };
  narrow.addEventListener("change", fit);
  fit();
  contents.addEventListener("click", (event) => {
    if (narrow.matches && event.target.closest("a")) fold.open = false;
  });
})();
