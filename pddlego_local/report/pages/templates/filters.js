// Shows the episodes that have every chosen value; the choice is in the address, after the #.
"use strict";
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll("#rows tbody tr")].map(
  (row) => [row, JSON.parse(row.dataset.values)]);

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
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const select = form.elements.namedItem(name);
    if (select) select.value = value;
  }
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
