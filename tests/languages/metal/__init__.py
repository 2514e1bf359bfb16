"""Metal through clang: source, signature, contract, headers, messages."""
