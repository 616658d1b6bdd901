"""Write the list of all learners that `verulam learners` and `verulam find` read."""

import json
from dataclasses import asdict
from pathlib import Path

import verulam
from verulam.base import write_whole
from verulam.catalogue._entries import inspected, listed_packages, stamp

if __name__ == "__main__":
    packages = {
        package: {
            "stamp": stamp(package),
            "learners": [asdict(row) for row in inspected(package)],
        }
        for package in listed_packages()
    }
    file = Path(verulam.__file__).parent / "catalogue" / "learners.json"
    write_whole(file, json.dumps(packages, indent=1, ensure_ascii=False) + "\n")
    print(f"{sum(len(part['learners']) for part in packages.values())} learners in {file}")
