"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const compare = (a, b) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    const [first, second] = [Number(a), Number(b)];
    return Number.isNaN(first) || Number.isNaN(second) ? a.localeCompare(b) : first - second;
  };
  heads.forEach((head, place) => head.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = (row) => row.cells[place].dataset.key;
    const rows = [...body.rows].sort((a, b) => {
      const missing = (key(a) === "") - (key(b) === "");
      return missing || (falling ? -1 : 1) * compare(key(a), key(b));
    });
    body.append(...rows);
  }));
}
window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
