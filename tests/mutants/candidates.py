# SPDX-License-Identifier: Apache-2.0
"""The one-line bugs that a source file could have: what clang's tree says may be changed, and into what."""
import re

import clang.cindex
from clang.cindex import CursorKind as Kind

PREAMBLE = b'#include "tests/mutants/schema.hpp"\n'
ARGUMENT = "/*mutant*/"  # where the number of a mutant goes in the text put before its span

SWAPPED = {
    "==": ["!="], "!=": ["=="],
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"],
    "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
    "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="],
}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE,
             Kind.CONVERSION_FUNCTION, Kind.LAMBDA_EXPR}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT, Kind.DO_STMT}
EFFECTS = {Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR,
           Kind.UNARY_OPERATOR, Kind.CXX_DELETE_EXPR, Kind.BREAK_STMT, Kind.CONTINUE_STMT}
IDLE = re.compile(r"(.*(\.|->))?(reserve|shrink_to_fit)\(")  # what changes cost alone


class File:
    """Finds the mutants of one file: dictionaries with the span (start, end), its lines, what was and what it became, and the
    text to put before and after it so that the environment chooses."""

    def __init__(self, path, name, arguments):
        self.source = open(path, "rb").read()
        self.name = name
        unit = clang.cindex.Index.create().parse(path, arguments)
        self.complaint = next((str(d) for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error), None)
        own = [c for c in unit.cursor.get_children() if c.location.file and c.location.file.name == path]
        self.nothings = re.findall(r"constexpr auto (\w+) = std::nullopt;", self.source.decode())
        self.found = {}
        for cursor in own:
            self.visit(cursor, None, False)

    def text(self, start, end):
        return self.source[start:end].decode()

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def add(self, start, end, became, before, after):
        was = self.text(start, end)
        if start >= end or "#" in was or became == was:
            return
        flat = re.sub(r"\s*\n\s*", " ", before)
        if "\n" in before and ("//" in before or 'R"' in before):
            return
        first = self.source.count(b"\n", 0, start) + 1
        self.found.setdefault((start, end, became), dict(
            file=self.name, start=start, end=end, line=first, last=first + was.count("\n"),
            was=" ".join(was.split()), became=" ".join(became.split()), before=flat, after=after))

    def instead(self, start, end, became):
        """An expression in the place of another."""
        self.add(start, end, became, f"(mutants::on({ARGUMENT}) ? ({became}) : (", "))")

    def negated(self, start, end):
        self.add(start, end, f"!({self.text(start, end)})", f"(mutants::on({ARGUMENT}) != static_cast<bool>(", "))")

    def dropped(self, start, end):
        """A statement, to its semicolon."""
        end = self.source.find(b";", end) + 1
        self.add(start, end, "(dropped)", f"{{ if (!mutants::on({ARGUMENT})) {{ ", " } }")

    def visit(self, cursor, parent, inside):
        if cursor.kind in FUNCTIONS:
            inside = True
        if inside:
            self.mutate(cursor, parent)
        for child in cursor.get_children():
            if child.kind in (Kind.PARM_DECL, Kind.STATIC_ASSERT):
                continue
            if cursor.kind == Kind.VAR_DECL and self.source[:child.extent.start.offset].rstrip().endswith(b"["):
                continue  # an array's bound
            if child.kind == Kind.VAR_DECL and "constexpr" in self.text(child.extent.start.offset, child.location.offset):
                self.visit(child, cursor, False)  # a lambda in it would do
            else:
                self.visit(child, cursor, inside)

    def mutate(self, cursor, parent):
        start, end = self.span(cursor)
        text = self.text(start, end)
        children = list(cursor.get_children())
        kind = cursor.kind
        if kind == Kind.IF_STMT:
            self.condition(cursor, children)
        elif kind == Kind.CONDITIONAL_OPERATOR:
            self.negated(*self.span(children[0]))
        elif kind == Kind.UNARY_OPERATOR and text.startswith("!") and text[1:2] != "=":  # C++20 has that one for a != b
            self.negated(start, end)
        elif kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.instead(start, end, "false" if text == "true" else "true")
        elif kind == Kind.RETURN_STMT:
            self.returned(children, start, end, text)
        elif len(children) >= 2 and kind.is_expression():
            self.operator(start, end, children)
        if kind.is_expression():
            self.number(start, end, text, parent)
        if kind == Kind.CALL_EXPR:
            self.call(cursor, start, end, text, parent)
        if parent is None:
            return
        if parent.kind == Kind.COMPOUND_STMT or (parent.kind in LOOPS | {Kind.IF_STMT} and self.is_body(start, end)):
            if kind in EFFECTS and not IDLE.match(text) and not text.startswith("static_cast<void>"):
                self.dropped(start, end)

    def is_body(self, start, end):
        """Of a loop or a condition, without braces."""
        return self.source[end:end + 1] == b";" and re.search(rb"(\)|\belse|\bdo)$", self.source[:start].rstrip()[-5:])

    def condition(self, cursor, children):
        for child in children:
            start, end = self.span(child)
            before = self.source[cursor.extent.start.offset:start].rstrip()
            if child.kind.is_expression() and before[-1:] in (b"(", b";") and self.source[end:].lstrip()[:1] == b")" \
                    and b"constexpr" not in before:
                self.negated(start, end)
                self.add(start, end, "false", f"(!mutants::on({ARGUMENT}) && static_cast<bool>(", "))")
                return

    def is_zero(self, cursor):
        """A name for what {} is, too."""
        while cursor.kind == Kind.UNEXPOSED_EXPR and len(list(cursor.get_children())) == 1:
            cursor = next(cursor.get_children())
        of = cursor.referenced if cursor.kind == Kind.DECL_REF_EXPR else None
        if of is None:
            return False
        if of.kind == Kind.ENUM_CONSTANT_DECL:
            return of.enum_value == 0
        return of.kind == Kind.VAR_DECL and bool(re.search(r"constexpr .*= 0$", " ".join(t.spelling for t in of.get_tokens())))

    def returned(self, children, start, end, text):
        value = text[len("return"):].strip()
        if children and self.is_zero(children[0]):
            return
        if value and value not in ("{}", "true", "false", "nullptr", "std::nullopt", "0", *self.nothings):
            end = self.source.find(b";", end) + 1
            self.add(start, end, "return {};", f"{{ if (mutants::on({ARGUMENT})) return {{}}; ", " }")
        elif not value:
            self.dropped(start, end)

    def operator(self, start, end, children):
        (a, b), (c, d) = self.span(children[0]), self.span(children[-1])
        if (a, d) != (start, end) or b > c:
            return
        left, operator, right = self.text(a, b), self.text(b, c).strip(), self.text(c, d)
        if operator == "+" and '"' in left + right:
            return  # a text's
        for other in SWAPPED.get(operator, []):
            self.instead(start, end, f"({left}) {other} ({right})")
        if operator in ("&&", "||"):
            for kept in (left, right):
                self.add(start, end, kept, f"(mutants::on({ARGUMENT}) ? static_cast<bool>({kept}) : (", "))")

    def number(self, start, end, text, parent):
        found = re.fullmatch(r"(0x[0-9a-fA-F']+|0|[1-9][0-9']*)([uUlLzZ]*|ns|us|ms|s|min|h|d)", text)
        if not found or parent.kind in (Kind.CASE_STMT, Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR, Kind.TYPE_REF):
            return
        if self.source[start - 1:start] == b"<" or self.source[end:end + 1] == b">":  # a template's argument
            return
        if parent.kind == Kind.VAR_DECL and self.source[:start].rstrip()[-1:] not in (b"=", b"(", b"{"):  # of its type
            return
        value = int(found[1].replace("'", ""), 0)
        for other in [value + 1] + [value - 1] * (value > 0):
            self.instead(start, end, f"{other}{found[2]}")

    def call(self, cursor, start, end, text, parent):
        for one, other in (("min", "max"), ("max", "min")):
            if re.match(rf"std::{one}\b", text):
                self.instead(start, end, text.replace(one, other, 1))
                return  # in either order it is the same
        if parent is not None and parent.kind == Kind.VAR_DECL and not self.source[:start].rstrip().endswith(b"="):
            return  # the declaration's own arguments
        arguments = [a for a in cursor.get_arguments() if a is not None]
        for first, second in zip(arguments, arguments[1:]):
            (a, b), (c, d) = self.span(first), self.span(second)
            kinds = {re.sub(r"^const | ?&+$", "", x.type.get_canonical().spelling) for x in (first, second)}
            t = self.text
            if start < a < b < c < d <= end and len(kinds) == 1 and t(a, b) != t(c, d) and not t(c, d).endswith("end()"):
                self.instead(start, end, t(start, a) + t(c, d) + t(b, c) + t(a, b) + t(d, end))


def candidates(path, name, arguments):
    """All mutants of the file, and what clang could not read in it, or None."""
    file = File(path, name, arguments)
    return sorted(file.found.values(), key=lambda m: (m["start"], -m["end"], m["became"])), file.complaint


def schema(source, path, mutants):
    """The source with these mutants in it, on the lines where they were; each has its `number`."""
    at = {}
    for rank, m in enumerate(sorted(mutants, key=lambda m: (m["start"], -m["end"], m["number"]))):
        at.setdefault(m["start"], []).append((1, -m["end"], rank, m["before"].replace(ARGUMENT, str(m["number"]))))
        at.setdefault(m["end"], []).append((0, -m["start"], -rank, m["after"]))
    # As a system's header, of which nobody is warned: a mutant may leave something unused.
    out, done = [PREAMBLE, f'# 1 "{path}" 3\n'.encode()], 0
    for place in sorted(at):
        out.append(source[done:place])
        out += [text.encode() for _, _, _, text in sorted(at[place])]
        done = place
    return b"".join(out) + source[done:]
