// SPDX-License-Identifier: MIT OR Apache-2.0
// Drawings: distributions as bars, what grew along the records as lines.

// Many members of one group may differ in range: what each has is spread over the range of all.
function joinBins(list) {
    const given = list.filter((s) => s && s.bins && s.low !== null && s.low <= s.high);
    if (given.length < 2) {
        return given[0] ? { low: given[0].low, high: given[0].high, bins: given[0].bins } : null;
    }
    const low = Math.min(...given.map((s) => s.low));
    const high = Math.max(...given.map((s) => s.high));
    const count = given[0].bins.length;
    const bins = new Array(count).fill(0);
    for (const s of given) {
        const wide = (s.high - s.low) / count;
        s.bins.forEach((n, i) => {
            const middle = s.low + (i + 0.5) * wide;
            const at = high > low ? Math.floor(((middle - low) / (high - low)) * count) : 0;
            bins[Math.max(0, Math.min(count - 1, at))] += n;
        });
    }
    return { low, high, bins };
}

// A small histogram for a row of the table.
function spark(s, other) {
    const w = 104;
    const h = 22;
    const all = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, class: "spark", "aria-hidden": "true" });
    const low = Math.min(...[s, other].filter(Boolean).map((x) => x.low));
    const high = Math.max(...[s, other].filter(Boolean).map((x) => x.high));
    const draw = (x, name) => {
        const top = Math.max(...x.bins, 1);
        const span = high > low ? high - low : 1;
        const left = high > low ? ((x.low - low) / span) * w : w / 2 - 2;
        const wide = high > low && x.high > x.low ? (((x.high - x.low) / span) * w) / x.bins.length : 4;
        let path = "";
        x.bins.forEach((n, i) => {
            if (n > 0) {
                const tall = Math.max(1, (n / top) * h);
                path += `M${(left + i * wide).toFixed(1)} ${h}v${(-tall).toFixed(1)}h${Math.max(0.8, wide).toFixed(1)}V${h}z`;
            }
        });
        all.append(svg("path", { d: path, class: name }));
    };
    if (other) {
        draw(other, "old");
    }
    draw(s, "new");
    if (low < 0 && high > 0) {
        const x = (((0 - low) / (high - low)) * w).toFixed(1);
        all.append(svg("path", { d: `M${x} 0V${h}`, class: "zero" }));
    }
    return all;
}

// The large one of a tensor; `old` is drawn behind as an outline.
function histogram(s, old, names) {
    const w = 520;
    const h = 190;
    const base = h - 22;
    const all = svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "histogram", role: "img", "aria-label": "distribution of the values" });
    const both = [s, old].filter(Boolean);
    const low = Math.min(...both.map((x) => x.low));
    const high = Math.max(...both.map((x) => x.high));
    const span = high > low ? high - low : 1;
    const at = (v) => (high > low ? 8 + ((v - low) / span) * (w - 16) : w / 2);
    const bars = (x, name) => {
        const top = Math.max(...x.bins, 1);
        const step = (x.high - x.low) / x.bins.length;
        x.bins.forEach((n, i) => {
            const from = x.high > x.low ? at(x.low + i * step) : w / 2 - 8;
            const to = x.high > x.low ? at(x.low + (i + 1) * step) : w / 2 + 8;
            if (x.high === x.low && n === 0) {
                return;
            }
            const tall = n > 0 ? Math.max(1.5, (n / top) * (base - 8)) : 0;
            const all = x.bins.reduce((a, b) => a + b, 0);
            const bar = svg("rect", { x: from + 0.5, y: base - tall, width: Math.max(1, to - from - 1), height: tall, class: name });
            const reach = svg("rect", { x: from, y: 0, width: Math.max(1, to - from), height: base, class: "reach" });
            reach.addEventListener("pointermove", (event) => showTip(event,
                x.high > x.low ? `${figure(x.low + i * step)} to ${figure(x.low + (i + 1) * step)}` : figure(x.low),
                `${whole(n)} of ${whole(all)}${names ? ` (${names[x === s ? 1 : 0]})` : ""}, ${percent(n, all)}`));
            reach.addEventListener("pointerleave", hideTip);
            group.append(bar);
            over.append(reach);
        });
    };
    const group = svg("g");
    const over = svg("g");
    if (old) {
        bars(old, "old");
        over.replaceChildren();
    }
    bars(s, "new");
    all.append(svg("path", { d: `M8 ${base}H${w - 8}`, class: "axis" }), group);
    if (low < 0 && high > 0) {
        all.append(svg("path", { d: `M${at(0)} 2V${base + 4}`, class: "zero" }),
            at(0) > 80 && at(0) < w - 80 ? svg("text", { x: at(0), y: h - 6, class: "tick middle", text: "0" }) : "");
    }
    if (high > low) {
        // The bins at the ends also hold what lies beyond them.
        const less = both.some((x) => x.low === low && x.min < low) ? "\u2264 " : "";
        const more = both.some((x) => x.high === high && x.max > high) ? "\u2265 " : "";
        all.append(svg("text", { x: 8, y: h - 6, class: "tick", text: less + figure(low) }), svg("text", { x: w - 8, y: h - 6, class: "tick end", text: more + figure(high) }));
    } else {
        all.append(svg("text", { x: w / 2, y: h - 6, class: "tick middle", text: figure(low) }));
    }
    all.append(over);
    return all;
}

// A line for a row of the table.
function trend(values) {
    const w = 104;
    const h = 22;
    const all = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, class: "spark", "aria-hidden": "true" });
    const known = values.filter((v) => typeof v === "number" && Number.isFinite(v));
    const low = Math.min(...known);
    const high = Math.max(...known);
    const flat = !(high > low) || (high - low) < 1e-6 * Math.abs(high);
    let path = "";
    let pen = "M";
    let last = null;
    values.forEach((v, i) => {
        if (typeof v !== "number" || !Number.isFinite(v)) {
            pen = "M";
            return;
        }
        const x = values.length > 1 ? 2 + (i / (values.length - 1)) * (w - 6) : w / 2;
        const y = flat ? h / 2 : h - 3 - ((v - low) / (high - low)) * (h - 6);
        path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
        pen = "L";
        last = [x, y];
    });
    all.append(svg("path", { d: path, class: flat ? "line flat" : "line" }));
    if (last) {
        all.append(svg("circle", { cx: last[0], cy: last[1], r: 2, class: "dot" }));
    }
    return all;
}

// Round numbers between two, about `count` of them.
function ticks(low, high, count, log) {
    const out = [];
    if (log) {
        const first = Math.floor(Math.log10(low));
        const last = Math.ceil(Math.log10(high));
        const skip = Math.max(1, Math.ceil((last - first) / count));
        for (let p = first; p <= last; p++) {
            for (const m of last - first <= 2 ? [1, 2, 5] : [1]) {
                const v = m * 10 ** p;
                if ((p - first) % skip === 0 && v >= low * 0.999 && v <= high * 1.001) {
                    out.push(v);
                }
            }
        }
        if (out.length >= 2) {
            return out;
        }
        out.length = 0;
    }
    const raw = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && out.length < 30; i++) {
        out.push(+(i * step).toPrecision(12));
    }
    return out;
}

// Lines over the records. `lines`: [{ name, values, strong }]; the coloured ones first.
function lineChart(box, lines, log, height) {
    const w = Math.max(280, box.clientWidth);
    const narrow = w < 640;
    const h = height || (narrow ? 260 : 320);
    const named = lines.filter((l) => l.strong);
    const left = 56;
    const letters = Math.max(12, Math.floor((w * 0.28) / 7.6));
    const longest = Math.max(...named.map((l) => Math.min(letters, visible(l.name).length)), 0);
    const right = narrow || lines.length === 1 ? 14 : 24 + longest * 7.6;
    const top = 10;
    const base = h - 34;
    const steps = D.records.map((r) => r.step);
    const numbers = steps.every((s) => typeof s === "number") && steps.every((s, i) => !i || s > steps[i - 1]);
    const xs = numbers ? steps : steps.map((_, i) => i);
    const span = xs[xs.length - 1] - xs[0] || 1;
    const X = (i) => left + ((xs[i] - xs[0]) / span) * (w - left - right);
    const usable = (v) => typeof v === "number" && Number.isFinite(v) && (!log || v > 0);
    const all = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "img", "aria-label": "lines over the records" });
    let low = Infinity;
    let high = -Infinity;
    for (const l of lines) {
        for (const v of l.values) {
            if (usable(v)) {
                low = Math.min(low, v);
                high = Math.max(high, v);
            }
        }
    }
    if (low > high) {
        box.replaceChildren(el("p", { class: "dim", text: log ? "No positive figures to draw." : "No figures to draw." }));
        return;
    }
    if (low === high) {
        low = log ? low / 2 : low - Math.abs(low || 1) / 2;
        high = log ? high * 2 : high + Math.abs(high || 1) / 2;
    } else if (!log) {
        const slack = (high - low) * 0.06;
        low = low >= 0 && low - slack < 0 ? 0 : low - slack;
        high += slack;
    } else {
        low /= 1.1;
        high *= 1.1;
    }
    const Y = (v) => base - (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low)) * (base - top);
    for (const v of ticks(low, high, 5, log)) {
        all.append(svg("path", { d: `M${left} ${Y(v).toFixed(1)}H${w - right}`, class: "grid" }),
            svg("text", { x: left - 8, y: Y(v) + 4, class: "tick end", text: figure(v, 3) }));
    }
    // Labels below, as many as there is room for.
    const texts = steps.map((s) => (typeof s === "number" ? whole(s) : visible(String(s))));
    const wide = Math.max(...texts.map((s) => Math.min(s.length, 14)));
    let free = -Infinity;
    texts.forEach((s, i) => {
        const half = (wide * 6.5) / 2;
        if (X(i) - half > free && (i === texts.length - 1 || X(i) + half < X(texts.length - 1) - half || texts.length === 1)) {
            free = X(i) + half + 8;
            all.append(svg("text", { x: X(i), y: base + 18, class: "tick middle", text: s.length > 14 ? `\u2026${s.slice(-13)}` : s }),
                svg("path", { d: `M${X(i)} ${base}v4`, class: "axis" }));
        }
    });
    all.append(svg("path", { d: `M${left} ${base}H${w - right}`, class: "axis" }));
    const order = [...lines].sort((a, b) => (a.strong ? 1 : 0) - (b.strong ? 1 : 0));
    for (const l of order) {
        let path = "";
        let pen = "M";
        let dots = "";
        l.values.forEach((v, i) => {
            if (!usable(v)) {
                pen = "M";
                return;
            }
            path += `${pen}${X(i).toFixed(1)} ${Y(v).toFixed(1)}`;
            pen = "L";
            dots += `M${X(i).toFixed(1)} ${Y(v).toFixed(1)}h0`;
        });
        l.path = svg("path", { d: path, class: l.strong ? "line" : "line weak", css: l.strong ? { stroke: l.colour } : {} });
        all.append(l.path);
        if (l.strong && steps.length <= 40) {
            all.append(svg("path", { d: dots, class: "dots", css: { stroke: l.colour } }));
        }
    }
    if (right > 14) {
        // Names at the ends, pushed apart where they would cover each other.
        const ends = named.map((l) => {
            let i = l.values.length - 1;
            while (i > 0 && !usable(l.values[i])) {
                i--;
            }
            return { l, y: usable(l.values[i]) ? Y(l.values[i]) : base };
        }).sort((a, b) => a.y - b.y);
        ends.forEach((e, i) => {
            e.y = Math.max(e.y, i ? ends[i - 1].y + 15 : top + 4);
        });
        for (let i = ends.length - 1, floor = base; i >= 0; i--, floor = ends[i + 1].y - 15) {
            ends[i].y = Math.min(ends[i].y, floor);
        }
        for (const e of ends) {
            const name = visible(e.l.name);
            all.append(svg("text", { x: w - right + 10, y: e.y + 4, class: "label", css: { fill: e.l.colour }, text: name.length > letters ? `${name.slice(0, Math.floor(letters / 2) - 2)}\u2026${name.slice(-Math.ceil(letters / 2) + 1)}` : name }));
        }
    }
    const cross = svg("path", { class: "cross", visibility: "hidden" });
    const reach = svg("rect", { x: left - 8, y: 0, width: w - left - right + 16, height: base, class: "reach" });
    reach.addEventListener("pointermove", (event) => {
        const area = all.getBoundingClientRect();
        const x = ((event.clientX - area.left) / area.width) * w;
        let i = 0;
        for (let k = 1; k < xs.length; k++) {
            if (Math.abs(X(k) - x) < Math.abs(X(i) - x)) {
                i = k;
            }
        }
        cross.setAttribute("d", `M${X(i)} ${top}V${base}`);
        cross.setAttribute("visibility", "visible");
        const rows = (named.length ? named : lines).filter((l) => l.values[i] !== null && l.values[i] !== undefined)
            .sort((a, b) => b.values[i] - a.values[i]).slice(0, 12)
            .map((l) => el("div", { class: "tip-row" }, el("i", { css: { background: l.colour || "var(--muted)" } }), keyNode(l.name, "span"), el("b", { text: figure(l.values[i]) })));
        showTip(event, el("b", { text: visible(D.records[i].name) }), ...rows);
    });
    reach.addEventListener("pointerleave", () => {
        cross.setAttribute("visibility", "hidden");
        hideTip();
    });
    all.append(cross, reach);
    box.replaceChildren(all);
    if (right === 14 && lines.length > 1) {
        box.append(el("div", { class: "legend" }, ...named.map((l) => el("span", { class: "swatch" }, el("i", { css: { background: l.colour } }), keyNode(l.name, "span")))));
    }
}
