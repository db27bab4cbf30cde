# The one door to everything a person or CI runs here. `make help` lists the targets.
.PHONY: help venv test lint
help:
	@echo "venv test lint"
