// SPDX-License-Identifier: MIT OR Apache-2.0
// What the parts of the page share: the data, elements, numbers as people read them, keys that cannot mislead.
// Text from the record only ever becomes text nodes and attributes, never markup.

const D = JSON.parse(document.getElementById("data").textContent);
const MODE = D.mode; // "one", "two" or "series"
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
    for (const name in attributes) {
        const value = attributes[name];
        if (value === undefined || value === null || value === false) {
            continue;
        }
        if (name === "text") {
            node.textContent = value;
        } else if (name.startsWith("on")) {
            node.addEventListener(name.slice(2), value);
        } else if (name === "css") {
            Object.assign(node.style, value);
        } else {
            node.setAttribute(name, value === true ? "" : value);
        }
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// ---- numbers

const whole = (n) => n.toLocaleString("en-US");
const plural = (n, one, many) => `${whole(n)} ${n === 1 ? one : many || one + "s"}`;

function figure(x, digits = 4) {
    if (x === null || x === undefined) {
        return "\u2013";
    }
    if (typeof x !== "number") {
        return String(x);
    }
    if (x === 0 || !Number.isFinite(x)) {
        return String(x);
    }
    const size = Math.abs(x);
    let text;
    if (Number.isInteger(x) && size < 1e6) {
        text = whole(x);
    } else if (size >= 1e6 || size < 1e-3) {
        const [mantissa, power] = x.toExponential(digits - 2).split("e");
        text = `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${power.replace("+", "")}`;
    } else {
        text = x.toPrecision(digits);
        text = text.includes("e") ? whole(Math.round(x)) : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
    }
    return text.replace(/-/g, "\u2212");
}

function short(n) {
    if (n < 10000) {
        return whole(n);
    }
    for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
        if (n >= size * 0.9995) {
            return `${(n / size).toPrecision(3)} ${unit}`;
        }
    }
    return whole(n);
}

function bytes(n) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    let size = n;
    while (size >= 1023.95 && unit < units.length - 1) {
        size /= 1024;
        unit++;
    }
    return unit === 0 ? plural(n, "byte") : `${size.toPrecision(size >= 999.5 ? 4 : 3)} ${units[unit]}`;
}

function percent(part, of) {
    if (!of) {
        return "\u2013";
    }
    const p = (100 * part) / of;
    return p === 0 ? "0 %" : p < 0.01 ? "< 0.01 %" : p > 99.99 && p < 100 ? "> 99.99 %" : `${+p.toPrecision(3)} %`;
}

const shapeText = (s) => (s ? `[${s.join(", ")}]` : "");

// ---- keys

// Characters that have no look of their own, or change the look of others, are shown by their numbers.
const ODD = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]/g;
const visible = (text) =>
    text.replace(ODD, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`) || "(no name)";

// The levels of a path; a dot that belongs to a name has a backslash before it.
function levels(path) {
    const parts = [];
    let part = "";
    for (let i = 0; i < path.length; i++) {
        if (path[i] === "\\" && (path[i + 1] === "." || path[i + 1] === "\\")) {
            part += path[++i];
        } else if (path[i] === ".") {
            parts.push(part);
            part = "";
        } else {
            part += path[i];
        }
    }
    parts.push(part);
    return parts;
}

// Lines may break behind dots and underscores, and a name is isolated from the direction of what is around it.
function keyNode(text, tag = "bdi") {
    const node = el(tag, { class: "key" });
    for (const piece of visible(text).match(/[^._/]*[._/]?/g)) {
        if (piece) {
            node.append(piece, el("wbr"));
        }
    }
    return node;
}

// ---- tensors

const NAMES = ["count", "zeros", "nan", "inf", "subnormal", "over", "under", "min", "max", "mean", "std", "norm", "low",
    "high", "bins"];
function statistics(list) {
    if (!list) {
        return null;
    }
    const s = {};
    NAMES.forEach((name, i) => {
        s[name] = list[i];
    });
    s.finite = s.count - s.nan - s.inf;
    s.rms = s.norm === null || !s.finite ? null : s.norm / Math.sqrt(s.finite);
    return s;
}

const sumOf = (list, of) => list.reduce((a, x) => a + of(x), 0);
const product = (shape) => shape.reduce((a, b) => a * b, 1);
const tensors = D.tensors.map((t, index) => ({
    index,
    key: t.k,
    search: t.k.toLowerCase(),
    dtype: D.dtypes[t.d],
    shape: t.s,
    count: product(t.s),
    bytes: t.n,
    id: t.i,
    before: t.o ? { dtype: t.o[0], shape: t.o[1], key: t.o[2] } : null,
    a: statistics(t.a),
    b: MODE === "one" ? null : statistics(t.b),
    change: t.c ? { state: t.c[0], differ: t.c[1], most: t.c[2], at: t.c[3], ratio: t.c[4], cosine: t.c[5] } : null,
    lines: t.l || null, // by quantity: a number for each record
    members: 1,
}));
// What it is now: of two records the second, of several the last one that has it.
const now = (t) => t.b || t.a;
// Rows that a group of layers of the same form stands for.
const isChanged = (t) => t.change && t.change.state !== "same";

const STATES = {
    same: "unchanged",
    changed: "changed",
    rounded: "rounded",
    dtype: "other type",
    shape: "other shape",
    renamed: "renamed",
    added: "added",
    removed: "removed",
};

// ---- colours

const CATEGORIES = 8;
const category = (i) => `var(--c${i < CATEGORIES ? i : "x"})`;

// ---- the hint that follows the pointer

const tip = $("tip");
function showTip(event, ...lines) {
    tip.replaceChildren(...lines.filter(Boolean).map((l) => (l instanceof Node ? l : el("div", { text: l }))));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${Math.max(8, y)}px`;
}
function hideTip() {
    tip.hidden = true;
}

// Called once for many events of a frame.
function later(work) {
    let asked = false;
    return () => {
        if (!asked) {
            asked = true;
            requestAnimationFrame(() => {
                asked = false;
                work();
            });
        }
    };
}
