// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of tensors: only the rows that are to be seen exist, so that many thousands stay fluid.

// What several tensors have together, for a row that stands for all of them.
function together(list) {
    const known = list.filter(Boolean);
    if (known.length === 0) {
        return null;
    }
    if (known.length === 1) {
        return known[0];
    }
    const sum = (name) => known.reduce((a, s) => a + s[name], 0);
    const values = known.filter((s) => s.finite > 0);
    const s = { count: sum("count"), finite: sum("finite") };
    for (const name of ["zeros", "nan", "inf", "subnormal", "over", "under"]) {
        s[name] = sum(name);
    }
    s.min = values.length ? Math.min(...values.map((v) => v.min)) : null;
    s.max = values.length ? Math.max(...values.map((v) => v.max)) : null;
    s.mean = values.length ? values.reduce((a, v) => a + v.mean * v.finite, 0) / s.finite : null;
    s.norm = values.length ? Math.hypot(...values.map((v) => v.norm)) : null;
    s.rms = values.length ? s.norm / Math.sqrt(s.finite) : null;
    s.std = values.length
        ? Math.sqrt(values.reduce((a, v) => a + v.finite * (v.std ** 2 + (v.mean - s.mean) ** 2), 0) / s.finite) : null;
    const bins = joinBins(values);
    s.low = bins ? bins.low : null;
    s.high = bins ? bins.high : null;
    s.bins = bins ? bins.bins : null;
    return s;
}

function changeTogether(list) {
    const changes = list.map((t) => t.change).filter(Boolean);
    if (changes.length === 0) {
        return null;
    }
    const states = new Set(changes.map((c) => c.state));
    states.delete("same");
    const pairs = list.filter((t) => t.change && t.change.ratio !== null && t.a && t.b);
    let difference = 0;
    let from = 0;
    let dot = 0;
    let to = 0;
    for (const t of pairs) {
        difference += (t.change.ratio * Math.max(t.a.norm, t.b.norm)) ** 2;
        from += t.a.norm ** 2;
        to += t.b.norm ** 2;
        dot += (t.change.cosine || 0) * t.a.norm * t.b.norm;
    }
    const most = changes.map((c) => c.most).filter((m) => m !== null);
    return {
        state: states.size === 0 ? "same" : states.size === 1 ? [...states][0] : "changed",
        differ: changes.reduce((a, c) => a + (c.differ || 0), 0),
        most: most.length ? Math.max(...most) : null,
        at: null,
        ratio: from + to > 0 ? Math.sqrt(difference / Math.max(from, to)) : pairs.length ? 0 : null,
        cosine: from > 0 && to > 0 ? dot / Math.sqrt(from * to) : null,
    };
}

// Lines of several tensors as one: norms add as the sides of a right angle do.
const QUANTITIES = { norm: "norm", change: "change since the record before, relative", mean: "mean", std: "standard deviation" };
function linesTogether(list, quantity) {
    const steps = D.records.length;
    const out = new Array(steps).fill(null);
    const at = Object.keys(QUANTITIES).indexOf(quantity);
    for (let i = 0; i < steps; i++) {
        let sum = 0;
        let square = 0;
        let weight = 0;
        let other = 0;
        for (const t of list) {
            const v = t.lines && t.lines[at][i];
            if (typeof v !== "number") {
                continue;
            }
            if (quantity === "norm") {
                square += v * v;
                weight = 1;
            } else if (quantity === "change") {
                const before = t.lines[0][i - 1] || 0;
                const after = t.lines[0][i] || 0;
                square += (v * Math.max(before, after)) ** 2;
                weight += before ** 2;
                other += after ** 2;
            } else {
                const mean = t.lines[2][i] || 0;
                sum += mean * t.count;
                square += quantity === "std" ? (v * v + mean * mean) * t.count : 0;
                weight += t.count;
            }
        }
        if (weight + other > 0) {
            const mean = sum / weight;
            out[i] = quantity === "norm" ? Math.sqrt(square) : quantity === "change" ? Math.sqrt(square / Math.max(weight, other))
                : quantity === "mean" ? mean : Math.sqrt(Math.max(0, square / weight - mean * mean));
        }
    }
    return out;
}

const pattern = (key) => key.replace(/(^|\.)\d+(?=\.|$)/g, "$1#");

// Rows that fold layers of the same form, in the order of their first ones.
function foldAll(list) {
    const groups = new Map();
    for (const t of list) {
        const name = `${pattern(t.key)}\u0000${t.dtype}\u0000${t.shape.join()}`;
        const group = groups.get(name);
        if (group) {
            group.push(t);
        } else {
            groups.set(name, [t]);
        }
    }
    return [...groups.values()].map((g) => {
        if (g.length === 1) {
            return g[0];
        }
        return {
            ...g[0],
            key: pattern(g[0].key),
            id: null,
            members: g.length,
            list: g,
            before: g.every((t) => t.before && String(t.before.shape) === String(g[0].before && g[0].before.shape)) ? g[0].before : null,
            a: together(g.map((t) => t.a)),
            b: together(g.map((t) => t.b)),
            change: changeTogether(g),
            lines: g[0].lines ? Object.keys(QUANTITIES).map((q) => linesTogether(g, q)) : null,
        };
    });
}

// ---- what a row shows

const badge = (state) => el("span", { class: `badge s-${state}`, text: STATES[state] });
const stat = (name) => (t) => (now(t) ? now(t)[name] : null);
const bars = (t) => {
    const s = now(t);
    if (!s || !s.bins) {
        return "";
    }
    const old = t.b && t.a && t.a.bins ? t.a : null;
    return spark(s, old);
};
const moved = (from, to) => (from === to ? to : `${from} \u2192 ${to}`);
const COLUMNS = {
    state: { title: "", hint: "what became of it", width: 96, value: (t) => (t.change ? Object.keys(STATES).indexOf(t.change.state) : -1), cell: (t) => (t.change ? badge(t.change.state) : "") },
    dtype: { title: "Type", hint: "element type", width: 62, value: (t) => t.dtype, cell: (t) => (t.before ? moved(t.before.dtype, t.dtype) : t.dtype), text: true },
    shape: { title: "Shape", hint: "dimensions, outermost first", width: 148, value: (t) => t.count, cell: (t) => (t.before && t.before.shape ? moved(shapeText(t.before.shape), shapeText(t.shape)) : shapeText(t.shape)), text: true },
    count: { title: "Parameters", hint: "elements, of all that a row stands for", width: 100, value: (t) => t.count * t.members, cell: (t) => short(t.count * t.members) },
    min: { title: "Min", hint: "smallest finite value", width: 90, value: stat("min") },
    max: { title: "Max", hint: "largest finite value", width: 90, value: stat("max") },
    mean: { title: "Mean", hint: "mean of the finite values", width: 90, value: stat("mean") },
    std: { title: "Std", hint: "standard deviation", width: 90, value: stat("std") },
    norm: { title: "Norm", hint: "Euclidean norm", width: 90, value: stat("norm") },
    zeros: { title: "Zeros", hint: "share of values that are zero", width: 72, value: (t) => (now(t) && now(t).count ? now(t).zeros / now(t).count : null), cell: (t) => (now(t) ? percent(now(t).zeros, now(t).count) : "\u2013") },
    ratio: { title: "Change", hint: "norm of the difference over the larger norm", width: 86, value: (t) => (t.change ? t.change.ratio : null) },
    most: { title: "Largest", hint: "largest absolute difference", width: 86, value: (t) => (t.change ? t.change.most : null) },
    cosine: { title: "Cosine", hint: "cosine of the angle between before and now", width: 86, value: (t) => (t.change ? t.change.cosine : null), cell: (t) => figure(t.change ? t.change.cosine : null, 6) },
    before: { title: "Norm was", hint: "Euclidean norm in the first record", width: 92, value: (t) => (t.a ? t.a.norm : null) },
    after: { title: "Norm is", hint: "Euclidean norm in the last record", width: 92, value: (t) => (t.b ? t.b.norm : null) },
    trend: { title: "Norms", hint: "the norm along the records", width: 118, cell: (t) => (t.lines ? trend(t.lines[0]) : "") },
    bins: { title: "Values", hint: "how the values are distributed", width: 118, cell: bars },
};
// In the order of the row; those at the end of the second list go first where there is little room.
const SHOWN = {
    one: ["dtype", "shape", "count", "min", "max", "mean", "std", "norm", "zeros", "bins"],
    two: ["state", "dtype", "shape", "ratio", "most", "cosine", "before", "after", "bins"],
    series: ["dtype", "shape", "count", "before", "after", "ratio", "trend", "bins"],
}[MODE];
const KEEP = {
    one: ["bins", "shape", "dtype", "count", "std", "norm", "mean", "zeros", "max", "min"],
    two: ["state", "ratio", "bins", "shape", "dtype", "most", "cosine", "after", "before"],
    series: ["trend", "ratio", "shape", "bins", "dtype", "count", "after", "before"],
}[MODE];
const cellOf = (name, t) => {
    const column = COLUMNS[name];
    return column.cell ? column.cell(t) : figure(column.value(t));
};

const FLAGS = {
    nan: { name: "with NaN", test: (t) => now(t) && now(t).nan > 0 },
    inf: { name: "with infinities", test: (t) => now(t) && now(t).inf > 0 },
    zero: { name: "all zero", test: (t) => now(t) && now(t).count > 0 && now(t).zeros === now(t).count },
    constant: { name: "all of one value", test: (t) => now(t) && now(t).count > 1 && now(t).min === now(t).max && now(t).zeros === 0 && now(t).finite === now(t).count },
    over: { name: "too large for half precision", test: (t) => now(t) && now(t).over > 0 },
    under: { name: "zero at half precision", test: (t) => now(t) && now(t).under > 0 },
    subnormal: { name: "with subnormal values", test: (t) => now(t) && now(t).subnormal > 0 },
};

const table = (() => {
    let rows = []; // what the filter leaves, in order, groups opened
    let found = [];
    let sortBy = null;
    let down = true;
    let chosen = 0;
    let folded = false;
    const open = new Set();
    const drawn = new Map(); // row elements by their place
    let columns = [];
    let narrow = false;
    let height = 34;
    let keyWidth = 0;
    const body = $("rows");
    const scroller = $("scroller");

    // ---- finding

    function matcher(query) {
        const tests = [];
        for (const word of query.trim().split(/\s+/).filter(Boolean)) {
            const no = word.length > 1 && word[0] === "!";
            let text = no ? word.slice(1) : word;
            let test;
            if (text.length > 2 && text[0] === "/" && text.endsWith("/")) {
                let expression;
                try {
                    expression = new RegExp(text.slice(1, -1), "u");
                } catch (error) {
                    return { error: `Not a regular expression: ${text}` };
                }
                test = (t) => expression.test(t.key);
            } else if (/[*?#]/.test(text)) {
                // As in a shell; a hash sign is a number, as in a folded row.
                const source = text.replace(/[\\^$.+()[\]{}|/]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".").replace(/#/g, "\\d+");
                const expression = new RegExp(text.includes("#") ? `^${source}$` : source, "iu");
                test = (t) => expression.test(t.key);
            } else {
                text = text.toLowerCase();
                test = (t) => t.search.includes(text);
            }
            tests.push(no ? (t) => !test(t) : test);
        }
        return { test: (t) => tests.every((each) => each(t)) };
    }

    function find() {
        const m = matcher($("search").value);
        const dtype = $("dtype").value;
        const flag = $("flag").value;
        $("wrong").textContent = m.error || "";
        $("search").setAttribute("aria-invalid", m.error ? "true" : "false");
        found = m.error ? [] : tensors.filter((t) => m.test(t) && (!dtype || t.dtype === dtype) &&
            (!flag || (FLAGS[flag] ? FLAGS[flag].test(t) : flag === "changed" ? isChanged(t) : t.change && t.change.state === flag)));
        arrange();
    }

    function compare(a, b) {
        const column = COLUMNS[sortBy];
        const x = sortBy === "key" ? a.key : column.value(a);
        const y = sortBy === "key" ? b.key : column.value(b);
        const none = (v) => v === null || v === undefined || (typeof v === "number" && Number.isNaN(v));
        if (none(x) || none(y)) {
            return none(x) - none(y) || a.index - b.index; // what has none is last, either way
        }
        const order = typeof x === "string" ? names.compare(x, y) : x < y ? -1 : x > y ? 1 : 0;
        return (down ? -order : order) || a.index - b.index;
    }
    const names = new Intl.Collator("en", { numeric: true });

    function arrange() {
        const list = folded ? foldAll(found) : [...found];
        if (sortBy) {
            list.sort(compare);
        }
        rows = [];
        for (const t of list) {
            rows.push(t);
            if (t.list && open.has(t.key + t.shape)) {
                rows.push(...(sortBy ? [...t.list].sort(compare) : t.list).map((m) => ({ ...m, inner: true })));
            }
        }
        chosen = Math.max(0, Math.min(chosen, rows.length - 1));
        const count = $("count");
        const size = found.reduce((a, t) => a + (t.change && t.change.state === "removed" ? 0 : t.bytes), 0);
        count.textContent = `${found.length === tensors.length ? plural(found.length, "tensor") : `${whole(found.length)} of ${plural(tensors.length, "tensor")}`}, ${bytes(size)}`;
        $("nothing").hidden = rows.length > 0;
        heads();
        clear();
        for (const listener of listeners) {
            listener(found);
        }
    }
    const listeners = [];

    // ---- drawing

    function fit() {
        const width = scroller.clientWidth;
        narrow = width < 620;
        height = narrow ? 78 : 34;
        columns = [];
        if (!narrow) {
            let left = width - 40 - Math.min(300, width * 0.38);
            for (const name of KEEP) {
                if (left - COLUMNS[name].width < 0) {
                    break;
                }
                left -= COLUMNS[name].width;
                columns.push(name);
            }
            columns = SHOWN.filter((name) => columns.includes(name));
        }
        keyWidth = width;
        const template = narrow ? "" : `minmax(0, 1fr) ${columns.map((c) => `${COLUMNS[c].width}px`).join(" ")}`;
        scroller.style.setProperty("--columns", template);
        scroller.classList.toggle("narrow", narrow);
        heads();
        clear();
    }

    function sortTo(name) {
        if (sortBy !== name) {
            sortBy = name;
            down = !(name === "key" || COLUMNS[name].text);
        } else if (down === !(name === "key" || COLUMNS[name].text)) {
            down = !down;
        } else {
            sortBy = null;
        }
        $("sort").value = sortBy || "";
        arrange();
        scroller.scrollTop = 0;
    }

    function heads() {
        const head = (name, title, hint, text) => el("div", { class: text ? "head" : "head number", role: "columnheader", "aria-sort": sortBy === name ? (down ? "descending" : "ascending") : "none" },
            name !== "key" && !COLUMNS[name].value ? el("span", { text: title, title: hint })
                : el("button", { type: "button", title: `${hint}; click to sort`, onclick: () => sortTo(name) },
                    title || "State", el("span", { class: "arrow", "aria-hidden": "true", text: sortBy === name ? (down ? "\u2193" : "\u2191") : "" })));
        $("heads").replaceChildren(head("key", "Key", "name in the record", true),
            ...columns.map((c) => head(c, COLUMNS[c].title, COLUMNS[c].hint, COLUMNS[c].text || c === "state" || !COLUMNS[c].value)));
    }

    function clear() {
        body.replaceChildren();
        drawn.clear();
        body.style.height = `${rows.length * height}px`;
        scroller.setAttribute("aria-rowcount", rows.length + 1);
        // Short listings need no window of their own.
        scroller.style.height = `${Math.min(rows.length * height + (narrow ? 2 : 36), Math.max(360, Math.round(innerHeight * 0.72)))}px`;
        show();
    }

    function row(t, place) {
        const title = t.key || "(root)";
        const name = keyNode(title, "span");
        const first = el("div", { class: "cell first", role: "gridcell", title: visible(title) });
        if (t.inner) {
            first.classList.add("inner");
        }
        first.append(t.list ? el("span", { class: "fold", "aria-hidden": "true", text: open.has(t.key + t.shape) ? "\u25be" : "\u25b8" }) : "", name,
            t.list ? el("span", { class: "times", text: `\u00d7${whole(t.members)}` }) : "");
        const node = el("div", {
            class: place === chosen ? "row chosen" : "row", role: "row", id: `row-${place}`, "aria-rowindex": place + 2,
            "data-place": place, "aria-selected": place === chosen ? "true" : "false",
        }, first);
        if (t.list) {
            node.setAttribute("aria-expanded", open.has(t.key + t.shape) ? "true" : "false");
        }
        node.style.transform = `translateY(${place * height}px)`;
        if (now(t) && (now(t).nan > 0 || now(t).inf > 0)) {
            first.append(el("span", { class: "badge bad", text: now(t).nan > 0 ? "NaN" : "Inf" }));
        }
        if (narrow) {
            const more = MODE === "one" ? `std ${figure(now(t) ? now(t).std : null, 3)}` : t.change && t.change.state === "changed" ? `change ${figure(t.change.ratio, 3)}` : "";
            node.append(el("div", { class: "cell second", role: "gridcell" },
                el("span", { class: "form", text: `${t.dtype} ${shapeText(t.shape)}` }),
                MODE === "two" && t.change && t.change.state !== "changed" ? badge(t.change.state) : el("span", { class: "dim", text: more }),
                MODE === "series" ? cellOf("trend", t) : cellOf("bins", t)));
        } else {
            for (const c of columns) {
                const cell = cellOf(c, t);
                const drawing = !COLUMNS[c].value;
                node.append(el("div", { class: COLUMNS[c].text || c === "state" ? "cell" : drawing ? "cell drawing" : "cell number", role: "gridcell", title: COLUMNS[c].text ? cell : undefined }, cell));
            }
        }
        return node;
    }

    function show() {
        const from = Math.max(0, Math.floor(scroller.scrollTop / height) - 6);
        const to = Math.min(rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + 6);
        for (const [place, node] of drawn) {
            if (place < from || place >= to) {
                node.remove();
                drawn.delete(place);
            }
        }
        for (let place = from; place < to; place++) {
            if (!drawn.has(place)) {
                const node = row(rows[place], place);
                drawn.set(place, node);
                body.append(node);
            }
        }
        if (rows.length) {
            scroller.setAttribute("aria-activedescendant", `row-${chosen}`);
        } else {
            scroller.removeAttribute("aria-activedescendant");
        }
    }

    function choose(place) {
        const mark = (yes) => {
            const node = drawn.get(chosen);
            if (node) {
                node.classList.toggle("chosen", yes);
                node.setAttribute("aria-selected", yes ? "true" : "false");
            }
        };
        mark(false);
        chosen = Math.max(0, Math.min(place, rows.length - 1));
        const top = chosen * height;
        const head = narrow ? 0 : 34;
        if (top < scroller.scrollTop) {
            scroller.scrollTop = top;
        } else if (top + height + head > scroller.scrollTop + scroller.clientHeight) {
            scroller.scrollTop = top + height + head - scroller.clientHeight;
        }
        show();
        mark(true);
    }

    function act(place) {
        const t = rows[place];
        if (!t) {
            return;
        }
        choose(place);
        if (t.list) {
            const name = t.key + t.shape;
            if (!open.delete(name)) {
                open.add(name);
            }
            arrange();
        } else {
            detail.open(tensors[t.index]);
        }
    }

    // From a tensor to its neighbour in the table, over rows that are groups.
    function step(t, by) {
        let place = rows.findIndex((r) => !r.list && r.index === t.index);
        if (place < 0) {
            place = by > 0 ? -1 : rows.length;
        }
        for (place += by; place >= 0 && place < rows.length; place += by) {
            if (!rows[place].list) {
                choose(place);
                return tensors[rows[place].index];
            }
        }
        return null;
    }

    function begin() {
        $("dtype").append(el("option", { value: "", text: "all types" }), ...D.dtypes.map((d) => el("option", { value: d, text: d })));
        $("dtype").parentNode.hidden = D.dtypes.length < 2;
        $("flag").append(el("option", { value: "", text: "all tensors" }));
        if (MODE !== "one") {
            const used = Object.keys(STATES).filter((s) => tensors.some((t) => t.change && t.change.state === s));
            $("flag").append(el("option", { value: "changed", text: "all that differs" }),
                ...used.filter((s) => s !== "changed").map((s) => el("option", { value: s, text: STATES[s] })));
        }
        for (const f in FLAGS) {
            const n = tensors.filter(FLAGS[f].test).length;
            if (n) {
                $("flag").append(el("option", { value: f, text: `${FLAGS[f].name} (${whole(n)})` }));
            }
        }
        $("flag").parentNode.hidden = $("flag").options.length < 2;
        $("sort").append(el("option", { value: "", text: "order of the file" }), el("option", { value: "key", text: "key" }),
            ...SHOWN.filter((c) => COLUMNS[c].value).map((c) => el("option", { value: c, text: COLUMNS[c].hint })));
        $("sort").addEventListener("change", () => {
            sortBy = $("sort").value || null;
            down = sortBy && sortBy !== "key" && !COLUMNS[sortBy].text;
            arrange();
        });
        const again = later(find);
        $("search").addEventListener("input", () => {
            scroller.scrollTop = 0;
            again();
        });
        $("dtype").addEventListener("change", find);
        $("flag").addEventListener("change", find);
        const box = $("folded");
        folded = box.checked = foldAll(tensors).length < tensors.length && tensors.length > 24;
        box.addEventListener("change", () => {
            folded = box.checked;
            scroller.scrollTop = 0;
            arrange();
        });
        scroller.addEventListener("scroll", later(show), { passive: true });
        body.addEventListener("click", (event) => {
            const node = event.target.closest(".row");
            if (node && getSelection().isCollapsed) {
                act(+node.getAttribute("data-place"));
            }
        });
        scroller.addEventListener("keydown", (event) => {
            const page = Math.max(1, Math.floor(scroller.clientHeight / height) - 2);
            const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: rows.length - 1 }[event.key];
            if (event.target !== scroller || event.ctrlKey || event.metaKey || event.altKey) {
                return;
            }
            if (to !== undefined) {
                choose(to);
            } else if (event.key === "Enter" || event.key === " ") {
                act(chosen);
            } else {
                return;
            }
            event.preventDefault();
        });
        new ResizeObserver(later(() => {
            if (scroller.clientWidth !== keyWidth) {
                fit();
            } else {
                show();
            }
        })).observe(scroller);
        if (MODE === "two") {
            sortBy = tensors.some((t) => t.change && t.change.ratio > 0) ? "ratio" : null;
            $("sort").value = sortBy || "";
        }
        find();
        fit();
    }

    function filter(query, flag) {
        $("search").value = query;
        $("flag").value = flag || "";
        $("dtype").value = "";
        find();
        scroller.scrollTop = 0;
        $("tensors").scrollIntoView({ block: "start" });
    }
    return { begin, filter, step, onFound: (f) => listeners.push(f), found: () => found, rows: () => rows.length };
})();
