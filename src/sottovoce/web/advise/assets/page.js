"use strict";
// The page works without this file; with it, answers come while one types or ticks.
// Whatever people wrote is only ever set as text, never as markup.

const wait = (milliseconds, act) => {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
};

const newestOnly = (ask) => {
  let latest = 0;
  return async (...given) => {
    const mine = ++latest;
    const answer = await ask(...given);
    return mine === latest ? answer : null;
  };
};

const send = async (method, address, body) => {
  const answer = await fetch(address, {
    method,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const found = await answer.json();
  if (!answer.ok) {
    return { problem: typeof found.detail === "string" ? found.detail : "That could not be read." };
  }
  return found;
};

const say = (id, words) => {
  const place = document.getElementById(id);
  if (place && place.textContent !== words) place.textContent = words;
};

const moveMark = (strip, mark) => {
  const you = strip.querySelector(".you");
  const name = strip.querySelector(".you-name");
  if (!you || !name) return;
  const shown = mark ? "visible" : "hidden";
  you.setAttribute("visibility", shown);
  name.setAttribute("visibility", shown);
  if (!mark) return;
  you.setAttribute("x", mark.x);
  you.setAttribute("width", mark.width);
  name.setAttribute("x", Math.min(388, Math.max(12, mark.x + mark.width / 2)));
};

const whatIf = (form) => {
  const ask = newestOnly((body) => send("PUT", "/api/what-if", body));
  const update = async () => {
    const boxes = [...form.querySelectorAll('input[name="kept"]')];
    for (const box of boxes) box.closest("li").classList.toggle("gone", !box.checked);
    const shown = boxes.map((box) => Number(box.value));
    const kept = boxes.filter((box) => box.checked).map((box) => Number(box.value));
    const found = await ask({ topic: form.dataset.topic, shown, kept });
    if (!found) return;
    if (found.problem) return say("what-if-change", found.problem);
    say("what-if-change", found.change);
    say("what-if-count", found.count);
    const strip = document.getElementById("what-if-strip");
    if (strip) moveMark(strip, found.mark);
  };
  form.addEventListener("change", update);
};

const row = (one) => {
  const line = document.createElement("tr");
  const topic = document.createElement("th");
  topic.scope = "row";
  topic.textContent = one.topic;
  line.append(topic);
  for (const words of [one.says, one.now, one.then, one.words]) {
    const cell = document.createElement("td");
    cell.textContent = words;
    line.append(cell);
  }
  return line;
};

const piece = (one) => {
  if (!one.telling) return document.createTextNode(one.text);
  const mark = document.createElement("mark");
  mark.textContent = one.text;
  return mark;
};

const way = (one) => {
  const item = document.createElement("li");
  item.className = "card";
  const title = document.createElement("h3");
  title.textContent = one.title;
  const effect = document.createElement("strong");
  effect.textContent = one.effect;
  const first = document.createElement("p");
  first.append(effect);
  const reason = document.createElement("p");
  reason.textContent = one.reason;
  item.append(title, ...(one.effect ? [first] : []), reason);
  return item;
};

const draft = (form) => {
  const text = form.querySelector("textarea");
  const ask = newestOnly((body) => send("POST", "/api/draft", body));
  const update = wait(200, async () => {
    const found = await ask({ text: text.value });
    if (!found) return;
    const details = document.getElementById("draft-details");
    if (found.problem) {
      details.hidden = document.getElementById("draft-marked").hidden = true;
      return say("draft-summary", found.problem);
    }
    say("draft-summary", found.summary);
    document.getElementById("draft-rows").replaceChildren(...found.rows.map(row));
    document.getElementById("draft-ways").replaceChildren(...found.ways.map(way));
    const marked = document.getElementById("draft-marked");
    marked.replaceChildren(...found.pieces.map(piece));
    marked.hidden = found.pieces.length === 0;
    details.hidden = found.rows.length === 0;
  });
  text.addEventListener("input", update);
};

const upload = (form) => {
  const file = form.querySelector('input[type="file"]');
  const limit = Number(form.dataset.limit);
  const tooLarge = () => file.files.length > 0 && file.files[0].size > limit;
  const check = () => say("file-problem", tooLarge() ? "This file is larger than the limit." : "");
  file.addEventListener("change", check);
  form.addEventListener("submit", (event) => {
    if (tooLarge()) event.preventDefault();
  });
};

const enhance = (selector, act) => {
  const found = document.querySelector(selector);
  if (found) act(found);
};
enhance("#what-if", whatIf);
enhance("#draft", draft);
enhance("form[data-limit]", upload);
