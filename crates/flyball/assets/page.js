// Keeps [data-live] parts fresh and sends acts without leaving the page. One stream per browser: the tab
// that holds the lock listens and tells the others. Without this script every page is complete.
"use strict";
const live = document.getElementById("live");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("flyball") : null;
let due = false, busy = false, over = false;

async function refresh() {
  if (busy || document.hidden) { due = true; return; }
  busy = true; due = false;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401 || answer.status === 403) { over = true; show("off", "session ended: open a new link"); return; }
    if (answer.ok) swap(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch { /* the stream says so */ } finally {
    setTimeout(() => { busy = false; if (due) refresh(); }, 400);
  }
}

// Puts new parts in place of old ones. What is being typed, opened or pointed at by focus stays.
function swap(fresh) {
  const parts = [...fresh.querySelectorAll("[data-live]")];
  for (const part of parts.filter((one) => !one.parentElement.closest("[data-live]"))) {
    const old = document.getElementById(part.id);
    if (!old || holds(old) || !differs(old, part)) continue;
    keep(old, part);
    const focus = old.contains(document.activeElement) && document.activeElement.id;
    old.replaceWith(part);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
  document.title = fresh.title;
}
function holds(part) {
  const field = part.querySelector("textarea, input[type=text]");
  const focused = document.activeElement;
  return Boolean(field?.value) || (part.contains(focused) && focused.matches("textarea, input, select"));
}
function differs(old, part) {
  const plain = (one) => one.innerHTML.replace(/ open=""/g, "").replace(/(<span data-ago="\d+">)[^<]*/g, "$1")
    .replace(/name="page" value="\w*"/g, "");
  return plain(old) !== plain(part);
}
function keep(old, part) {
  for (const one of old.querySelectorAll("details[open][id]")) {
    part.querySelector("#" + CSS.escape(one.id))?.setAttribute("open", "");
  }
  const from = old.querySelector(".scroll"), to = part.querySelector(".scroll");
  if (from && to) requestAnimationFrame(() => { to.scrollLeft = from.scrollLeft; });
}

function show(state, words) {
  live.textContent = words;
  live.className = "live " + state;
}
function heard(word) {
  if (word === "change") refresh();
  else if (word === "up") { over = false; show("on", "live"); }
  else if (word === "down" && !over) show("off", "connection lost");
  else if (word === "bye") show("off", "flyball serve has ended");
}
function listen() {
  const stream = new EventSource("/api/live");
  const tell = (word) => { heard(word); channel?.postMessage(word); };
  stream.addEventListener("hello", () => { tell("up"); tell("change"); });
  stream.addEventListener("change", () => tell("change"));
  stream.addEventListener("bye", () => tell("bye"));
  stream.onerror = () => {
    tell("down");
    // A browser comes back by itself where nobody answered, and not where it was sent away.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => { tell("change"); listen(); }, 3000);
  };
}
if (channel) channel.onmessage = (message) => {
  if (message.data === "who") { if (live.classList.contains("on")) channel.postMessage("up"); } else heard(message.data);
};
if (navigator.locks && channel) {
  channel.postMessage("who");
  navigator.locks.request("flyball-stream", () => new Promise(listen));
} else {
  listen(); // No locks outside of a secure context: one stream per tab, and the page says so.
  live.title = "one stream per tab: this address is no secure context";
}
document.addEventListener("visibilitychange", () => { if (!document.hidden && due) refresh(); });

// How long ago, without asking anybody.
function spanWords(seconds) {
  const [days, hours, minutes] = [seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60].map(Math.floor);
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min` : `${Math.max(0, Math.floor(seconds))} s`;
}
setInterval(() => {
  for (const one of document.querySelectorAll("[data-ago]")) {
    one.textContent = spanWords((Date.now() - Number(one.dataset.ago)) / 1000) + " ago";
  }
}, 1000);

// Acts: the same form, without leaving the page.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-act]")) return;
  event.preventDefault();
  const said = form.querySelector("[role=status]");
  const buttons = [...form.querySelectorAll("button")];
  const body = new URLSearchParams(new FormData(form, event.submitter));
  buttons.forEach((one) => { one.disabled = true; });
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "application/json" } });
    const told = await answer.json();
    said.textContent = answer.ok ? told.done : [told.error, told.hint].filter(Boolean).join(" – ");
    said.className = answer.ok ? "plus" : "minus";
    if (answer.ok) form.reset();
    due = true;
    refresh();
  } catch {
    said.textContent = "connection lost; nothing is known of it";
    said.className = "minus";
  } finally {
    buttons.forEach((one) => { one.disabled = false; });
  }
});

// A link to an iteration opens it.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.matches("details")) { target.open = true; target.scrollIntoView({ block: "center" }); }
}
addEventListener("hashchange", openTarget);
openTarget();
