// SPDX-License-Identifier: MIT OR Apache-2.0
// The tree with sizes as areas. A click goes into a part of the model, or opens a tensor.

const treemap = (() => {
    const HEAD = 18; // height of a label above the parts of a module
    const LEAST = 2.5; // what is narrower is not drawn
    const MOST = 12000; // rectangles, about
    const FLAT = 3000; // parts of one module; the rest is one
    let root = null;
    let place = null; // the node that is shown

    function grow() {
        root = { name: "", path: [], parts: new Map(), size: 0, bytes: 0, count: 0, tensor: null, up: null };
        for (const t of tensors) {
            const names = levels(t.key);
            const size = Math.max(t.bytes, 1);
            let node = root;
            node.size += size; // that of its area: what is empty is there, too
            node.bytes += t.bytes;
            node.count++;
            names.forEach((name, i) => {
                let part = node.parts.get(name);
                if (!part) {
                    part = { name, path: [...node.path, name], parts: new Map(), size: 0, bytes: 0, count: 0, tensor: null, up: node };
                    node.parts.set(name, part);
                }
                part.size += size;
                part.bytes += t.bytes;
                part.count++;
                if (i === names.length - 1) {
                    part.tensor = t;
                }
                node = part;
            });
        }
        sortOut();
    }

    // Parts of the model for colours and lines, not more than there are colours: the tree without its numbers, of which the
    // largest part is divided as long as there is room.
    let groups = [];
    function sortOut() {
        const top = { name: "", parts: new Map(), size: 0, list: [] };
        for (const t of tensors) {
            const names = levels(t.key);
            let node = top;
            let name = "";
            node.size += t.bytes;
            node.list.push(t);
            names.forEach((part, i) => {
                name += `${i ? "." : ""}${/^\d+$/.test(part) ? "#" : part}`;
                if (/^\d+$/.test(part) && i < names.length - 1) {
                    return;
                }
                if (!node.parts.has(part)) {
                    node.parts.set(part, { name, parts: new Map(), size: 0, list: [] });
                }
                node = node.parts.get(part);
                node.name = name; // numbers before it may be more than one
                node.size += t.bytes;
                node.list.push(t);
            });
        }
        const isModule = (node) => [...node.parts.values()].some((p) => p.parts.size > 0);
        groups = [...top.parts.values()];
        const whole = groups.length > CATEGORIES;
        if (whole) {
            // Too many at once: the largest have colours of their own.
            groups.sort((a, b) => b.size - a.size);
            groups = [...groups.slice(0, CATEGORIES - 1), { name: "others", parts: new Map(), size: 0, list: groups.slice(CATEGORIES - 1).flatMap((g) => g.list), rest: true }];
        }
        for (;;) {
            const next = groups.filter((g) => isModule(g) && groups.length - 1 + g.parts.size <= CATEGORIES).sort((a, b) => b.size - a.size)[0];
            if (!next) {
                break;
            }
            groups.splice(groups.indexOf(next), 1, ...next.parts.values());
        }
        groups = groups.map((g) => ({ name: g.rest ? "others" : g.name, list: g.list, rest: g.rest, size: sumOf(g.list, (t) => t.bytes) }));
        groups.sort((a, b) => (a.rest ? 1 : 0) - (b.rest ? 1 : 0) || b.size - a.size);
        groups.forEach((g, i) => {
            for (const t of g.list) {
                t.group = g.rest ? "x" : i;
            }
        });
    }

    // ---- colours

    const SCALES = {
        module: { name: "module", of: null },
        dtype: { name: "element type", of: null },
        rms: { name: "magnitude (root mean square)", of: (t) => now(t) && now(t).rms, log: true },
        std: { name: "standard deviation", of: (t) => now(t) && now(t).std, log: true },
        zeros: { name: "share of zeros", of: (t) => now(t) && (now(t).count ? now(t).zeros / now(t).count : null) },
        under: {
            name: "lost at half precision",
            of: (t) => now(t) && (now(t).count ? (now(t).under + now(t).over) / now(t).count : null),
        },
        change: { name: "relative change", of: (t) => t.change && t.change.ratio, log: true },
        state: { name: "what became of it", of: null },
    };
    let scale = MODE === "one" ? "module" : "change";
    let range = null;

    function measure() {
        const s = SCALES[scale];
        let low = Infinity;
        let high = -Infinity;
        range = null;
        if (!s.of) {
            return;
        }
        for (const t of tensors) {
            const v = s.of(t);
            if (typeof v === "number" && Number.isFinite(v) && (!s.log || v > 0)) {
                low = Math.min(low, v);
                high = Math.max(high, v);
            }
        }
        if (low <= high) {
            if (!s.log) {
                low = 0;
            } else if (high / low > 1e6) {
                low = high / 1e6;
            }
            range = { low, high, log: s.log };
        }
    }

    const STEPS = 7;
    function stepOf(v) {
        if (!range || typeof v !== "number" || !Number.isFinite(v)) {
            return -1;
        }
        if (range.log && v <= 0) {
            return 0;
        }
        const at = range.high === range.low ? 1 : range.log
            ? Math.log(v / range.low) / Math.log(range.high / range.low)
            : (v - range.low) / (range.high - range.low);
        return Math.max(0, Math.min(STEPS - 1, Math.floor(at * STEPS)));
    }

    const ORDER = Object.keys(STATES);
    // What is too small for its parts has the colour that they have together: of groups one if it is the same for all, of
    // figures the mean.
    function under(node, visit) {
        if (node.tensor) {
            visit(node.tensor);
        }
        node.parts.forEach((part) => under(part, visit));
    }
    function common(node, of) {
        const found = new Set();
        under(node, (t) => found.add(of(t)));
        return found.size === 1 ? [...found][0] : null;
    }
    function mean(node, s) {
        let sum = 0;
        let count = 0;
        under(node, (t) => {
            const v = s.of(t);
            if (typeof v === "number" && Number.isFinite(v) && (!s.log || v > 0)) {
                sum += s.log ? Math.log(v) : v;
                count++;
            }
        });
        return count === 0 ? null : s.log ? Math.exp(sum / count) : sum / count;
    }
    function colour(node) {
        if (scale === "module") {
            const group = node.rest ? null : common(node, (t) => t.group);
            return `m m${group === null ? "x" : group}`;
        }
        if (scale === "dtype") {
            const at = node.rest ? -1 : D.dtypes.indexOf(common(node, (t) => t.dtype));
            return `m m${at < 0 || at >= CATEGORIES ? "x" : at}`;
        }
        if (scale === "state") {
            const state = node.rest ? null : common(node, (t) => (t.change ? t.change.state : "same"));
            return state === null ? "m mx" : `m s-${state}`;
        }
        const step = node.rest ? -1 : stepOf(mean(node, SCALES[scale]));
        return step < 0 ? "m none" : `m q${step}`;
    }

    // ---- layout

    // Squarified: rows along the shorter side, each as long as its worst shape gets better.
    function squarify(nodes, x, y, w, h, put) {
        let sum = nodes.reduce((s, n) => s + n.size, 0);
        let i = 0;
        while (i < nodes.length && w > 0 && h > 0 && sum > 0) {
            const side = Math.min(w, h);
            const perArea = sum / (w * h);
            let row = 0;
            let worst = Infinity;
            let end = i;
            while (end < nodes.length) {
                const next = row + nodes[end].size;
                const thick = next / perArea / side;
                const big = nodes[i].size / perArea / thick;
                const small = nodes[end].size / perArea / thick;
                const ratio = Math.max(big / thick, thick / big, small / thick, thick / small);
                if (ratio > worst) {
                    break;
                }
                worst = ratio;
                row = next;
                end++;
            }
            const thick = row / perArea / side;
            let at = w >= h ? y : x;
            for (; i < end; i++) {
                const long = nodes[i].size / perArea / thick;
                if (w >= h) {
                    put(nodes[i], x, at, thick, long);
                } else {
                    put(nodes[i], at, y, long, thick);
                }
                at += long;
            }
            if (w >= h) {
                x += thick;
                w -= thick;
            } else {
                y += thick;
                h -= thick;
            }
            sum -= row;
        }
    }

    // A module that holds one part alone is named together with it: "encoder.layers".
    function alone(node) {
        let name = node.name;
        while (node.parts.size === 1 && !node.tensor) {
            node = node.parts.values().next().value;
            name += `.${node.name}`;
        }
        return { node, name };
    }

    const LETTER = 6.7;
    const fits = (text, width) => text.length * LETTER <= width;
    function cut(text, width) {
        const room = Math.floor(width / LETTER);
        return text.length <= room ? text : room < 4 ? "" : `${text.slice(0, room - 1)}\u2026`;
    }

    function draw() {
        const box = $("map");
        const width = Math.max(200, box.clientWidth);
        const height = Math.round(Math.max(260, Math.min(520, width * 0.42)));
        const all = svg("svg", {
            viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
            "aria-label": "Sizes of the tensors as areas; the table below has the same tensors",
        });
        const boxes = [];

        function paint(given, x, y, w, h, depth) {
            if (w < LEAST || h < LEAST) {
                return;
            }
            const { node, name } = alone(given);
            const index = boxes.push(node) - 1;
            if (node.parts.size === 0 || w * h < 60 || w < 8 || h < 8 || (depth > 0 && (w * h) / node.count < (width * height) / MOST)) {
                all.append(svg("rect", {
                    x: x + 0.5, y: y + 0.5, width: Math.max(0.5, w - 1), height: Math.max(0.5, h - 1),
                    rx: Math.min(2, w / 6, h / 6), class: colour(node), "data-i": index,
                }));
                const label = visible(name);
                if (h >= 15 && w >= 34) {
                    const text = fits(label, w - 8) ? label : cut(label, w - 8);
                    if (text) {
                        all.append(svg("text", { x: x + 5, y: y + 13, class: `${colour(node)} on`, text }));
                    }
                    if (text && h >= 30 && node.tensor) {
                        const size = bytes(node.tensor.bytes);
                        const form = `${shapeText(node.tensor.shape)} ${size}`;
                        const more = fits(form, w - 8) ? form : fits(size, w - 8) ? size : "";
                        if (more) {
                            all.append(svg("text", { x: x + 5, y: y + 27, class: `${colour(node)} on small`, text: more }));
                        }
                    }
                }
                return;
            }
            const head = depth > 0 && h >= 40 && w >= 46 ? HEAD : 0;
            const edge = depth > 0 && w > 24 && h > 24 ? 2 : 0;
            if (depth > 0) {
                all.append(svg("rect", { x: x + 0.5, y: y + 0.5, width: Math.max(0.5, w - 1), height: Math.max(0.5, h - 1), rx: 3, class: "module", "data-i": index }));
            }
            if (head) {
                const label = visible(name);
                const size = bytes(node.bytes);
                all.append(svg("text", { x: x + 6, y: y + 13, class: "name", text: cut(label, w - 10) }));
                if ((label.length + size.length + 2) * LETTER < w - 12) {
                    all.append(svg("text", { x: x + w - 6, y: y + 13, class: "name size", text: size }));
                }
            }
            let parts = [...node.parts.values()].sort((a, b) => b.size - a.size);
            if (parts.length > FLAT) {
                const rest = parts.slice(FLAT);
                parts = [...parts.slice(0, FLAT), { ...rest[0], parts: new Map(), tensor: null, path: [...node.path, `${whole(rest.length)} more`], name: `${whole(rest.length)} more`, size: sumOf(rest, (n) => n.size), bytes: sumOf(rest, (n) => n.bytes), count: sumOf(rest, (n) => n.count), rest: true }];
            }
            if (node.tensor) {
                // A name that is a tensor and a module as well: rare, but a record may have it.
                parts.push({ ...node, parts: new Map(), size: Math.max(node.tensor.bytes, 1), name: "(itself)" });
            }
            squarify(parts, x + edge, y + Math.max(head, edge), w - 2 * edge, h - Math.max(head, edge) - edge,
                (n, a, b, c, d) => paint(n, a, b, c, d, depth + 1));
        }
        if (place.size > 0) {
            paint(place, 0, 0, width, height, 0);
        }
        box.replaceChildren(all);
        all.addEventListener("click", (event) => {
            const node = boxes[event.target.getAttribute("data-i")];
            if (node) {
                hideTip();
                if (node.parts.size === 0 && node.tensor) {
                    detail.open(node.tensor);
                } else if (node.parts.size > 0) {
                    // One level at a time: into the part of what is shown that holds it.
                    const from = alone(place).node;
                    let into = node;
                    while (into.up && into.up !== from && into !== from) {
                        into = into.up;
                    }
                    go(alone(into === from ? node : into).node);
                }
            }
        });
        all.addEventListener("pointermove", (event) => {
            const node = event.pointerType === "touch" ? null : boxes[event.target.getAttribute("data-i")];
            if (!node) {
                hideTip();
                return;
            }
            const t = node.tensor;
            const s = SCALES[scale];
            const value = t && s.of ? s.of(t) : null;
            showTip(event, keyNode(node.path.join("."), "b"),
                t && node.parts.size === 0 ? `${t.dtype} ${shapeText(t.shape)}, ${bytes(t.bytes)}`
                    : `${plural(node.count, "tensor")}, ${bytes(node.bytes)}`,
                t && s.of ? `${s.name}: ${s.of === SCALES.zeros.of || s.of === SCALES.under.of ? percent(value || 0, 1) : figure(value)}` : null,
                t && node.parts.size === 0 && t.change && scale === "state" ? STATES[t.change.state] : null);
        });
        all.addEventListener("pointerleave", hideTip);
    }

    function go(node) {
        place = node.parts.size > 0 ? node : root;
        const trail = $("trail");
        const steps = [];
        for (let n = place; n; n = n.up) {
            steps.unshift(n);
        }
        trail.replaceChildren(...steps.flatMap((n, i) => {
            const name = n === root ? "all" : visible(n.name);
            const last = i === steps.length - 1;
            const step = last ? el("b", { text: name, "aria-current": "location" })
                : el("button", { type: "button", text: name, onclick: () => go(n) });
            return i ? [el("span", { text: "\u203a", "aria-hidden": "true" }), step] : [step];
        }), el("span", { class: "dim", text: `${plural(place.count, "tensor")}, ${bytes(place.bytes)}` }));
        draw();
    }

    function legend() {
        const box = $("legend");
        const swatch = (classes, text) => el("span", { class: "swatch" }, svg("svg", { width: 11, height: 11, "aria-hidden": "true" },
            svg("rect", { width: 11, height: 11, rx: 2, class: classes })), keyNode(text, "span"));
        const s = SCALES[scale];
        if (scale === "module") {
            box.replaceChildren(...groups.map((g, i) => swatch(g.rest ? "m mx" : `m m${i}`, g.name || "(root)")));
        } else if (scale === "dtype") {
            box.replaceChildren(...D.dtypes.map((d, i) => swatch(`m m${i < CATEGORIES ? i : "x"}`, d)));
        } else if (scale === "state") {
            const used = ORDER.filter((o) => tensors.some((t) => t.change && t.change.state === o));
            box.replaceChildren(...used.map((o) => swatch(`m s-${o}`, STATES[o])));
        } else if (!range) {
            box.replaceChildren(el("span", { class: "dim", text: "no tensor has this" }));
        } else {
            const show = (v) => (s.log ? figure(v, 3) : percent(v, 1));
            const bar = svg("svg", { width: STEPS * 18, height: 11, "aria-hidden": "true" });
            for (let i = 0; i < STEPS; i++) {
                bar.append(svg("rect", { x: i * 18, width: 18, height: 11, class: `m q${i}` }));
            }
            box.replaceChildren(el("span", { text: (s.log && range.high / range.low > 9.9e5 ? "\u2264 " : "") + show(range.low) }), bar,
                el("span", { text: show(range.high) }), tensors.some((t) => stepOf(s.of(t)) < 0) ? swatch("m none", "none") : "");
        }
    }

    function begin() {
        grow();
        const select = $("colour");
        for (const name in SCALES) {
            if (MODE === "one" && (name === "change" || name === "state")) {
                continue;
            }
            select.append(el("option", { value: name, text: SCALES[name].name }));
        }
        select.value = scale;
        select.addEventListener("change", () => {
            scale = select.value;
            measure();
            legend();
            draw();
        });
        measure();
        if (!range && SCALES[scale].of) {
            scale = select.value = "state"; // nothing changed: a scale without figures would be grey
            measure();
        }
        legend();
        go(root);
        let width = $("map").clientWidth;
        new ResizeObserver(later(() => {
            if ($("map").clientWidth !== width) {
                width = $("map").clientWidth;
                draw();
            }
        })).observe($("map"));
    }
    return { begin, draw, groups: () => groups };
})();
