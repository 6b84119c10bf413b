#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a command on a terminal that is made of a pseudo terminal and a model of its screen, as xterm has it.

    terminal.py FOLDER COLUMNSxROWS STEP... -- COMMAND ARGUMENT...

Steps, in order:
    TEXT         is typed; <up> <down> <left> <right> <pgup> <pgdn> <home> <end> <enter> <esc> <bs> are keys,
                 <clear> is ^U, <wheel> <wheelup> <click> <below> are the mouse (in the fourth row, in the last but one),
                 <clicks> are two clicks at once
    =NAME        once nothing moves any more, writes the screen to FOLDER/NAME, lines without the spaces at their ends
    %NAME        the same, and behind each line what is not plain: `row: column-column letters` (b bold, d dim,
                 r reverse, a number for a colour) in FOLDER/NAME
    ?TEXT        waits until the screen shows it, at most PATIENCE seconds
    !SIGNAL      sends a signal (TERM, INT, TSTP, CONT…)
    @COLxROW     changes the size
    ^NAME        writes the peak of the memory of the process (VmHWM, in KiB) to FOLDER/NAME
    ~            waits until the command has ended
At the end FOLDER/end says how the command ended ("exit 0", "signal TERM", "running"), whether the settings of the
terminal are those that it began with ("settings same") and what the screen is ("screen main" or "alternate").
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata

KEYS = {'up': '\033OA', 'down': '\033OB', 'right': '\033OC', 'left': '\033OD', 'home': '\033OH', 'end': '\033OF',
        'pgup': '\033[5~', 'pgdn': '\033[6~', 'enter': '\r', 'esc': '\033', 'bs': '\177', 'lt': '<',
        'wheelup': '\033[<64;5;5M', 'below': '\033[<0;5;23M\033[<0;5;23m', 'clear': '\025',
        'wheel': '\033[<65;5;5M', 'click': '\033[<0;5;4M\033[<0;5;4m',
        'clicks': '\033[<0;5;4M\033[<0;5;4m' * 2}
PATIENCE = 300
ESCAPE = 0.15  # longer than record waits for the rest of a key that begins with an escape


class Screen:
    """What an xterm shows."""

    def __init__(self, columns, rows):
        self.alternate = False
        self.unknown = []
        self.held = b''
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[(' ', '')] * columns for _ in range(rows)]
        self.x = self.y = 0
        self.style = ''
        self.last = ' '
        self.top, self.bottom = 0, rows - 1

    def feed(self, data):
        data = self.held + data
        self.held = b''
        text = ''
        for cut in range(0, 4):
            try:
                text = data[:len(data) - cut].decode()
                self.held = data[len(data) - cut:]
                break
            except UnicodeDecodeError:
                continue
        else:
            raise SystemExit('terminal: the command wrote something that is no UTF-8: %r' % data)
        at = 0
        while at < len(text):
            if text[at] != '\033':
                self.put(text[at])
                at += 1
                continue
            found = re.match(r'\033(\[[0-?]*[ -/]*[@-~]|[()].|[=>78cMDE]|\][^\007\033]*(\007|\033\\))', text[at:])
            if not found:
                self.held = text[at:].encode() + self.held
                return
            self.control(found.group(1))
            at += found.end()

    def blank(self):
        # xterm erases in the background of the day: what matters here is reverse, which it leaves out
        return (' ', '')

    def put(self, c):
        if c == '\r':
            self.x = 0
        elif c == '\n':
            if self.y == self.bottom:
                self.scroll(1)
            else:
                self.y = min(self.y + 1, self.rows - 1)
        elif c == '\b':
            self.x = max(self.x - 1, 0)
        elif c in '\007\016\017':
            pass
        elif c == '\t':
            self.x = min((self.x // 8 + 1) * 8, self.columns - 1)
        elif unicodedata.combining(c):
            if self.x:
                old, style = self.cells[self.y][self.x - 1]
                self.cells[self.y][self.x - 1] = (old + c, style)
        else:
            width = 2 if unicodedata.east_asian_width(c) in 'WF' else 1
            if self.x + width > self.columns:
                self.x = 0
                self.put('\n')
            self.cells[self.y][self.x] = (c, self.style)
            if width == 2:
                self.cells[self.y][self.x + 1] = ('', self.style)
            self.last = c
            self.x += width

    def scroll(self, lines):
        for _ in range(abs(lines)):
            if lines > 0:
                del self.cells[self.top]
                self.cells.insert(self.bottom, [self.blank()] * self.columns)
            else:
                del self.cells[self.bottom]
                self.cells.insert(self.top, [self.blank()] * self.columns)

    def erase(self, y, first, last):
        for x in range(first, min(last, self.columns)):
            self.cells[y][x] = self.blank()

    def control(self, words):
        kind = words[-1] if words[0] == '[' else words[0]
        private = words[1:2] in ('?', '>', '!') and words[0] == '['
        numbers = [int(n) if n else 0 for n in re.findall(r'\d*', words[1:-1].strip('?>!'))[:-1][::1] if n != ''] \
            if words[0] == '[' else []
        one = max(numbers[0], 1) if numbers else 1
        x, y = min(self.x, self.columns - 1), self.y
        if words[0] != '[':
            if words == 'M':
                self.scroll(-1) if y == self.top else setattr(self, 'y', max(y - 1, 0))
            return
        if private:
            if kind in 'hl' and numbers and 1049 in numbers:
                self.alternate = kind == 'h'
                self.resize(self.columns, self.rows)
            return
        if kind in 'Hf':
            found = [int(n) if n else 1 for n in words[1:-1].split(';')] + [1]
            self.y, self.x = min(max(found[0], 1), self.rows) - 1, min(max(found[1], 1), self.columns) - 1
        elif kind == 'G':
            self.x = min(one, self.columns) - 1
        elif kind == 'd':
            self.y = min(one, self.rows) - 1
        elif kind == 'A':
            self.y = max(y - one, 0)
        elif kind == 'B':
            self.y = min(y + one, self.rows - 1)
        elif kind == 'C':
            self.x = min(x + one, self.columns - 1)
        elif kind == 'D':
            self.x = max(x - one, 0)
        elif kind == 'J':
            if not numbers or numbers[0] == 0:
                self.erase(y, x, self.columns)
            for line in range(0 if numbers and numbers[0] == 2 else y + 1, self.rows):
                self.erase(line, 0, self.columns)
        elif kind == 'K':
            what = numbers[0] if numbers else 0
            self.erase(y, 0 if what else x, self.columns if what != 1 else x + 1)
        elif kind == 'X':
            self.erase(y, x, x + one)
        elif kind == 'P':
            self.cells[y] = self.cells[y][:x] + self.cells[y][x + one:] + [self.blank()] * min(one, self.columns - x)
        elif kind == '@':
            self.cells[y] = (self.cells[y][:x] + [self.blank()] * one + self.cells[y][x:])[:self.columns]
        elif kind in 'LM' and self.top <= y <= self.bottom:
            for _ in range(min(one, self.rows)):
                if kind == 'L':
                    del self.cells[self.bottom]
                    self.cells.insert(y, [self.blank()] * self.columns)
                else:
                    del self.cells[y]
                    self.cells.insert(self.bottom, [self.blank()] * self.columns)
        elif kind == 'S':
            self.scroll(one)
        elif kind == 'T':
            self.scroll(-one)
        elif kind == 'b':
            for _ in range(one):
                self.put(self.last)
        elif kind == 'r':
            found = [int(n) for n in words[1:-1].split(';') if n] or [1, self.rows]
            self.top, self.bottom = found[0] - 1, found[1] - 1
            self.x = self.y = 0
        elif kind == 'm':
            self.paint([int(n) if n else 0 for n in words[1:-1].split(';')])
        elif kind in 'hlctn':
            pass
        else:
            self.unknown.append(words)

    def paint(self, numbers):
        for n in numbers:
            if n == 0:
                self.style = ''
            elif n in (1, 2, 7):
                self.style = ''.join(sorted(set(self.style + {1: 'b', 2: 'd', 7: 'r'}[n])))
            elif n in (22, 27):
                self.style = ''.join(c for c in self.style if c not in {22: 'bd', 27: 'r'}[n])
            elif 30 <= n <= 37:
                self.style = ''.join(c for c in self.style if not c.isdigit()) + str(n - 30)
            elif n == 39:
                self.style = ''.join(c for c in self.style if not c.isdigit())

    def lines(self):
        return [''.join(c for c, _ in line).rstrip() for line in self.cells]

    def styles(self):
        for y, line in enumerate(self.cells):
            x = 0
            while x < self.columns:
                end = x
                while end < self.columns and line[end][1] == line[x][1]:
                    end += 1
                if line[x][1]:
                    yield '%d: %d-%d %s' % (y, x, end - 1, line[x][1])
                x = end


class Terminal:
    def __init__(self, columns, rows, command):
        self.screen = Screen(columns, rows)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.drawn = False
        self.ended = None
        self.stopped = False
        self.told, tells = os.pipe()
        if os.fork() == 0:
            # Between this program and the command stands what a shell is there: the command can be stopped.
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                self.become(command)
            os.setpgid(pid, pid)
            os.tcsetpgrp(slave, pid)
            os.write(tells, struct.pack('i', pid))
            while True:
                status = os.waitpid(pid, os.WUNTRACED)[1]
                os.write(tells, struct.pack('i', status))
                if not os.WIFSTOPPED(status):
                    os._exit(0)
        os.close(tells)
        self.pid = struct.unpack('i', os.read(self.told, 4))[0]

    def become(self, command):
        # With something at TERMINAL_INPUT the keyboard is not standard input.
        given = os.environ.pop('TERMINAL_INPUT', None)
        os.dup2(os.open(given, os.O_RDONLY) if given else self.slave, 0)
        os.dup2(self.slave, 1)
        os.close(self.master)
        os.close(self.slave)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTSTP, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        while os.tcgetpgrp(1) != os.getpgid(0):
            time.sleep(0.01)
        os.execvp(command[0], command)

    def read(self, seconds):
        """Whether something came within that time."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                self.screen.feed(os.read(self.master, 65536))
                self.drawn = True
            except OSError:
                time.sleep(seconds)
                return False
        return bool(ready)

    def poll(self):
        while self.ended is None and select.select([self.told], [], [], 0)[0]:
            word = os.read(self.told, 4)
            status = struct.unpack('i', word)[0] if word else 0
            if word and os.WIFSTOPPED(status):
                self.stopped = True
            else:
                self.ended = status

    def idle(self):
        """It has drawn and read all that was typed, and all of its threads wait; for a program that it started, a shell does."""
        # To ask whether the slave can be read brings it what was written to the master.
        if not self.stopped and select.select([self.slave], [], [], 0)[0]:
            return False
        try:
            for thread in os.listdir('/proc/%d/task' % self.pid):
                with open('/proc/%d/task/%s/children' % (self.pid, thread)) as file:
                    if file.read().strip():
                        return False
                with open('/proc/%d/task/%s/stat' % (self.pid, thread)) as file:
                    if file.read().rpartition(')')[2].split()[0] not in 'STtZ':
                        return False
        except OSError:
            pass
        return self.drawn

    def settle(self):
        calm = 0
        end = time.time() + PATIENCE
        while calm < 2 and time.time() < end:
            quiet = self.ended is not None or self.idle()
            moved = self.read(0.01)
            self.poll()
            calm = calm + 1 if quiet and not moved else 0

    def wait_for(self, test):
        end = time.time() + PATIENCE
        while not test() and time.time() < end:
            self.read(0.02)
            self.poll()
        return test()

    def type(self, text):
        for part in re.split(r'(<[a-z]+>)', text):
            keys = KEYS[part[1:-1]] if part[:1] == '<' and part[1:-1] in KEYS else part
            if keys:
                os.write(self.master, keys.encode())
                self.read(0)
                if keys == '\033':
                    # An escape alone is only one if nothing follows: the command has read it, and waits; then waits no more.
                    self.settle()
                    time.sleep(ESCAPE)
                    self.settle()


def main():
    columns, rows = (int(n) for n in sys.argv[2].split('x'))
    folder = sys.argv[1]
    split = sys.argv.index('--')
    steps, command = sys.argv[3:split], sys.argv[split + 1:]
    terminal = Terminal(columns, rows, command)
    failed = 0

    def write(name, lines):
        with open(os.path.join(folder, name), 'w') as file:
            file.write(''.join(line + '\n' for line in lines))

    for step in steps:
        if step[0] in '=%':
            terminal.settle()
            write(step[1:], terminal.screen.lines() if step[0] == '=' else terminal.screen.styles())
        elif step[0] == '?' and len(step) > 1:
            if not terminal.wait_for(lambda: any(step[1:] in line for line in terminal.screen.lines())):
                print('the screen never showed "%s":' % step[1:])
                print('\n'.join(terminal.screen.lines()))
                failed = 1
                break
        elif step[0] == '!':
            terminal.settle()
            if terminal.ended is None:
                os.kill(terminal.pid, getattr(signal, 'SIG' + step[1:]))
            if step[1:] == 'CONT':
                terminal.stopped = False
        elif step[0] == '@':
            columns, rows = (int(n) for n in step[1:].split('x'))
            terminal.settle()
            terminal.screen.resize(columns, rows)
            # which tells the command
            fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        elif step[0] == '^':
            terminal.settle()
            with open('/proc/%d/status' % terminal.pid) as file:
                write(step[1:], [line.split()[1] for line in file if line.startswith('VmHWM')])
        elif step == '~':
            terminal.wait_for(lambda: terminal.ended is not None or terminal.stopped)
        else:
            terminal.type(step)
    terminal.settle()
    terminal.poll()
    same = termios.tcgetattr(terminal.slave) == terminal.before
    if terminal.ended is not None and os.WIFSIGNALED(terminal.ended):
        end = 'signal ' + signal.Signals(os.WTERMSIG(terminal.ended)).name[3:]
    elif terminal.ended is not None:
        end = 'exit %d' % os.WEXITSTATUS(terminal.ended)
    else:
        end = 'stopped' if terminal.stopped else 'running'
        os.kill(terminal.pid, signal.SIGKILL)
    if terminal.screen.unknown:
        print('the command wrote what this terminal does not know: %r' % terminal.screen.unknown[:5])
        failed = 1
    write('end', [end, 'settings ' + ('same' if same else 'changed'),
                  'screen ' + ('alternate' if terminal.screen.alternate else 'main')])
    sys.exit(failed)


main()
