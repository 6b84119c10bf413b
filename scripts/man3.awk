# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes pages of section 3 from example programs and headers, in this order. See scripts/man3.
#
# A comment of an example program that begins with "rec_" starts a page:
#
#     /* rec_load, rec_load_bytes, rec_load_fd: load a record */
#     static int load_example(void)
#     …
#
# The page is called rec_load. It has these functions (at most five), and the code up to the next such comment, or the
# next line of dashes, as its example. A type may be listed after the functions. Types, constants and comments that are
# not listed go to the page of the next function of the header.

function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }
# Text that roff leaves alone, with `code` in bold.
function plain(s, literally) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    while (match(s, /`[^`]*`/))
        s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 1, RLENGTH - 2) "\\fP" substr(s, RSTART + RLENGTH)
    gsub(/…/, "...", s)
    if (s ~ /^[.']/) s = "\\&" s
    while (match(s, /\*[a-z]+\*/))
        s = substr(s, 1, RSTART - 1) "\\fI" substr(s, RSTART + 1, RLENGTH - 2) "\\fP" substr(s, RSTART + RLENGTH)
    while (!literally && match(s, /[.?!]\)? +[A-Z`(]/)) {   # a sentence a line
        line_end = index(substr(s, RSTART), " ")
        s = substr(s, 1, RSTART + line_end - 2) "\n" substr(s, RSTART + RLENGTH - 1)
    }
    return s
}
function out(s) { body = body s "\n" }
function paragraph() { if (body !~ /\.(Pp|Sh [A-Z ]+|It [^\n]*|Ss [^\n]*)\n$/ && body != "") out(".Pp") }
# What the comment has laid out itself stays so.
function laid_out(line) { return line ~ /^  +[^ ]/ }
# A comment: paragraphs, lists, parameters, results.
function tell(text,   n, i, lines, line, list, hanging, at, parameters) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        line = lines[i]
        if (line ~ /^@file/) continue
        while (line ~ /@param$/ && i < n) line = line " " trim(lines[++i])
        if (laid_out(line) && !list && !hanging) {
            out(".Bd -literal -compact")
            for (; i <= n && (laid_out(lines[i]) || lines[i] == ""); i++) out(plain(lines[i], 1))
            i--
            out(".Ed")
            continue
        }
        if (line ~ /^- /) {
            if (!list) out(".Bl -bullet")
            list = 1
            out(".It")
            line = substr(line, 3)
        } else if (list && !laid_out(line)) {
            out(".El")
            list = 0
        }
        if (line ~ /^[^ ]/) hanging = 0
        if (line ~ /^`[a-z_]+`.* = /) {   # a word and what it may be
            out(".br")
            hanging = 1
        }
        line = trim(line)
        if (line == "") { if (i < n) paragraph(); continue }
        while (match(line, /@(param|return)/)) {
            hanging = 1
            at = RSTART
            if (at > 1) out(plain(trim(substr(line, 1, at - 1))))
            paragraph()
            if (substr(line, at, 6) == "@param") {
                line = trim(substr(line, at + 6))
                match(line, /^[A-Za-z0-9_,]+/)
                parameters = substr(line, 1, RLENGTH)
                line = trim(substr(line, RLENGTH + 1))
                gsub(/,/, " , ", parameters)
                out(".Fa " parameters " :")
            } else {
                out("Returns")
                line = trim(substr(line, at + 7))
            }
        }
        if (line != "") out(plain(line))
    }
    if (list) out(".El")
}
# Arguments of a function, each a .Fa; commas within parentheses do not part them.
function prototype(code,   at, depth, c, word, args, name) {
    gsub(/[ \t\n]+/, " ", code)
    sub(/^static inline /, "", code)
    sub(/ *[{].*$/, "", code)
    sub(/ *REC_PRINTF\([^)]*\)/, "", code)
    sub(/^REC_API /, "", code)
    sub(/;.*$/, "", code)
    at = index(code, "(")
    name = substr(code, 1, at - 1)
    match(name, /[A-Za-z0-9_]+$/)
    synopsis = synopsis ".Ft \"" trim(substr(name, 1, RSTART - 1)) "\"\n.Fo " substr(name, RSTART) "\n"
    name = substr(name, RSTART)
    args = substr(code, at + 1)
    sub(/\)[^)]*$/, "", args)
    depth = 0
    word = ""
    for (at = 1; at <= length(args); at++) {
        c = substr(args, at, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) {
            synopsis = synopsis ".Fa \"" trim(word) "\"\n"
            word = ""
        } else {
            word = word c
        }
    }
    synopsis = synopsis ".Fa \"" trim(word) "\"\n.Fc\n"
}
function literal(code,   n, i, parts, line) {
    out(".Bd -literal")
    n = split(code, parts, "\n")
    for (i = 1; i <= n; i++) {
        line = parts[i]
        gsub(/\\/, "\\e", line)
        gsub(/…/, "...", line)
        gsub(/\/\*\*<? /, "/* ", line)
        if (line ~ /^[.']/) line = "\\&" line
        out(line)
    }
    out(".Ed")
}

# --- example programs ---

function begin_page(text,   at, n, i, list) {
    at = index(text, ":")
    n = split(substr(text, 1, at - 1), list, /, */)
    page = list[1]
    listed[page] = substr(text, 1, at - 1)
    pages[++page_count] = page
    about[page] = trim(substr(text, at + 1))
    for (i = 1; i <= n; i++) page_of[list[i]] = page
}
function read_example(line) {
    if (line ~ /^\/\* rec_/ || marker != "") {
        marker = marker (marker == "" ? "" : " ") trim(line)
        if (line ~ /\*\/$/) {
            sub(/^\/\* /, "", marker)
            sub(/ *\*\/$/, "", marker)
            gsub(/ \* /, " ", marker)
            begin_page(marker)
            marker = ""
        }
        return
    }
    if (line ~ /^\/\* ---/) page = ""
    if (page != "") example[page] = example[page] line "\n"
}

# --- headers ---

function fail(text) { print "man3: " text >"/dev/stderr"; failed = 1; exit 1 }
# Adds the text collected so far, which belongs to a function or a listed type.
function put_on(target) {
    if (general != "" && !((target, general_number) in has_general)) {
        has_general[target, general_number] = 1
        pages_general[target] = pages_general[target] general ".Pp\n"
        general_used = 1
    }
    pages_body[target] = pages_body[target] body
    body = ""
    last_target = target
}
# Ends the range of a general comment. One that no function has had stays with what follows.
function end_general() {
    if (general != "" && !general_used) body = general ".Pp\n" body
    general = ""
}
# Takes a comment that describes all functions up to the next type or comment.
function begin_general(text,   kept) {
    end_general()
    kept = body
    body = ""
    tell(text)
    general = body
    general_number++
    general_used = 0
    body = kept
}
function is_shown(code) {
    return code != "" && code !~ /^#(ifndef|ifdef|if|endif|else|define LIB|define REC_API|define REC_PRINTF|include|undef)/
}
# Ends a declaration with its comment: a function goes to the synopsis, anything else is shown.
function item(   name, trailing) {
    if (is_shown(code)) {
        if (code ~ /^REC_API|^static inline/) {
            name = function_name(code)
            if (!(name in page_of)) fail(FILENAME ": no example program lists " name)
            page = page_of[name]
            is_function[name] = 1
            if (!(page in header_of)) header_of[page] = header
            functions[page]++
            synopsis = ""
            prototype(code)
            synopsis_of[name] = synopsis
            out(".Ss " name)
            trailing = code
            if (match(trailing, /\/\*\*< .* \*\//)) comment = comment "\n" substr(trailing, RSTART + 5, RLENGTH - 8)
            if (comment != "") tell(comment)
            put_on(page)
        } else if (comment != "" || code ~ /^(typedef|struct|enum)/) {
            end_general()
            match(code, /rec_[a-z_0-9]+|REC_[A-Z_0-9]+/)
            name = RLENGTH > 0 ? substr(code, RSTART, RLENGTH) : "constants"
            out(".Ss " name)
            if (code !~ /^#define REC_(M_|MEMBER|FIELD_)/) literal(code)
            if (comment != "") { out(".Pp"); tell(comment) }
            if (name in page_of) put_on(page_of[name])
        }
    }
    code = comment = ""
}
function function_name(code,   at) {
    at = index(code, "(")
    code = substr(code, 1, at - 1)
    match(code, /[A-Za-z0-9_]+$/)
    return substr(code, RSTART)
}
function begin_header() {
    end_header()
    header = FILENAME
    sub(/.*\//, "", header)
    if (FILENAME ~ /\/librecord\//) header = "librecord/" header
    headers[++header_count] = header
    in_section = 0
    last_target = ""
}
function end_header() {
    item()
    end_general()
    if (body != "" && last_target != "") put_on(last_target)
    body = ""
}

FNR == 1 { in_header = FILENAME ~ /\.h$/ }
FNR == 1 && in_header { begin_header() }
!in_header { read_example($0); next }

/^\/\* -----/ {
    item()
    end_general()
    depth = 0
    in_section = 1
    next
}
in_comment {
    text = $0
    ending = text ~ /\*\//
    sub(/ *\*\/.*$/, "", text)
    sub(/^ \* ?/, "", text)
    comment = comment "\n" text
    if (ending) {
        in_comment = 0
        if (free && in_section) { begin_general(comment); comment = "" }
        if (is_file) { overview[header] = comment; comment = "" }
        free = is_file = 0
    }
    next
}
code == "" && /^\/\*/ {
    free = $0 !~ /^\/\*\*/
    text = $0
    sub(/^\/\*\*? ?/, "", text)
    in_comment = text !~ /\*\//
    sub(/ *\*\/.*$/, "", text)
    comment = text
    if (!in_comment && free && in_section) { begin_general(comment); comment = "" }
    is_file = in_comment && !in_section && !free && !(header in overview)
    if (!in_comment) free = 0
    next
}
/^$/ { if (code == "") next }
{
    code = code (code == "" ? "" : "\n") $0
    depth += gsub(/[{]/, "{") - gsub(/[}]/, "}")
    if (depth == 0 && ($0 ~ /;( *\/\*.*\*\/)?$/ || (code ~ /^#/ && $0 !~ /\\$/) || (code !~ /^#/ && $0 ~ /^[}"]/))) item()
}

# --- pages ---

function heading(title, file) {
    printf ".\\\" Made by scripts/man3 from the headers and examples/manual.\n.Dd %s\n.Dt %s 3\n.Os librecord %s\n", date,
        toupper(title), version >file
}
function overview_of(page) { return header_of[page] ~ /plugin/ ? "librecord-plugin" : "librecord" }
# Lists the pages that the text names, without the page itself.
function related(page, text,   seen, word, list, n, i, k, t, result) {
    n = 0
    while (match(text, /rec_[a-z0-9_]+/)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (word in page_of && page_of[word] != page && !(page_of[word] in seen)) {
            seen[page_of[word]] = 1
            list[++n] = page_of[word]
        }
    }
    for (i = 1; i < n; i++)
        for (k = i + 1; k <= n; k++)
            if (list[k] < list[i]) { t = list[i]; list[i] = list[k]; list[k] = t }
    result = ".Xr " overview_of(page) " 3"
    for (i = 1; i <= n; i++) result = result " ,\n.Xr " list[i] " 3"
    return result "\n"
}
function write_page(page,   file, text, n, i, list, names, synopses) {
    if (!(page in functions)) fail("no header declares " page)
    if (functions[page] > 5) fail(page ": more than five functions on a page")
    if (example[page] == "") fail(page ": no example")
    file = directory "/" page ".3"
    n = split(listed[page], list, /, */)
    for (i = 1; i <= n; i++) {
        if (!(list[i] in is_function)) continue
        names = names (names == "" ? "" : " ,\n") ".Nm " list[i]
        synopses = synopses synopsis_of[list[i]]
    }
    heading(page, file)
    printf ".Sh NAME\n%s\n.Nd %s\n", names, about[page] >file
    printf ".Sh SYNOPSIS\n.In %s\n%s", header_of[page], synopses >file
    text = pages_general[page] pages_body[page]
    gsub(/(\.Pp\n)+\.Ss/, ".Ss", text)
    gsub(/(\.Pp\n)(\.Pp\n)+/, ".Pp\n", text)
    sub(/(\.Pp\n)+$/, "", text)
    printf ".Sh DESCRIPTION\n%s", text >file
    body = ""
    sub(/^\n+/, "", example[page])
    sub(/\n+$/, "", example[page])
    literal(example[page])
    printf ".Sh EXAMPLES\n%s", body >file
    body = ""
    printf ".Sh SEE ALSO\n%s", related(page, synopses text) >file
    close(file)
}
function write_link(name,   file) {
    file = directory "/" name ".3"
    printf ".so man3/%s.3\n", page_of[name] >file
    close(file)
}
function write_overview(name, line,   file, i, k, any, text) {
    file = directory "/" name ".3"
    heading(name, file)
    printf ".Sh NAME\n.Nm %s\n.Nd %s\n", name, line >file
    printf ".Sh SYNOPSIS\n.In %s\n.Pp\nLink with\n.Fl lrecord\n.Pq Li pkg\\-config \\-\\-cflags \\-\\-libs librecord .\n",
        name == "librecord" ? "librecord.h" : "librecord/plugin.h" >file
    for (i = 1; i <= header_count; i++) {
        any = 0
        for (k = 1; k <= page_count; k++) if (header_of[pages[k]] == headers[i] && overview_of(pages[k]) == name) any = 1
        if (!any) continue
        body = ""
        tell(overview[headers[i]])
        text = body
        sub(/^(\.Pp\n)+/, "", text)
        printf "%s%s", text_begin(headers[i]), text >file
        printf ".Bl -tag -width Ds -compact\n" >file
        for (k = 1; k <= page_count; k++)
            if (header_of[pages[k]] == headers[i]) printf ".It Xr %s 3\n%s\n", pages[k], plain(about[pages[k]]) >file
        printf ".El\n" >file
    }
    printf ".Sh SEE ALSO\n.Xr record 1 ,\n.Xr %s 3\n", name == "librecord" ? "librecord-plugin" : "librecord" >file
    close(file)
}
function text_begin(header) {
    if (header == "librecord.h" || header == "librecord/plugin.h") return ".Sh DESCRIPTION\n"
    return ".Ss " header "\n"
}

END {
    if (failed) exit 1
    end_header()
    for (i = 1; i <= page_count; i++) write_page(pages[i])
    for (name in page_of) if (name != page_of[name]) write_link(name)
    write_overview("librecord", "save, load, convert and inspect model records")
    write_overview("librecord-plugin", "write formats, codecs and sources for librecord")
}
