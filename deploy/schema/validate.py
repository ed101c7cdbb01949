"""Checks every manifest of a folder: Kubernetes' own kinds by kubernetes-validate, ScaledObjects by the schema beside this file.

Run by scripts/manifests, which sees to the packages. Says what is wrong, all of it, and exits 1.
"""

import json
import pathlib
import sys

import jsonschema
import kubernetes_validate
import yaml

# The oldest Kubernetes the manifests are meant for (preStop sleep), and the newest the package knows.
VERSIONS = ["1.30", kubernetes_validate.latest_version()]
KEDA = json.loads((pathlib.Path(__file__).parent / "scaledobject.json").read_text())


def problems(document):
    if document.get("kind") == "ScaledObject":
        for error in jsonschema.Draft202012Validator(KEDA).iter_errors(document):
            yield f"{error.json_path}: {error.message}"
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"Kubernetes {version}: {'.'.join(str(part) for part in error.path)}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError as error:
            yield error.message


def main(folder):
    seen, bad, names = 0, 0, {}
    for file in sorted(pathlib.Path(folder).glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            seen += 1
            title = f"{document.get('kind')} {document.get('metadata', {}).get('name')}"
            found = list(problems(document))
            if title in names:
                found.append(f"is in {names[title]} too")
            names[title] = file.name
            for problem in found:
                bad += 1
                print(f"{file}: {title}: {problem}")
    if seen == 0:
        print(f"{folder}: no manifest")
        return 1
    print(f"{seen} manifests, {bad} problem(s)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
