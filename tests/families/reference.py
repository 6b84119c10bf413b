# SPDX-License-Identifier: MIT OR Apache-2.0
"""A second opinion on the profiles: the rules as the reference's text states them, carried out in plain Python.

It reads nothing of librecord: the rules come from the fenced blocks of reference/families.md, in the notation that is
explained there, tensors from the file itself, and what comes out is compared with what `record convert` made.
"""
import hashlib
import json
import re
import struct

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


class Tensor:
    """Elements are kept as chunks of bytes: nothing here needs their value but `add`."""

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, list(shape), data
        assert len(data) == self.count() * SIZES[dtype], (dtype, shape, len(data))

    def count(self):
        product = 1
        for n in self.shape:
            product *= n
        return product

    def facts(self):
        return self.dtype, self.shape, hashlib.sha256(self.data).hexdigest()

    def pieces(self, axis):
        """The bytes as rows of `shape[axis]` parts: what lies before the axis, each with what lies behind it."""
        inner = SIZES[self.dtype]
        for n in self.shape[axis + 1:]:
            inner *= n
        run = inner * self.shape[axis]
        outer = 1
        for n in self.shape[:axis]:
            outer *= n
        return [[self.data[o * run + i * inner:o * run + (i + 1) * inner] for i in range(self.shape[axis])]
                for o in range(outer)]

    def take(self, axis, indices):
        shape = list(self.shape)
        shape[axis] = len(indices)
        return Tensor(self.dtype, shape, b"".join(b"".join(row[i] for i in indices) for row in self.pieces(axis)))

    def transposed(self):
        rows, columns = self.shape
        size = SIZES[self.dtype]
        data = b"".join(self.data[(r * columns + c) * size:(r * columns + c + 1) * size]
                        for c in range(columns) for r in range(rows))
        return Tensor(self.dtype, [columns, rows], data)

    def squeezed(self):
        return Tensor(self.dtype, [n for n in self.shape if n != 1], self.data)

    def plus(self, number):
        count = self.count()
        if self.dtype == "BF16":
            wide = struct.unpack(f"<{count}f", b"".join(b"\0\0" + self.data[2 * i:2 * i + 2] for i in range(count)))
            out = b""
            for value in wide:
                bits = struct.unpack("<I", struct.pack("<f", value + number))[0]
                out += struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
            return Tensor(self.dtype, self.shape, out)
        code = {"F64": "d", "F32": "f", "F16": "e"}[self.dtype]
        values = struct.unpack(f"<{count}{code}", self.data)
        if code == "e":  # the sum of two halves, by way of f32
            values = [struct.unpack("<f", struct.pack("<f", v + number))[0] - number for v in values]
        return Tensor(self.dtype, self.shape, struct.pack(f"<{count}{code}", *(v + number for v in values)))


def stacked(tensors):
    return Tensor(tensors[0].dtype, [len(tensors), *tensors[0].shape], b"".join(t.data for t in tensors))


def read_safetensors(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    return {key: Tensor(t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for key, t in header.items()}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for key, tensor in tensors.items():
        header[key] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [offset, offset + len(tensor.data)]}
        offset += len(tensor.data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(t.data for t in tensors.values()))


# ---------------------------------------------------------------------------------------------------------- notation

TYPES = ("Linear", "Conv1D", "Conv1d", "Conv2d", "Conv3d", "Embedding", "BatchNorm", "LayerNorm", "GroupNorm",
         "InstanceNorm", "RmsNorm", "PRelu", "Param")
NORMS = {"weight": "gamma", "bias": "beta"}
RENAMES = {"BatchNorm": NORMS, "LayerNorm": NORMS, "GroupNorm": NORMS, "InstanceNorm": NORMS, "RmsNorm": NORMS,
           "PRelu": {"weight": "alpha"}}


def template(text):
    """$1, ${1}, $name as Rust's regex reads them."""
    def expand(match):
        def group(found):
            name = found.group(1) or found.group(2)
            return match.group(int(name) if name.isdigit() else name) or ""
        return re.sub(r"\$(?:\{(\w+)\}|(\w+))", group, text)
    return expand


def rule(text):
    """A rule as (kind, pattern, rest)."""
    word, _, rest = text.partition(" ")
    if word in ("drop", "add1", "squeeze"):
        return word, rest
    if word == "rope":
        pattern, *amounts = rest.split()
        return word, pattern, amounts
    if word == "split":
        rest, _, target = rest.partition(" -> ")
        pattern, axis, *parts = rest.split()
        groups = None
        if len(parts) > 2 and parts[-2] == "in":
            groups = parts[-1]
            parts = parts[:-2]
        return word, pattern, axis, [part.partition("*")[::2] for part in parts], groups, target.strip()
    if word == "stack":
        pattern, _, target = rest.partition(" -> ")
        return word, pattern, target
    if word == "tie":
        return word, *rest.split(" = ")
    if text == "gaps":
        return ("gaps",)
    if word in TYPES:
        return "type", word, rest
    pattern, arrow, target = text.partition(" ->")
    assert arrow, f"what is `{text}`?"
    return "rename", pattern, target.strip()


def blocks(path):
    """The profiles of a text: name -> rules, those of what they are built on behind their own; `yolox` and `dino`, whose
    rules stand in sentences, with what these say of their modules."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    made, name = {}, None
    section = text.partition("\n## Profiles\n")[2].partition("\n## ")[0]
    for fence in re.findall(r"^```\n(.*?)^```$", section, re.M | re.S):
        for line in fence.splitlines():
            if line.startswith("@"):
                words = line[1:].split()
                name, made[words[0]] = words[0], {"own": [], "base": None, "less": None}
                if len(words) > 1:
                    made[name]["base"] = words[2]
                    if "less" in words:
                        made[name]["less"] = [w for w in words[words.index("less") + 1:] if w != "and"]
            else:
                made[name]["own"] += [rule(part.strip()) for part in (line + " ").split(" ; ") if part.strip()]

    def whole(block):
        rules = list(block["own"])
        if block["base"]:
            base = whole(made[block["base"]])
            less = block["less"]
            if less and less[0] == "first":
                base.remove(next(r for r in base if r[0] == less[1]))
            elif less:
                base = [r for r in base if r[0] != less[0]]
            rules += base
        return rules
    out = {name: whole(block) for name, block in made.items()}
    words = re.search(r"YOLOX \(.*?in order: `([^`]+)`", section, re.S).group(1)
    out["yolox"] = [rule(part) for part in words.split(" ; ")] + [("select", "model."), ("type", "BatchNorm", "bn$")]
    words = re.search(r"burn_dino instead keeps.*?: `([^`]+)`, `([^`]+)`, and beta", section, re.S)
    gammas = [rule(text) for text in words.groups()]
    betas = [(r[0], r[1].replace("weight", "bias"), r[2].replace("gamma", "beta")) for r in gammas]
    out["dino"] = gammas + betas + [("type", "Linear", r"attn\.(qkv|proj)$|mlp\.fc[12]$")]
    return out


# --------------------------------------------------------------------------------------------------------- execution

def numbers(config):
    """The names in capitals, from a configuration as transformers write it."""
    out = dict(config)
    heads = next((config[k] for k in ("num_attention_heads", "n_head", "num_heads") if k in config), None)
    if heads is None:
        return out
    out["H"] = heads
    if "multi_query" in config and not config.get("new_decoder_architecture"):
        out["K"] = 1 if config["multi_query"] else heads
    else:
        out["K"] = next((config[k] for k in ("num_key_value_heads", "num_kv_heads") if k in config), heads)
    hidden = next((config[k] for k in ("hidden_size", "n_embd", "d_model") if k in config), None)
    if hidden is not None:
        out["d"] = config.get("head_dim", hidden // heads)
        out["R"] = int(out["d"] * config.get("partial_rotary_factor", config.get("rotary_pct", 1)))
    return out


def amount(text, known):
    """`H`, `q*H/K`, without the part's name: a product and quotient."""
    value = 1
    for sign, word in re.findall(r"([*/]?)(\w+)", text):
        factor = int(word) if word.isdigit() else known[word]
        value = value // factor if sign == "/" else value * factor
    return value


def split(tensor, axis, parts, groups, known):
    axis = 0 if axis == "rows" else len(tensor.shape) - 1
    shares = [(name, amount(share, known) if share else 1) for name, share in parts]
    count = known[groups] if groups else 1
    unit, rest = divmod(tensor.shape[axis], count * sum(share for _, share in shares))
    assert not rest
    out, begin = [], 0
    period = tensor.shape[axis] // count
    for name, share in shares:
        rows = [g * period + i for g in range(count) for i in range(begin, begin + share * unit)]
        out.append((name, tensor.take(axis, rows)))
        begin += share * unit
    return out


def roped(tensor, heads, rotary):
    d = tensor.shape[0] // heads
    r = rotary or d
    rows = []
    for h in range(heads):
        rows += [h * d + (j % 2) * (r // 2) + j // 2 for j in range(r)] + [h * d + j for j in range(r, d)]
    return tensor.take(0, rows)


def close_gaps(keys):
    """Old key -> new key: names that are all numbers below one parent are counted anew."""
    new = {key: "" for key in keys}

    def level(members, depth):
        below = {}
        for key in members:
            parts = key.split(".")
            if len(parts) > depth:
                below.setdefault(parts[depth], []).append(key)
        digits = all(re.fullmatch("[0-9]+", name) for name in below)
        order = sorted(below, key=int) if digits else list(below)
        for number, name in enumerate(order):
            for key in below[name]:
                new[key] += ("." if depth else "") + (str(number) if digits else name)
            level(below[name], depth + 1)
    level(list(keys), 0)
    return new


def convert(rules, tensors, config):
    """What a profile makes of a file: destination key -> Tensor."""
    known = numbers(config)

    def of(kind):
        return [r for r in rules if r[0] == kind]
    for _, prefix in of("select"):
        tensors = {key[len(prefix):]: tensor for key, tensor in tensors.items() if key.startswith(prefix)}
    sources = {}
    for key, tensor in tensors.items():
        if any(re.search(r[1], key) for r in of("drop")):
            continue
        for _, pattern, axis, parts, groups, target in of("split"):
            match = re.search(pattern, key)
            if match:
                for name, part in split(tensor, axis, parts, groups, known):
                    sources[template(target.replace("%", name))(match)] = part
                break
        else:
            sources[key] = tensor
    out = {}
    for key, tensor in sources.items():
        for _, pattern, target in of("rename"):
            key = re.sub(pattern, template(target), key)
        assert key not in out, f"two keys become {key}"
        out[key] = tensor
    for _, target, source in of("tie"):
        if target not in out and source in out:
            out[target] = out[source]
    if of("gaps"):
        out = {new: out[old] for old, new in close_gaps(out).items()}
    done = {}
    for key, tensor in out.items():
        path, _, field = key.rpartition(".")
        kind = next((r[1] for r in of("type") if re.search(r[2], path)), "Param")
        if kind == "BatchNorm" and field == "num_batches_tracked":
            continue
        for _, pattern, amounts in of("rope"):
            if re.search(pattern, key):
                values = [amount(a, known) for a in amounts]
                tensor = roped(tensor, values[0], values[1] if len(values) > 1 else 0)
        if any(re.search(r[1], key) for r in of("squeeze")):
            tensor = tensor.squeezed()
        if kind == "Linear" and field == "weight":
            tensor = tensor.transposed()
        if any(re.search(r[1], key) for r in of("add1")):
            tensor = tensor.plus(1)
        field = RENAMES.get(kind, {}).get(field, field)
        done[f"{path}.{field}" if path else field] = tensor
    for _, pattern, target in of("stack"):
        lists = {}
        for key in [k for k in done if re.search(pattern, k)]:
            match = re.search(pattern, key)
            index = next(i for i, text in enumerate(match.groups(), 1) if text.isdigit() and f"${i}" not in target)
            lists.setdefault(re.sub(pattern, template(target), key), []).append((int(match.group(index)), done.pop(key)))
        for key, items in lists.items():
            done[key] = stacked([tensor for _, tensor in sorted(items, key=lambda item: item[0])])
    return done
