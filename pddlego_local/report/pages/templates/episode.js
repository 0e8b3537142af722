// Shows one step of the episode at a time, and the same game of another arm beside it. The step is in the
// address, after the #.
"use strict";

const steps = [...document.querySelectorAll("section.step")];
const bar = document.getElementById("stepper");
const slider = bar.querySelector("input");
const played = document.getElementById("played");
const maps = [...document.querySelectorAll(".map")];
const inside = window !== window.parent;
let all = false;
let frame = null;

function place(name) {
  const found = steps.findIndex((step) => step.id === name);
  if (found >= 0) return found;
  return name.startsWith("step-") ? steps.length - 1 : Math.min(1, steps.length - 1);
}

function show(number) {
  const step = steps[number];
  slider.value = number;
  for (const other of steps) other.hidden = !all && other !== step;
  bar.querySelector("output").textContent = step.querySelector("h2").textContent;
  document.getElementById("all").setAttribute("aria-pressed", all);
  if (frame) frame.src = frame.dataset.page + "#" + step.id;
  if (inside) window.parent.postMessage({fits: fitting()}, "*");
}

// The scale at which the maps that are shown fit into their figures.
function fitting() {
  const rooms = maps.map((map) => map.parentElement.clientWidth / map.width.baseVal.value);
  return Math.min(1, ...rooms.filter((room) => room));
}

// Draws all maps at one scale, so that two arms can be compared; each as it fits if it is 0.
function draw(scale) {
  for (const map of maps) map.style.width = scale ? map.width.baseVal.value * scale + "px" : "";
}

function go(number) {
  const within = Math.max(0, Math.min(steps.length - 1, number));
  history.replaceState(null, "", "#" + steps[within].id);
  show(within);
  if (all) steps[within].scrollIntoView();
}

function beside(link) {
  const open = frame?.dataset.page === link.href;
  frame?.remove();
  frame = null;
  if (!open) {
    frame = document.createElement("iframe");
    frame.title = "the same game by " + link.textContent;
    frame.dataset.page = link.href;
    played.append(frame);
  }
  draw(0);
  played.classList.toggle("two", !open);
  show(Number(slider.value));
}

slider.addEventListener("input", () => go(Number(slider.value)));
document.getElementById("back").addEventListener("click", () => go(Number(slider.value) - 1));
document.getElementById("on").addEventListener("click", () => go(Number(slider.value) + 1));
document.getElementById("all").addEventListener("click", () => { all = !all; show(Number(slider.value)); });
document.addEventListener("keydown", (event) => {
  const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!way || event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
  go(Number(slider.value) + way);
  event.preventDefault();
});
for (const link of document.querySelectorAll("a.other")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "beside";
  button.addEventListener("click", () => beside(link));
  link.after(" ", button);
}
window.addEventListener("hashchange", () => show(place(location.hash.slice(1))));
window.addEventListener("resize", () => show(Number(slider.value)));
window.addEventListener("message", ({data, source}) => {
  if (inside && source === window.parent && data.scale) draw(data.scale);
  if (frame && source === frame.contentWindow && data.fits) {
    const scale = Math.min(data.fits, fitting());
    draw(scale);
    source.postMessage({scale}, "*");
  }
});
if (inside) document.body.classList.add("inside");
bar.hidden = false;
show(place(location.hash.slice(1)));
