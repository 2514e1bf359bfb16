"use strict";
// Without this script the tables are there, in the order they are written in.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => {
        const cell = row.cells[column];
        return [cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v), row];
      });
      const sign = down ? -1 : 1;
      keyed.sort(([a], [b]) =>
        sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
