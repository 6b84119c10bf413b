// SPDX-License-Identifier: MIT OR Apache-2.0
// All that is known of one tensor, in a sheet at the side.

const detail = (() => {
    const sheet = $("detail");
    let shown = null;

    function indexText(t, at) {
        // The place of an element as its indices.
        const out = [];
        let rest = at;
        for (let i = t.shape.length - 1; i >= 0; i--) {
            out.unshift(rest % t.shape[i]);
            rest = Math.floor(rest / t.shape[i]);
        }
        return `[${out.join(", ")}]`;
    }

    const LINES = [
        ["Smallest", (s) => figure(s.min, 6)],
        ["Largest", (s) => figure(s.max, 6)],
        ["Mean", (s) => figure(s.mean, 6)],
        ["Standard deviation", (s) => figure(s.std, 6)],
        ["Norm", (s) => figure(s.norm, 6)],
        ["Root mean square", (s) => figure(s.rms, 6)],
        ["Zeros", (s) => (s.zeros ? `${whole(s.zeros)} (${percent(s.zeros, s.count)})` : "0")],
        ["NaN", (s) => whole(s.nan), (s) => s.nan > 0],
        ["Infinite", (s) => whole(s.inf), (s) => s.inf > 0],
        ["Subnormal", (s) => whole(s.subnormal)],
        ["Too large for half precision", (s) => whole(s.over), (s) => s.over > 0],
        ["Zero at half precision", (s) => (s.under ? `${whole(s.under)} (${percent(s.under, s.count)})` : "0")],
    ];

    function figures(t) {
        const both = t.a && t.b;
        const list = both ? [t.a, t.b] : [now(t)];
        const head = both ? el("thead", {}, el("tr", {}, el("th"), ...ends().map((r) => el("th", { scope: "col" }, keyNode(r, "span"))))) : null;
        return el("table", { class: "figures" }, head, el("tbody", {}, ...LINES.map(([name, show, bad]) =>
            el("tr", {}, el("th", { scope: "row", text: name }), ...list.map((s) => el("td", { text: show(s), class: bad && bad(s) ? "warn" : undefined }))))));
    }
    const ends = () => [D.records[0].name, D.records[D.records.length - 1].name];

    function facts(t) {
        const list = [["Type", t.before && t.before.dtype !== t.dtype ? `${t.before.dtype} \u2192 ${t.dtype}` : t.dtype],
            ["Shape", t.before && t.before.shape ? `${shapeText(t.before.shape)} \u2192 ${shapeText(t.shape)}` : shapeText(t.shape)],
            ["Elements", whole(t.count)], ["Size", bytes(t.bytes)]];
        if (t.before && t.before.key) {
            list.push(["Was named", keyNode(t.before.key, "span")]);
        }
        if (t.id) {
            list.push(["Parameter id", visible(t.id)]);
        }
        const c = t.change;
        if (c && c.differ !== null && c.state !== "same") {
            list.push(["Values that differ", `${whole(c.differ)} (${percent(c.differ, t.count)})`],
                ["Norm of the difference", c.ratio === null ? "\u2013" : `${figure(c.ratio, 6)} of the larger norm`],
                ["Largest difference", c.most === null ? "\u2013" : `${figure(c.most, 6)}${c.at !== null ? ` at ${indexText(t, c.at)}` : ""}`],
                ["Cosine", figure(c.cosine, 8)]);
        }
        return el("dl", { class: "facts" }, ...list.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", {}, value))));
    }

    function fillIn(t) {
        const s = now(t);
        const parts = [facts(t)];
        if (s && s.bins && s.low !== null) {
            const old = t.b && t.a && t.a.bins && t.a.low !== null ? t.a : null;
            parts.push(el("h3", { text: "Values" }), histogram(s, old, old ? ends() : null));
            if (old) {
                parts.push(el("div", { class: "legend" }, el("span", { class: "swatch" }, el("i", { class: "old" }), keyNode(ends()[0], "span")),
                    el("span", { class: "swatch" }, el("i", { class: "new" }), keyNode(ends()[1], "span"))));
            }
        }
        if (t.lines) {
            const chart = el("div", { class: "chart" });
            const pick = el("select", { id: "detail-quantity", "aria-label": "quantity" }, ...Object.keys(QUANTITIES).map((q) => el("option", { value: q, text: QUANTITIES[q] })));
            const draw = () => lineChart(chart, [{ name: QUANTITIES[pick.value], values: t.lines[Object.keys(QUANTITIES).indexOf(pick.value)], strong: true, colour: category(0) }], false, 220);
            pick.addEventListener("change", draw);
            parts.push(el("h3", { text: "Along the records" }), pick, chart);
            requestAnimationFrame(draw);
        }
        if (s) {
            parts.push(el("h3", { text: "Figures" }), figures(t));
        } else {
            parts.push(el("p", { class: "dim", text: "This element type is carried as it is: there are no figures of its values." }));
        }
        $("detail-body").replaceChildren(...parts);
        $("detail-body").scrollTop = 0;
        $("detail-title").replaceChildren(keyNode(t.key || "(root)", "span"), isChanged(t) ? badge(t.change.state) : "");
        shown = t;
    }

    function open(t) {
        hideTip();
        if (!sheet.open) {
            sheet.showModal();
        }
        fillIn(t);
        remember(`#${encodeURIComponent(t.key)}`);
    }
    // The address names what is open, where pages may change theirs; not each of many that are passed over.
    let soon = 0;
    function remember(hash) {
        clearTimeout(soon);
        soon = setTimeout(() => {
            try {
                history.replaceState(null, "", hash || location.pathname + location.search);
            } catch (error) {
                // a page in a frame without an origin: it works without
            }
        }, 250);
    }
    function go(by) {
        const t = shown && table.step(shown, by);
        if (t) {
            open(t);
        }
    }
    function begin() {
        $("previous").addEventListener("click", () => go(-1));
        $("next").addEventListener("click", () => go(1));
        $("close").addEventListener("click", () => sheet.close());
        sheet.addEventListener("close", () => remember(""));
        sheet.addEventListener("click", (event) => {
            if (event.target === sheet) {
                sheet.close(); // beside the sheet
            }
        });
        sheet.addEventListener("keydown", (event) => {
            if (event.target.tagName === "SELECT") {
                return;
            }
            if (event.key === "ArrowDown" || event.key === "ArrowRight") {
                go(1);
            } else if (event.key === "ArrowUp" || event.key === "ArrowLeft") {
                go(-1);
            } else {
                return;
            }
            event.preventDefault();
        });
        $("copy").addEventListener("click", () => {
            const say = (text) => {
                $("copy").textContent = text;
                setTimeout(() => {
                    $("copy").textContent = "Copy key";
                }, 1500);
            };
            if (navigator.clipboard) {
                navigator.clipboard.writeText(shown.key).then(() => say("Copied"), () => say("Not allowed"));
            } else {
                say("Not possible here");
            }
        });
        let wanted = "";
        try {
            wanted = decodeURIComponent(location.hash.slice(1));
        } catch (error) {
            wanted = ""; // no key of ours
        }
        const t = wanted && tensors.find((each) => each.key === wanted);
        if (t) {
            open(t);
        }
    }
    return { begin, open };
})();
