dnl SPDX-License-Identifier: MIT OR Apache-2.0
dnl Compiler flags, taken only if the compiler knows them.

dnl LR_APPEND_CFLAGS(VARIABLE, FLAGS)
dnl Appends each of FLAGS that the C compiler takes without a word. A warning about a flag counts as "does not know it",
dnl which is what clang gives.
AC_DEFUN([LR_APPEND_CFLAGS], [
    AC_LANG_ASSERT([C])
    for lr_flag in $2; do
        AS_VAR_PUSHDEF([lr_known], [lr_cv_cflag_$lr_flag])
        AC_CACHE_CHECK([whether $CC takes $lr_flag], [lr_known], [
            lr_saved_CFLAGS=$CFLAGS
            CFLAGS="$CFLAGS -Werror $lr_flag"
            AC_COMPILE_IFELSE([AC_LANG_SOURCE([[extern int lr_nothing; int lr_nothing = 0;]])],
                [AS_VAR_SET([lr_known], [yes])], [AS_VAR_SET([lr_known], [no])])
            CFLAGS=$lr_saved_CFLAGS
        ])
        AS_VAR_IF([lr_known], [yes], [AS_VAR_APPEND([$1], [" $lr_flag"])])
        AS_VAR_POPDEF([lr_known])
    done
])

dnl LR_CHECK_LINK(FLAGS, IF-YES, IF-NO)
dnl Whether a program can be compiled and linked with FLAGS.
AC_DEFUN([LR_CHECK_LINK], [
    AC_MSG_CHECKING([whether $CC links with $1])
    lr_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $1"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [lr_links=yes], [lr_links=no])
    CFLAGS=$lr_saved_CFLAGS
    AC_MSG_RESULT([$lr_links])
    AS_IF([test "$lr_links" = yes], [$2], [$3])
])

dnl LR_SONAME(VARIABLE, NAME, LIBS, CFLAGS, INCLUDES, BODY)
dnl The name under which a program that is linked with LIBS asks for the shared library NAME, "libNAME.so.1"; empty: it
dnl does not. BODY must call it, or the linker might leave it out.
AC_DEFUN([LR_SONAME], [
    AC_MSG_CHECKING([for the soname of $2])
    lr_saved_LIBS=$LIBS
    lr_saved_CFLAGS=$CFLAGS
    LIBS="$3 $LIBS"
    CFLAGS="$CFLAGS $4"
    $1=
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[$5]], [[$6]])],
        [$1=`$READELF -d conftest$EXEEXT 2>/dev/null | $SED -n 's/.*(NEEDED).*\($2\.so.*\).$/\1/p'`])
    LIBS=$lr_saved_LIBS
    CFLAGS=$lr_saved_CFLAGS
    AC_MSG_RESULT([${$1:-none}])
    AC_SUBST([$1])
])

dnl LR_PLAIN_FLOATS(VARIABLE)
dnl Appends to VARIABLE what makes the compiler compute with float and double as they are. The registers of some processors
dnl are wider (x87 of 32-bit x86), the C library of others says that float is computed as double (s390x): sums and
dnl conversions would end in other digits than elsewhere. lr_plain_floats says whether it does.
AC_DEFUN([LR_PLAIN_FLOATS], [
    AC_LANG_ASSERT([C])
    AC_MSG_CHECKING([for what makes $CC compute without excess precision])
    lr_saved_CFLAGS=$CFLAGS
    lr_plain_floats=no
    for lr_flags in "" "-fexcess-precision=fast" "-msse2 -mfpmath=sse"; do
        CFLAGS="$lr_saved_CFLAGS $[]$1 $lr_flags"
        AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error not plain
#endif
extern int lr_nothing; int lr_nothing = 0;]])],
            [lr_plain_floats=yes; break])
    done
    CFLAGS=$lr_saved_CFLAGS
    AS_IF([test "$lr_plain_floats" = yes], [
        AC_MSG_RESULT([${lr_flags:-nothing}])
        AS_VAR_APPEND([$1], [" $lr_flags"])
    ], [AC_MSG_RESULT([not found])])
])

dnl LR_HARDEN(CFLAGS-VARIABLE, LDFLAGS-VARIABLE, PROGRAM-VARIABLE)
dnl Appends what makes faults in memory harder to exploit, as far as the compiler and the linker have it: a stack
dnl protector, checked functions of the C library, stacks that cannot jump over their guard page, targets of indirect jumps
dnl (CET of x86, PAC and BTI of Arm), tables that are read-only before the program begins, and programs at any address.
dnl lr_hardened names what there is.
AC_DEFUN([LR_HARDEN], [
    AC_LANG_ASSERT([C])
    lr_hardened=
    LR_HARDEN_WITH([stack-protector], [$1], [-fstack-protector-strong])
    LR_HARDEN_WITH([stack-clash], [$1], [-fstack-clash-protection])
    AS_CASE([$host_cpu],
        [x86_64 | i?86], [LR_HARDEN_WITH([cet], [$1], [-fcf-protection])],
        [aarch64], [LR_HARDEN_WITH([branch-protection], [$1], [-mbranch-protection=standard])])
    dnl It needs optimisation, and a distribution may have set it already.
    AC_MSG_CHECKING([whether functions of the C library can be checked (_FORTIFY_SOURCE)])
    lr_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $CPPFLAGS -Werror"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined __OPTIMIZE__ || defined _FORTIFY_SOURCE
#error not to be set
#endif
#define _FORTIFY_SOURCE 2
#include <string.h>
extern int lr_nothing; int lr_nothing = 0;]])],
        [AC_MSG_RESULT([yes])
         $1="$[]$1 -D_FORTIFY_SOURCE=2"
         lr_hardened="$lr_hardened fortify"],
        [AC_MSG_RESULT([no, or it is set])])
    CFLAGS=$lr_saved_CFLAGS
    LR_HARDEN_WITH([relro], [$2], [-Wl,-z,relro,-z,now])
    AC_MSG_CHECKING([whether $CC makes programs for any address])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined __PIE__ && !defined __pie__
#error not by itself
#endif
extern int lr_nothing; int lr_nothing = 0;]])],
        [AC_MSG_RESULT([by itself])
         lr_hardened="$lr_hardened pie"],
        [AC_MSG_RESULT([not by itself])
         lr_before=$lr_hardened
         LR_HARDEN_WITH([pie], [$3], [-fPIE -pie])
         AS_IF([test "$lr_before" != "$lr_hardened"],
             [$1="$[]$1 -fPIE"
              $3=-pie])])
])

dnl LR_HARDEN_WITH(WORD, VARIABLE, FLAGS)
AC_DEFUN([LR_HARDEN_WITH], [
    LR_CHECK_LINK([-Werror $3], [$2="$[]$2 $3"
        lr_hardened="$lr_hardened $1"])
])

dnl LR_STATIC_PART(OPTION, VARIABLE, WHEN, CFLAGS, LIBS, FUNCTION)
dnl For --enable-static-command: if a static program cannot be linked with a library that was found, sets VARIABLE to no,
dnl or stops if --with-OPTION demands the library (WHEN is yes).
AC_DEFUN([LR_STATIC_PART], [
    AS_IF([test "$enable_static_command" != no && test "$[]$2" = yes], [
        AC_MSG_CHECKING([whether static programs can have $1])
        lr_saved_CFLAGS=$CFLAGS
        lr_saved_LIBS=$LIBS
        CFLAGS="$CFLAGS $4 -static"
        LIBS="$5 $LIBS"
        AC_LINK_IFELSE([AC_LANG_CALL([], [$6])], [], [$2=no])
        CFLAGS=$lr_saved_CFLAGS
        LIBS=$lr_saved_LIBS
        AC_MSG_RESULT([$[]$2])
        AS_IF([test "$[]$2$3" = noyes], [AC_MSG_ERROR([--with-$1: there is no static library that can be linked])])])
])
