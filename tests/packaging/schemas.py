# SPDX-License-Identifier: Apache-2.0
"""Holds a JSON schema that is shipped against an answer: what a reader may rely on is promised, in all its parts."""
import copy
import json

# Members whose words are few and known.
WORDS = {"role", "level_source", "transport", "state", "type", "order", "installed", "severity", "part", "device_type", "port_type",
         "protect", "flow_control", "admin", "scope"}


def validator(test, path):
    try:
        import jsonschema
    except ImportError:
        test.skipTest("python3-jsonschema is not installed")
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    test.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")  # else each reader has its own
    test.assertTrue(schema["title"] and schema["description"])
    test.assertEqual(schema["$id"], f"https://lldp-level.example/schema/{path.name}")
    return jsonschema.Draft202012Validator(schema)


def wrong(key, value, below_zero):
    """What a member of this value can never be."""
    yield {"no": "such thing"} if not isinstance(value, dict) else []
    if isinstance(value, bool) or value is None:
        yield "word" if value is not None else {}
    elif isinstance(value, (int, float)):
        yield from ("1",) if key in below_zero else ("1", -1)
    elif isinstance(value, str):
        yield 5
        if key in WORDS:
            yield "no-such-word"
    elif isinstance(value, list):
        yield "list"


def holds(test, schema, answer, optional=(), free=(), below_zero=()):
    """Every member is there and is what it is, and more may come. `optional`: members that need not be there, `free`: objects
    whose members' names nobody knows, `below_zero`: numbers that may be."""
    schema.validate(answer)
    seen = set()  # of many of one shape, one

    def accepted(path, change):
        value = copy.deepcopy(answer)
        at = value
        for key in path[:-1]:
            at = at[key]
        change(at, path[-1] if path else None)
        return schema.is_valid(value)

    def put(what):
        def change(at, key):
            at[key] = what
        return change

    def visit(path, value):
        name = next((key for key in reversed(path) if isinstance(key, str)), None)
        shape = (tuple("*" if isinstance(key, int) else key for key in path), type(value))
        if shape in seen:
            return
        seen.add(shape)
        if path:
            for other in wrong(name, value, below_zero):
                test.assertFalse(accepted(path, put(other)), f"{path} may be {other!r}")
        if isinstance(value, dict) and name not in free:
            test.assertTrue(accepted([*path, "a_new_one"], put({"anything": 1})), f"{path}: nothing new may come")
            for key in value:
                removed = accepted([*path, key], lambda at, key: at.pop(key))
                test.assertEqual(removed, key in optional, f"{[*path, key]} may be missing" if removed else f"{key} has to be there")
        for key, member in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            visit([*path, key], member)

    visit([], answer)
