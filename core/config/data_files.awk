# SPDX-License-Identifier: MIT OR Apache-2.0
# Prints the INI files of etc/ as a C table. Run it in the root of the source: awk -f core/config/data_files.awk FILE...
BEGIN {
    print "/* Made by data_files.awk of the INI files below etc/. */"
    print "#include \"core/config/config.h\"\n"
    print "const lr_builtin_file lr_builtin_files[] = {"
}
FNR == 1 {
    if (NR > 1) {
        print "    },"
    }
    path = FILENAME
    sub(/^.*etc\//, "", path)
    print "    {"
    print "        LR_BUILTIN \"" path "\","
}
{
    out = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        out = out (c == "\\" || c == "\"" || c == "?" ? "\\" : "") c # "?": no trigraphs
    }
    print "        \"" out "\\n\""
}
END {
    print "    },"
    print "    {0, 0},"
    print "};"
}
