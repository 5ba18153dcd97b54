"""Writes JSON schemas that kubeconform reads: schemas.py OUT VERSION... -- CRD...

The schemas of Kubernetes come from the package kubernetes-validate. Each written one is
complete in itself: kubeconform does not follow the references between them. A CRD is a
YAML file of an operator; fields that it does not have are refused, as by -strict.
"""

import json
import pathlib
import re
import sys

import kubernetes_validate
import yaml


def kubernetes(out, version):
    source = pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{version}-local-strict"
    definitions = read(source / "_definitions.json")["$defs"]
    folder = out / f"v{version}"
    folder.mkdir(parents=True)
    for path in source.glob("*.json"):
        schema = read(path)
        if "x-kubernetes-group-version-kind" in schema:  # not a part of another object
            schema["$defs"] = reachable(schema, definitions)
            (folder / path.name).write_text(json.dumps(schema))


def read(path):
    """Returns a schema whose references to the file of definitions are its own."""
    return json.loads(re.sub(r'"[^"#]*_definitions\.json#/', '"#/', path.read_text()))


def reachable(schema, definitions):
    """Returns the definitions that the schema refers to, also indirectly."""
    found, pending = {}, [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            name = reference.removeprefix("#/$defs/") if isinstance(reference, str) else None
            if name and name not in found:
                found[name] = definitions[name]
                pending.append(definitions[name])
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return found


def custom(out, path):
    for document in yaml.safe_load_all(path.read_text()):
        if not document or document.get("kind") != "CustomResourceDefinition":
            continue
        group, kind = document["spec"]["group"], document["spec"]["names"]["kind"].lower()
        for version in document["spec"]["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            (out / f"{kind}-{group.split('.')[0]}-{version['name']}.json").write_text(json.dumps(schema))


def strict(node, inside=False):
    if isinstance(node, list):
        return [strict(item, True) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: strict(value, True) for key, value in node.items()}
    if inside and isinstance(node.get("properties"), dict) and not node.get("x-kubernetes-preserve-unknown-fields"):
        node.setdefault("additionalProperties", False)
    if node.get("x-kubernetes-int-or-string"):
        node.pop("type", None)
    return node


def main(out, *arguments):
    split = arguments.index("--")
    out = pathlib.Path(out)
    for version in arguments[:split]:
        kubernetes(out, version)
    for path in arguments[split + 1 :]:
        custom(out, pathlib.Path(path))


main(*sys.argv[1:])
