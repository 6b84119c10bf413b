// SPDX-License-Identifier: MIT OR Apache-2.0
// The page put together: what is said in short, what is worth a look, the lines, the files.

const last = D.records[D.records.length - 1];
const present = tensors.filter((t) => !(t.change && t.change.state === "removed"));

function tiles() {
    const tile = (value, name, more, bad) => el("div", { class: bad ? "tile bad" : "tile" }, el("b", { text: value }), el("span", { text: name }), more ? el("small", {}, more) : "");
    const all = sumOf(present, (t) => t.count);
    const size = sumOf(present, (t) => t.bytes);
    const types = new Map();
    for (const t of present) {
        types.set(t.dtype, (types.get(t.dtype) || 0) + t.bytes);
    }
    const mix = [...types].sort((a, b) => b[1] - a[1]);
    const known = together(present.map(now));
    const list = [
        tile(whole(present.length), present.length === 1 ? "tensor" : "tensors", last.values ? plural(last.values, "other value") : null),
        tile(short(all), all === 1 ? "parameter" : "parameters", all >= 10000 ? whole(all) : null),
        tile(bytes(size), "of values", last.bytes !== null ? `file: ${bytes(last.bytes)}` : null),
    ];
    if (mix.length) {
        list.push(tile(mix[0][0], mix.length > 1 ? "mostly" : "element type", mix.length > 1 ? mix.slice(0, 3).map(([d, n]) => `${d} ${percent(n, size)}`).join(", ") : last.precision ? `precision: ${last.precision}` : null));
    }
    if (MODE !== "one") {
        const by = (state) => tensors.filter((t) => t.change && t.change.state === state).length;
        const changed = tensors.filter(isChanged).length;
        const parts = Object.keys(STATES).filter((s) => s !== "same" && s !== "changed").map((s) => [by(s), STATES[s]]).filter(([n]) => n);
        const total = changeTogether(tensors);
        list.push(tile(whole(changed), `of ${plural(tensors.length, "tensor")} ${changed === 1 ? "differs" : "differ"}`,
            parts.length ? parts.map(([n, s]) => `${whole(n)} ${s}`).join(", ") : by("same") ? `${whole(by("same"))} unchanged` : null));
        if (total && total.ratio !== null) {
            list.push(tile(figure(total.ratio, 3), "relative change", "norm of the difference over the larger norm"));
        }
    } else if (known) {
        list.push(tile(figure(known.norm, 4), "norm", `mean ${figure(known.mean, 3)}, std ${figure(known.std, 3)}`));
    }
    if (known) {
        const odd = known.nan + known.inf;
        list.push(tile(odd ? whole(odd) : "none", odd ? "NaN or infinite" : "NaN or infinite values", odd ? `${whole(known.nan)} NaN, ${whole(known.inf)} infinite` : `${percent(known.zeros, known.count)} zeros`, odd > 0));
    }
    $("tiles").replaceChildren(...list);
}

// ---- what is worth a look

function remarks() {
    const list = [];
    const name = (t) => el("button", { type: "button", class: "link", onclick: () => detail.open(t) }, keyNode(t.key || "(root)", "span"));
    const some = (found, most = 4) => {
        const nodes = [];
        found.slice(0, most).forEach((t, i) => nodes.push(i ? ", " : "", name(t)));
        return nodes;
    };
    const remark = (sort, text, found, flag, query) => {
        const more = found.length > 4 ? el("button", { type: "button", class: "link", onclick: () => table.filter(query || "", flag), text: `all ${whole(found.length)}` }) : null;
        list.push(el("li", { class: sort }, el("span", { class: "said", text }), found.length ? el("span", { class: "who" }, ...some(found), more ? " \u2026 " : "", more) : ""));
    };
    const flagged = (flag) => present.filter(FLAGS[flag].test);
    const values = (found, of) => sumOf(found, (t) => now(t)[of]);

    const nan = flagged("nan");
    if (nan.length) {
        const fresh = MODE !== "one" ? nan.filter((t) => t.a && t.a !== now(t) && t.a.nan === 0) : [];
        remark("bad", `${plural(values(nan, "nan"), "value")} in ${plural(nan.length, "tensor")} ${values(nan, "nan") === 1 ? "is" : "are"} NaN${fresh.length ? `; ${nan.length === 1 ? "it" : whole(fresh.length)} had none before` : ""}.`, nan, "nan");
    }
    const inf = flagged("inf");
    if (inf.length) {
        remark("bad", `${plural(values(inf, "inf"), "value")} in ${plural(inf.length, "tensor")} ${values(inf, "inf") === 1 ? "is" : "are"} infinite.`, inf, "inf");
    }
    if (MODE === "series") {
        // Where it went wrong first.
        const at = Object.keys(QUANTITIES).indexOf("norm");
        const sick = [];
        D.records.forEach((r, i) => {
            if (r.nan > 0 && (i === 0 || D.records[i - 1].nan === 0)) {
                sick.push(i);
            }
        });
        if (sick.length) {
            remark("bad", `The first record with NaN or infinite values is ${visible(D.records[sick[0]].name)}.`, []);
        }
        const grown = present.filter((t) => t.lines && t.a && t.b && t.a.norm > 0 && t.b.norm > 10 * t.a.norm && t.lines[at].length > 2);
        if (grown.length) {
            remark("hint", `The norm of ${plural(grown.length, "tensor")} grew more than tenfold.`, grown);
        }
    }
    for (const [state, text] of [["removed", "is not there any more"], ["added", "is new"], ["shape", "has another shape"], ["dtype", "has another element type"], ["renamed", "has another name and the same values"]]) {
        const found = tensors.filter((t) => t.change && t.change.state === state);
        if (found.length) {
            remark("hint", `${plural(found.length, "tensor")} ${found.length === 1 ? text : text.replace("is ", "are ").replace("has ", "have ")}.`, found, state);
        }
    }
    if (MODE !== "one") {
        const both = tensors.filter((t) => t.change && t.a && t.b);
        const same = both.filter((t) => t.change.state === "same");
        const most = both.filter((t) => t.change.ratio > 0).sort((a, b) => b.change.ratio - a.change.ratio);
        if (both.length && same.length === tensors.length) {
            remark("good", "Every value is the same.", []);
        } else if (same.length) {
            remark("hint", `${plural(same.length, "tensor")} (${percent(sumOf(same, (t) => t.count), sumOf(both, (t) => t.count))} of the parameters) did not change: frozen?`, same, "same");
        }
        if (most.length > 1) {
            remark("plain", `What changed most, by ${figure(most[0].change.ratio, 3)} of the larger norm:`, most.slice(0, 3));
        }
    }
    const over = flagged("over");
    if (over.length) {
        remark("hint", `${plural(values(over, "over"), "value")} in ${plural(over.length, "tensor")} would overflow at half precision.`, over, "over");
    }
    const under = flagged("under").filter((t) => now(t).under > 0.01 * now(t).count);
    if (under.length) {
        remark("hint", `More than 1 % of the values of ${plural(under.length, "tensor")} would become zero at half precision.`, under, "under");
    }
    const zero = flagged("zero");
    if (zero.length) {
        remark("plain", `${plural(zero.length, "tensor")} ${zero.length === 1 ? "is" : "are"} zero everywhere.`, zero, "zero");
    }
    const constant = flagged("constant");
    if (constant.length) {
        remark("plain", `${plural(constant.length, "tensor")} ${constant.length === 1 ? "has" : "have"} one value everywhere.`, constant, "constant");
    }
    if (MODE === "one" && !nan.length && !inf.length && present.some(now)) {
        list.unshift(el("li", { class: "good" }, el("span", { class: "said", text: "Every value is a finite number." })));
    }
    $("notes").replaceChildren(...list);
    $("notes-card").hidden = list.length === 0;
}

// ---- lines over the records

function lines() {
    if (MODE !== "series") {
        return;
    }
    $("lines-card").hidden = false;
    const quantity = $("quantity");
    const grouping = $("grouping");
    for (const q in QUANTITIES) {
        quantity.append(el("option", { value: q, text: QUANTITIES[q] }));
    }
    for (const [value, text] of [["modules", "modules"], ["layers", "layers"], ["whole", "the whole"], ["tensors", "tensors in the table below"]]) {
        grouping.append(el("option", { value, text }));
    }
    const modules = () => treemap.groups().map((g) => [g.name, g.list]);
    const layers = () => {
        const of = new Map();
        for (const t of tensors) {
            const names = levels(t.key);
            const number = names.findIndex((n) => /^\d+$/.test(n));
            const name = names.slice(0, number >= 0 ? number + 1 : Math.max(1, names.length - 1)).join(".");
            of.set(name, [...(of.get(name) || []), t]);
        }
        return [...of];
    };
    const draw = () => {
        const by = grouping.value;
        const groups = by === "whole" ? [["all tensors", tensors]] : by === "modules" ? modules() : by === "layers" ? layers()
            : table.found().slice(0, 400).map((t) => [t.key, [t]]);
        const all = groups.map(([name, list]) => ({ name, values: linesTogether(list, quantity.value) }))
            .filter((l) => l.values.some((v) => v !== null));
        // The colours are for those that are largest at the end.
        const end = (l) => Math.abs(l.values.filter((v) => v !== null).pop() || 0);
        all.sort((a, b) => end(b) - end(a)).forEach((l, i) => {
            l.strong = i < CATEGORIES;
            l.colour = category(i);
        });
        lineChart($("lines"), all, $("log").checked);
    };
    for (const control of [quantity, grouping, $("log")]) {
        control.addEventListener("change", draw);
    }
    table.onFound(() => grouping.value === "tensors" && draw());
    if (treemap.groups().length < 2) {
        grouping.value = "layers";
    }
    draw();
    let width = 0;
    new ResizeObserver(later(() => {
        if ($("lines").clientWidth !== width) {
            width = $("lines").clientWidth;
            draw();
        }
    })).observe($("lines"));
}

// ---- the rest

function values() {
    if (!D.values.length) {
        return;
    }
    const two = MODE !== "one";
    const head = two ? ["Key", visible(D.records[0].name), visible(last.name)] : ["Key", "Kind", "Value"];
    const rows = D.values.map((v) => {
        const other = two && v[2] !== v[3];
        return el("tr", { class: other ? "differs" : undefined }, el("th", { scope: "row" }, keyNode(v[0] || "(root)", "span")),
            ...(two ? [v[2], v[3]] : [v[1], v[2]]).map((text) => el("td", { text: text === null ? "\u2013" : visible(text) })));
    });
    $("values").replaceChildren(el("div", { class: "sideways" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col", text: h })))), el("tbody", {}, ...rows))),
        D.left ? el("p", { class: "dim", text: `\u2026 and ${whole(D.left)} more` }) : "");
    $("values-card").hidden = false;
}

function files() {
    const block = (r) => {
        const rows = [["File", keyNode(r.path, "span")], ["Recorder", r.recorder], ["Written by", r.writer || "\u2013"], ["Precision", r.precision],
            ["Size", r.bytes === null ? null : `${bytes(r.bytes)} (${plural(r.bytes, "byte")})`], ["Contents", `${plural(r.tensors, "tensor")}, ${plural(r.parameters, "parameter")}, ${plural(r.values, "other value")}`]];
        const meta = r.metadata.map(([k, v]) => el("div", {}, el("dt", {}, keyNode(k, "span")), el("dd", { text: visible(v) })));
        return el("div", { class: "file" }, el("dl", { class: "facts" }, ...rows.filter(([, v]) => v !== null && v !== undefined && v !== "").map(([n, v]) => el("div", {}, el("dt", { text: n }), el("dd", {}, v)))),
            meta.length ? el("details", { open: meta.length <= 6 }, el("summary", { text: plural(meta.length, "metadata entry", "metadata entries") }), el("dl", { class: "facts" }, ...meta)) : "");
    };
    if (MODE !== "series") {
        $("files").replaceChildren(...D.records.map(block));
        return;
    }
    const rows = D.records.map((r) => el("tr", {}, el("th", { scope: "row" }, keyNode(r.name, "span")), el("td", { class: "number", text: whole(r.tensors) }),
        el("td", { class: "number", text: r.bytes === null ? "\u2013" : bytes(r.bytes) }), el("td", { class: "number", text: figure(r.norm) }),
        el("td", { class: "number", text: figure(r.change) }), el("td", { class: r.nan ? "number warn" : "number", text: whole(r.nan) })));
    $("files").replaceChildren(el("div", { class: "sideways" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...["Record", "Tensors", "File", "Norm", "Change", "NaN, Inf"].map((h, i) => el("th", { scope: "col", text: h, class: i ? "number" : undefined })))), el("tbody", {}, ...rows))), block(last));
}

// On paper there is no scrolling: layers folded, at most so many lines.
function printed() {
    const MOST = 400;
    const rows = foldAll(tensors);
    const shown = SHOWN.filter((c) => c !== "bins" && c !== "trend");
    const isText = (c) => COLUMNS[c].text || c === "state";
    $("printed").replaceChildren(el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th", { text: "Key" }), ...shown.map((c) => el("th", { class: isText(c) ? undefined : "number", text: COLUMNS[c].title })))),
        el("tbody", {}, ...rows.slice(0, MOST).map((t) => el("tr", {}, el("th", { scope: "row" }, keyNode(t.key || "(root)", "span"), t.members > 1 ? ` \u00d7${whole(t.members)}` : ""),
            ...shown.map((c) => el("td", { class: isText(c) ? undefined : "number" }, cellOf(c, t))))))),
        rows.length > MOST ? el("p", { text: `\u2026 and ${whole(rows.length - MOST)} more lines` }) : "");
}

function theme() {
    const names = ["auto", "light", "dark"];
    const button = $("theme");
    let at = 0;
    const set = (name, keep) => {
        at = Math.max(0, names.indexOf(name));
        if (at) {
            document.documentElement.setAttribute("data-theme", names[at]);
        } else {
            document.documentElement.removeAttribute("data-theme");
        }
        button.textContent = `Theme: ${names[at]}`;
        try {
            if (keep) {
                localStorage.setItem("record-report-theme", names[at]);
            }
        } catch (error) {
            // pages from files may not be allowed to keep anything
        }
    };
    let kept = null;
    try {
        kept = localStorage.getItem("record-report-theme");
    } catch (error) {
        kept = null;
    }
    set(kept, false);
    button.addEventListener("click", () => set(names[(at + 1) % names.length], true));
}

// What is shown without scripts gives way once everything is there.
$("live").hidden = false;
document.documentElement.classList.add("live");
theme();
tiles();
treemap.begin();
table.begin();
remarks();
lines();
values();
files();
printed();
detail.begin();
