# Only forwards to ./dev, where everything is.
.PHONY: all setup build demo test bench fuzz coverage install doc format lint
all: build
setup build demo test bench fuzz coverage install doc format lint:
	@./dev $@
