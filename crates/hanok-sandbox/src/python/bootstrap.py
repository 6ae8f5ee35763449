# Runs the program that stands in the standard input; the value of a last expression is written out.
import ast
import linecache
import os
import sys
import traceback

# What whoever made the jail left open is none of the program's.
os.closerange(3, 1 << 20)


def main():
    source = sys.stdin.buffer.read().decode("utf-8")
    linecache.cache["<program>"] = (len(source), None, source.splitlines(True), "<program>")
    scope = {"__name__": "__main__"}
    try:
        tree = ast.parse(source, "<program>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<program>", "exec"), scope)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<program>", "eval"), scope)
            if value is not None:
                print(repr(value))
    except SystemExit:
        raise
    except BaseException as error:
        # The first frame is this one.
        traceback.print_exception(error.with_traceback(error.__traceback__.tb_next))
        sys.exit(1)


main()
