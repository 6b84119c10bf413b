/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The terminal, by ncurses, which is opened for browse alone: other subcommands do not wait for it. Standard output
 * and standard error go to temporary files meanwhile, so that nothing is printed into the screen. A signal that ends
 * the command restores the terminal first. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "tools/browse/browse_private.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#include <termios.h>
#include <wchar.h>

/* ----------------------------------------------------------------------------------------------------- ncurses -- */

/* <term.h> makes macros of words like `columns`. */
typedef struct term TERMINAL;
extern char *tigetstr(const char *name);
extern int setupterm(const char *kind, int file, int *error);
extern TERMINAL *set_curterm(TERMINAL *terminal);
extern int del_curterm(TERMINAL *terminal);

/* clang-format off */
#define FUNCTIONS(X) \
    X(cbreak) X(clearok) X(curs_set) X(del_curterm) X(delscreen) X(doupdate) X(endwin) X(getmaxx) X(getmaxy) \
    X(getmouse) X(has_colors) X(init_pair) X(keypad) X(mouseinterval) X(mousemask) X(newterm) X(newwin) \
    X(noecho) X(nonl) X(set_curterm) X(set_escdelay) X(setupterm) X(start_color) X(tigetstr) \
    X(use_default_colors) X(use_tioctl) X(waddnwstr) X(wattr_set) X(werase) X(wget_wch) X(wmove) X(wnoutrefresh) \
    X(wtimeout)
/* clang-format on */

static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} lib;

static const struct {
    const char *name;
    void *to;
} functions[] = {
#define X(name) {#name, &lib.name},
    FUNCTIONS(X)
#undef X
};

/* Says in the ELF file what it opens itself, which packagers' tools read (an ELF note of freedesktop.org's form). */
#define NOTE "[{\"feature\":\"browse\",\"priority\":\"recommended\",\"soname\":[\"" LR_NCURSES_SONAME "\"]}]"
__attribute__((used, section(".note.dlopen"))) _Alignas(4) static const struct {
    uint32_t owner_size, size, type;
    char owner[4];
    _Alignas(4) char text[sizeof NOTE];
} dlopen_note = {sizeof "FDO", sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

static int open_library(void)
{
    void *handle = dlopen(LR_NCURSES_SONAME, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        return tool_fail("%s cannot be opened, which record browse needs: %s\n"
                         "Install this library, or use record ls and record show.",
                         LR_NCURSES_SONAME, dlerror());
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address) {
            (void)dlclose(handle);
            return tool_fail("%s has no function %s, which record browse calls", LR_NCURSES_SONAME, functions[i].name);
        }
        /* ISO C has no way from an object pointer to a function. */
        memcpy(functions[i].to, &address, sizeof address);
    }
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------ kept streams -- */

/* Standard output and standard error, and where they went before. */
static struct kept {
    int number, before;
    FILE *stream, *file;
} kept[2] = {{STDOUT_FILENO, -1, NULL, NULL}, {STDERR_FILENO, -1, NULL, NULL}};

static bool keep(struct kept *k, FILE *stream)
{
    (void)fflush(stream);
    k->stream = stream;
    k->file = tmpfile();
    k->before = k->file ? fcntl(k->number, F_DUPFD_CLOEXEC, 3) : -1;
    return k->before >= 0 && dup2(fileno(k->file), k->number) >= 0;
}

static void give_back(struct kept *k)
{
    if (k->before >= 0) {
        (void)fflush(k->stream);
        (void)dup2(k->before, k->number);
        (void)close(k->before);
    }
    if (k->file) {
        (void)fclose(k->file);
    }
    k->before = -1;
    k->file = NULL;
}

char *tool_terminal_said(bool error)
{
    struct kept *k = &kept[error];
    struct stat about;
    char *said;
    size_t size = 0;

    if (!k->file) {
        return xstrdup("");
    }
    (void)fflush(k->stream);
    if (fstat(fileno(k->file), &about) == 0 && about.st_size > 0) {
        size = (size_t)about.st_size;
    }
    said = xmalloc(size + 1);
    said[size] = '\0';
    if (lr_file_read_at(fileno(k->file), said, size, 0) != 0 || ftruncate(fileno(k->file), 0) != 0 ||
        lseek(k->number, 0, SEEK_SET) != 0) {
        said[0] = '\0'; /* it would be printed twice */
    }
    return said;
}

/* ----------------------------------------------------------------------------------------------------- signals -- */

/* Those that end the command. What the caller ignores (nohup) stays ignored. */
static const int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGBUS, SIGSEGV, SIGABRT, SIGFPE};

/* What a handler needs: the terminal's old settings, and what makes it leave the screen, as bytes. */
static struct termios before;
static char leave[128];
static size_t leave_length;
static int terminal = -1;

static void add_to_leave(const char *capability)
{
    const char *sequence = lib.tigetstr(capability);
    size_t length = sequence && sequence != (const char *)-1 ? strlen(sequence) : 0;

    if (length && length < sizeof leave - leave_length) {
        memcpy(leave + leave_length, sequence, length);
        leave_length += length;
    }
}

static void on_fatal(int number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    /* A reader of the terminal that is gone must not hold this up, so what cannot be written is not. */
    ssize_t written = write(terminal, leave, leave_length);
    (void)written;
    (void)tcsetattr(terminal, TCSANOW, &before);
    (void)sigaction(number, &action, NULL);
    (void)raise(number);
}

static void watch(bool on)
{
    struct sigaction action = {.sa_handler = on ? on_fatal : SIG_DFL}, old;

    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler == (on ? SIG_DFL : on_fatal)) {
            (void)sigaction(fatal_signals[i], &action, NULL);
        }
    }
}

void tool_terminal_guard(void)
{
    watch(true);
}

/* -------------------------------------------------------------------------------------------- opening, closing -- */

static SCREEN *screen;
static WINDOW *canvas;
static FILE *keys, *drawing;
static bool registered, ascii;
static int clicked_row;
static struct {
    attr_t attributes;
    short pair;
} inks[INK_COUNT];

int tool_terminal_check(void)
{
    const char *kind = getenv("TERM");
    int error;

    if (!isatty(STDOUT_FILENO)) {
        return tool_fail("browse: standard output is not a terminal\n" BROWSE_INSTEAD);
    }
    if (!kind || !*kind || strcmp(kind, "dumb") == 0) {
        return tool_fail("browse: the terminal is %s: it cannot move its cursor\n" BROWSE_INSTEAD,
                         kind && *kind ? "\"dumb\" (TERM)" : "not known (TERM is not set)");
    }
    if ((error = open_library()) != EXIT_OK) {
        return error;
    }
    if (lib.setupterm(kind, STDOUT_FILENO, &error) != OK) {
        return tool_fail("browse: unknown terminal \"%s\" (TERM)\n" BROWSE_INSTEAD, kind);
    }
    (void)lib.del_curterm(lib.set_curterm(NULL));
    return EXIT_OK;
}

/* Whether the environment names a locale without UTF-8. */
static bool is_ascii_asked(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) {
            return !strcasestr(value, "utf-8") && !strcasestr(value, "utf8");
        }
    }
    return false;
}

/* The command writes UTF-8 unless the locale denies it; ncurses must know. Numbers keep their points. */
static void set_characters(void)
{
    static const char *const others[] = {"C.UTF-8", "C.utf8", "en_US.UTF-8"};

    ascii = is_ascii_asked();
    if (ascii) {
        (void)setlocale(LC_CTYPE, "C");
        return;
    }
    (void)setlocale(LC_CTYPE, "");
    for (size_t i = 0; i < sizeof others / sizeof *others && strcmp(nl_langinfo(CODESET), "UTF-8") != 0; i++) {
        (void)setlocale(LC_CTYPE, others[i]);
    }
}

static void mix_inks(bool colors)
{
    static const struct {
        int ink;
        attr_t attributes;
        short color; /* -1: none */
    } mixed[] = {{INK_BOLD, A_BOLD, -1},           {INK_DIM, A_DIM, -1},          {INK_BAR, A_REVERSE, -1},
                 {INK_BRANCH, A_BOLD, COLOR_BLUE}, {INK_TENSOR, A_NORMAL, -1},    {INK_VALUE, A_NORMAL, COLOR_GREEN},
                 {INK_BARS, A_NORMAL, COLOR_CYAN}, {INK_ALARM, A_BOLD, COLOR_RED}};
    bool colored = colors && lib.has_colors() && lib.start_color() == OK && lib.use_default_colors() == OK;
    short pairs = 0;

    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        inks[mixed[i].ink].attributes = mixed[i].attributes;
        if (colored && mixed[i].color >= 0 && lib.init_pair((short)(pairs + 1), mixed[i].color, -1) == OK) {
            inks[mixed[i].ink].pair = ++pairs;
        }
    }
}

int tool_terminal_open(bool colors, bool mouse)
{
    const char *kind = getenv("TERM");
    int in, out;

    set_characters();
    /* With a record on standard input, keys come from the terminal itself, as for a pager. */
    in = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                              : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    keys = in >= 0 ? fdopen(in, "r") : NULL;
    drawing = out >= 0 ? fdopen(out, "w") : NULL;
    if (!keys || !drawing || tcgetattr(out, &before) != 0) {
        tool_terminal_close();
        return tool_fail("browse: the terminal cannot be opened to read keys");
    }
    terminal = out;
    if (!registered) {
        /* Out of memory the command ends where it is. */
        registered = atexit(tool_terminal_close) == 0;
    }
    watch(true); /* before ncurses, which leaves others' handlers alone */
    lib.use_tioctl(TRUE);
    screen = lib.newterm(NULL, drawing, keys);
    canvas = screen ? lib.newwin(0, 0, 0, 0) : NULL;
    if (!canvas) {
        tool_terminal_close();
        return tool_fail("browse: unknown terminal \"%s\" (TERM)", kind);
    }
    leave_length = 0;
    add_to_leave("sgr0");
    add_to_leave("rmkx");
    add_to_leave("cnorm");
    add_to_leave("rmcup");
    if (mouse) {
        static const char off[] = "\033[?1000l\033[?1006l";
        if (sizeof off <= sizeof leave - leave_length) {
            memcpy(leave + leave_length, off, sizeof off - 1);
            leave_length += sizeof off - 1;
        }
    }
    (void)lib.set_escdelay(50);
    (void)lib.cbreak();
    (void)lib.noecho();
    (void)lib.nonl();
    (void)lib.keypad(canvas, TRUE);
    mix_inks(colors);
    if (mouse) {
        (void)lib.mouseinterval(0); /* a click is when it begins */
        (void)lib.mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    }
    if (!keep(&kept[0], stdout) || !keep(&kept[1], stderr)) {
        tool_terminal_close();
        return tool_fail("browse: no temporary file could be made (TMPDIR)");
    }
    return EXIT_OK;
}

void tool_terminal_close(void)
{
    char *said = tool_terminal_said(true);

    if (screen) {
        (void)lib.mousemask(0, NULL);
        (void)lib.endwin();
        lib.delscreen(screen);
    }
    screen = NULL;
    canvas = NULL;
    if (terminal >= 0) {
        (void)tcsetattr(terminal, TCSADRAIN, &before);
        watch(false);
    }
    terminal = -1;
    give_back(&kept[0]);
    give_back(&kept[1]);
    if (keys) {
        (void)fclose(keys);
    }
    if (drawing) {
        (void)fclose(drawing);
    }
    keys = drawing = NULL;
    fputs(said, stderr);
    free(said);
}

/* ----------------------------------------------------------------------------------------------------- drawing -- */

int tool_terminal_rows(void)
{
    return lib.getmaxy(canvas);
}

int tool_terminal_columns(void)
{
    return lib.getmaxx(canvas);
}

void tool_terminal_clear(void)
{
    (void)lib.wattr_set(canvas, A_NORMAL, 0, NULL);
    (void)lib.werase(canvas);
}

/* Returns the substitute for a character on a terminal without UTF-8. */
static uint32_t as_ascii(uint32_t code)
{
    static const struct {
        uint32_t code;
        char ascii;
    } like[] = {{0xd7, 'x'},   {0x203a, '>'}, {0x2026, '.'}, {0x2190, '<'}, {0x2191, '^'},
                {0x2192, '>'}, {0x2193, 'v'}, {0x2588, '#'}, {0x25b8, '>'}, {0x25be, 'v'}};

    for (size_t i = 0; i < sizeof like / sizeof *like; i++) {
        if (like[i].code == code) {
            return (uint32_t)like[i].ascii;
        }
    }
    return code < 0x80 ? code : '?';
}

/* The next character as the terminal shows it. @return its bytes. */
static size_t next_character(const char *at, size_t length, wchar_t *shown, int *columns)
{
    uint32_t code = 0;
    size_t step = tool_utf8_next(at, length, &code);

    code = ascii ? as_ascii(code) : code;
    *shown = step ? (wchar_t)code : L'?';
    *columns = wcwidth(*shown);
    if (!step || *columns < 0 || code < 0x20) {
        *shown = L'?';
        *columns = 1;
    }
    return step ? step : 1;
}

int tool_terminal_width(const char *string)
{
    size_t length = strlen(string), step;
    int width = 0, columns;
    wchar_t shown;

    for (; length; string += step, length -= step) {
        step = next_character(string, length, &shown, &columns);
        width += columns;
    }
    return width;
}

const char *tool_terminal_skip(const char *string, int columns)
{
    /* No more is looked at than such columns can take, so that long lines are not measured again and again. */
    size_t length = strnlen(string, columns > 0 ? (size_t)columns * 16 + 64 : 0), step;
    int width;
    wchar_t shown;

    for (; length && columns > 0; string += step, length -= step, columns -= width) {
        step = next_character(string, length, &shown, &width);
    }
    return string;
}

int tool_terminal_put(int row, int column, int room, int ink, const char *string)
{
    size_t length = strlen(string), step, count = 0;
    int left = tool_terminal_columns() - column, taken = 0, columns;
    wchar_t line[256];

    left = room < left ? room : left;
    if (row < 0 || column < 0 || row >= tool_terminal_rows() || left <= 0 || lib.wmove(canvas, row, column) == ERR) {
        return 0;
    }
    (void)lib.wattr_set(canvas, inks[ink].attributes, inks[ink].pair, NULL);
    for (; length; string += step, length -= step) {
        step = next_character(string, length, &line[count], &columns);
        if (taken + columns > left) {
            break;
        }
        taken += columns;
        if (++count == sizeof line / sizeof *line) {
            (void)lib.waddnwstr(canvas, line, (int)count);
            count = 0;
        }
    }
    /* Writing the last cell of a window returns an error. */
    (void)lib.waddnwstr(canvas, line, (int)count);
    return taken;
}

void tool_terminal_bar(int row, int ink, const char *string)
{
    int columns = tool_terminal_columns(), taken = tool_terminal_put(row, 0, columns, ink, string), more = 1;

    /* A row that the screen has not takes nothing. */
    while (taken < columns && more > 0) {
        more = tool_terminal_put(row, taken, columns - taken, ink, "                                ");
        taken += more;
    }
}

void tool_terminal_show(int row, int column)
{
    (void)lib.curs_set(row >= 0);
    (void)lib.wmove(canvas, row >= 0 ? row : tool_terminal_rows() - 1, row >= 0 ? column : 0);
    (void)lib.wnoutrefresh(canvas);
    (void)lib.doupdate();
}

/* -------------------------------------------------------------------------------------------------------- keys -- */

/* What the mouse did that no key has told yet, the first of it last: ncurses has one key for all that came at once,
   such as both clicks of two while a file was read, and gives the last of it first. It keeps eight. */
static struct {
    int kind, row;
} clicks[8];
static size_t clicks_left;

static void take_clicks(void)
{
    MEVENT event;

    while (clicks_left < sizeof clicks / sizeof *clicks && lib.getmouse(&event) == OK) {
        clicks[clicks_left].kind = event.bstate & BUTTON4_PRESSED   ? KEY_IS_WHEEL_UP
                                   : event.bstate & BUTTON5_PRESSED ? KEY_IS_WHEEL_DOWN
                                                                    : KEY_IS_CLICK;
        clicks[clicks_left++].row = event.y;
    }
}

static int next_click(void)
{
    clicked_row = clicks[--clicks_left].row;
    return clicks[clicks_left].kind;
}

int tool_terminal_clicked(void)
{
    return clicked_row;
}

int tool_terminal_key(int milliseconds)
{
    static const struct {
        wint_t of_ncurses;
        int key;
    } known[] = {{KEY_UP, KEY_IS_UP},          {KEY_DOWN, KEY_IS_DOWN},     {KEY_LEFT, KEY_IS_LEFT},
                 {KEY_RIGHT, KEY_IS_RIGHT},    {KEY_PPAGE, KEY_IS_PAGE_UP}, {KEY_NPAGE, KEY_IS_PAGE_DOWN},
                 {KEY_HOME, KEY_IS_HOME},      {KEY_END, KEY_IS_END},       {KEY_ENTER, KEY_IS_ENTER},
                 {KEY_BACKSPACE, KEY_IS_BACK}, {KEY_RESIZE, KEY_IS_RESIZE}};
    wint_t code = 0;
    int kind;

    if (clicks_left) {
        return next_click();
    }
    lib.wtimeout(canvas, milliseconds);
    kind = lib.wget_wch(canvas, &code);
    if (kind == ERR) {
        struct termios now;
        /* A closed terminal returns no keys for good; after a signal or a timeout keys can follow. */
        return tcgetattr(fileno(keys), &now) != 0 || feof(keys) ? KEY_IS_GONE : KEY_IS_NOTHING;
    }
    if (kind == OK) {
        return code == L'\r' || code == L'\n'  ? KEY_IS_ENTER
               : code == 0x7F || code == L'\b' ? KEY_IS_BACK
               : code == 0x1B                  ? KEY_IS_ESCAPE
               : code == 0x02                  ? KEY_IS_PAGE_UP
               : code == 0x06                  ? KEY_IS_PAGE_DOWN
               : code == 0x0C                  ? ((void)lib.clearok(canvas, TRUE), KEY_IS_RESIZE)
               : code == 0x10                  ? KEY_IS_UP
               : code == 0x0E                  ? KEY_IS_DOWN
               : code < 0x20 && code != 0x15   ? KEY_IS_OTHER
                                               : (int)code;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (code == known[i].of_ncurses) {
            return known[i].key;
        }
    }
    if (code == KEY_MOUSE) {
        take_clicks();
    }
    return clicks_left ? next_click() : KEY_IS_OTHER; /* that a button was let go */
}
