# Looks for holes in the jail, and says which there are.
import os
import socket
import sys
import time

holes = []
most = int(sys.stdin.read())

if os.getuid() == 0:
    holes.append("programs run as root")
if set(os.listdir("/")) & {"home", "root", "etc", "proc", "var", "run", "sys"}:
    holes.append("files of the system are there")
if set(os.environ) - {"HOME", "LANG", "LC_CTYPE", "PATH", "PWD"}:
    holes.append("the environment is there")
for folder in ("/", "/usr", "/dev", "/dev/shm"):
    try:
        os.close(os.open(folder + "/hanok-probe", os.O_CREAT | os.O_WRONLY))
        holes.append(folder + " can be written to")
    except OSError:
        pass
try:
    socket.socket()
    holes.append("sockets can be made")
except OSError:
    pass
children = []
try:
    while len(children) <= most:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
    holes.append("processes are not bounded")
except OSError:
    pass
for child in children:
    os.kill(child, 9)

print("; ".join(holes) or "holds")
