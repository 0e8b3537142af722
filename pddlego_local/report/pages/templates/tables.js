// Sorts a table by the column whose head is clicked, and shows only the episodes that have all chosen
// values. The chosen values are in the address, after the #.
"use strict";

function compare(a, b) {
  // Numbers by size, then words.
  const [x, y] = [parseFloat(a), parseFloat(b)];
  return isNaN(x) - isNaN(y) || x - y || a.localeCompare(b, "en", {numeric: true});
}

function sort(head) {
  const body = head.closest("table").tBodies[0];
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const keyed = [...body.rows].map((row) => [row.cells[head.cellIndex].textContent, row]);
  const absent = (text) => text === "–" || text === "";  // last in both directions
  keyed.sort(([a], [b]) => absent(a) - absent(b) || sign * compare(a, b));
  body.append(...keyed.map(([, row]) => row));
}

for (const head of document.querySelectorAll("thead th")) {
  if (head.closest("table").tBodies[0]?.rows.length < 2) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => sort(head));
}

const form = document.getElementById("filters");
const table = document.getElementById("rows");
const cells = JSON.parse(table.dataset.cells);
const rows = [...table.tBodies[0].rows].map(
  (row) => [row, {...cells[row.dataset.cell], ...JSON.parse(row.dataset.values)}]);

function show() {
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  let count = 0;
  for (const [row, values] of rows) {
    row.hidden = !chosen.every(([name, value]) => values[name].includes(value));
    count += !row.hidden;
  }
  document.getElementById("shown").textContent = count;
}

function read() {
  if (!location.hash.includes("=")) return;
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const select of form.elements) select.value = asked.get(select.name) ?? "";
  show();
}

form.addEventListener("change", () => {
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, "", "#" + new URLSearchParams(chosen));
  show();
});
window.addEventListener("hashchange", read);
form.hidden = false;
read();
