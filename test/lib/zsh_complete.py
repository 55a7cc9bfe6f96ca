# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what Tab shows in zsh behind a command line, a word a line: zsh_complete.py SCRIPT LINE

zsh completes only where it edits lines, so it runs on a terminal of its own.
"""
import os
import pty
import re
import select
import sys

script, line = sys.argv[1:]
# Lists go through this instead of the screen: one word a line, with a mark around them.
SETUP = r"""
PS1=ready; unsetopt beep; setopt no_list_ambiguous
fpath=(/usr/share/zsh/functions/*(N/) $fpath)
autoload -Uz compinit; compinit -C -u -d $HOME/zsh.dump # the second question finds what the first has read
source %s
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a hits
	builtin compadd -A hits "$@"
	local -i status_=0
	builtin compadd "$@" || status_=$?
	(( $#hits )) && print -rl -- $hits >>$FOUND
	return $status_
}
finish() { print -r -- end >>$FOUND.end }
asked() { zle list-choices 2>/dev/null; zle -I; finish }
zle -C list-choices .list-choices _main_complete
zle -N asked
bindkey '^T' asked
print -r -- go-on
"""


def main():
    found = os.path.abspath("zsh.found")
    for name in (found, found + ".end"):
        if os.path.exists(name):
            os.remove(name)
    with open("zsh.setup", "w") as setup:
        setup.write(SETUP % script)
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(FOUND=found, TERM="xterm", HOME=os.getcwd(), ZDOTDIR=os.getcwd())
        os.execvp("zsh", ["zsh", "-f", "-i"])
    text = b""

    def until(pattern):
        nonlocal text
        while not re.search(pattern, text):
            try:
                text += os.read(fd, 65536)
            except OSError:
                sys.exit("zsh ended: %r" % text)
        text = b""

    os.write(fd, b"source ./zsh.setup\n")
    until(rb"\ngo-on\r*\n[^\n]*ready")
    os.write(fd, line.encode() + b"\x14")
    while not os.path.exists(found + ".end"):
        if select.select([fd], [], [], 0.02)[0]:
            text += os.read(fd, 65536)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    if os.path.exists(found):
        with open(found) as words:
            print("\n".join(sorted(set(words.read().split("\n")) - {""})))


main()
