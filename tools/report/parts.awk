# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes C of the files of the page: an array of lines for each sort. Lines that are comments alone are left out, and so is
# what stands before a line to show its level. Scripts become one function, so that they leave nothing behind.
BEGIN {
    print "/* Made by parts.awk of the files of the page. */"
    print "#include \"tools/report/report_private.h\"\n"
}
function sort_of(file) {
    return file ~ /\.css$/ ? "css" : file ~ /\.html$/ ? "html" : "script"
}
function line(text,    out, i, c) {
    out = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        out = out (c == "\\" || c == "\"" || c == "?" ? "\\" : "") c # "?": no trigraphs
    }
    print "    \"" out "\\n\","
}
function finish() {
    if (sort == "script") {
        line("})();")
    }
    if (sort != "") {
        print "    0,\n};"
    }
}
FNR == 1 {
    if (sort_of(FILENAME) != sort) {
        finish()
        sort = sort_of(FILENAME)
        print "const char *const tool_report_" sort "[] = {"
        if (sort == "script") {
            line("(() => {")
            line("\"use strict\";")
        }
    }
    comment = 0
}
sort == "css" && /^\/\*/ { comment = 1 }
comment {
    if (/\*\//) {
        comment = 0
    }
    next
}
sort == "script" && /^ *\/\// { next }
/^ *$/ { next }
{
    sub(/^ +/, "")
    line($0)
}
END { finish() }
