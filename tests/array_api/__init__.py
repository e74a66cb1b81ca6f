"""The array API standard's own tests on `gradd.array_api`: `make array-api ARRAY_API_TESTS=<its folder>`.

The suite is data-apis/array-api-tests, an outside one: a checkout with its submodule. `failing` says what
does not pass, and why.
"""
