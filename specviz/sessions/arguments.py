"""Arguments of the public endpoints, checked against their signatures: names here, kinds here, ranges in `settings`.

Every way in ends in one sentence for what is unknown, missing or of the wrong kind. `CheckedCalls` looks at requests
before Gradio does, which answers a wrong name with "Internal Server Error".

Example: ``complete(signature, {"promt": "Hi"})`` raises SettingsError("There is no argument promt; use …").
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from specviz.core.settings import KNOBS, SettingsError

_CALL = re.compile(r"/call/(v2/)?([^/]+)/?$")
_TRUTHS: Mapping[Any, bool] = {True: True, False: False, "true": True, "false": False, "1": True, "0": False}
_GRADIO_OWN = ("oauth_token",)


def check_kinds(signature: Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with truths as truths, or SettingsError for the first value that is of the wrong kind.

    Numbers are left to `settings.KNOBS`, which knows their ranges; names of a menu to RunSettings.
    """
    return {name: _checked(parameter, given[name]) for name, parameter in signature.parameters.items()}


def _checked(parameter: Parameter, value: Any) -> Any:
    name, default = parameter.name, parameter.default
    if isinstance(default, bool):
        key = value.lower() if isinstance(value, str) else value
        if isinstance(key, (bool, int, str)) and key in _TRUTHS:
            return _TRUTHS[key]
        raise SettingsError(f"{name} must be on or off (true or false); you gave {_short(value)}.")
    if name in KNOBS or isinstance(value, str) or (value is None and default is not Parameter.empty):
        return value
    lists = "list" in str(parameter.annotation)
    if lists and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise SettingsError(f"The {name} must be a text{' or a list of texts' if lists else ''}; you gave {_short(value)}.")


def complete(signature: Signature, given: Any) -> dict[str, Any]:
    """All arguments of a call by name. `given`: some of them by name, or a list of the first ones.

    Raises SettingsError for an unknown or a missing one.
    """
    known = signature.parameters
    if isinstance(given, list):
        if len(given) > len(known):
            raise SettingsError(f"Give at most {len(known)} values, in this order: {', '.join(known)}.")
        given = dict(zip(known, given, strict=False))
    if not isinstance(given, dict):
        raise SettingsError("Give the arguments as a JSON object of names and values.")
    if unknown := [name for name in given if name not in known]:
        raise SettingsError(f"There is no argument {_short(unknown[0])}; use {', '.join(known)}.")
    usual = {name: parameter.default for name, parameter in known.items() if parameter.default is not Parameter.empty}
    if missing := [name for name in known if name not in given and name not in usual]:
        raise SettingsError(f"The argument {missing[0]} is missing; add it.")
    return {name: given.get(name, usual.get(name)) for name in known}


class CheckedCalls:
    """ASGI middleware: a POST to an endpoint goes on with all its arguments, or is answered with one sentence."""

    def __init__(self, app: Callable[..., Awaitable[None]], signatures: Mapping[str, Signature]) -> None:
        self.app = app
        self.signatures = signatures

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        call = _CALL.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if call is None:
            return await self.app(scope, receive, send)
        body = await _read(receive)
        try:
            body = self._completed(call[2], bool(call[1]), body)
        except SettingsError as error:
            return await _answer(send, 422, str(error))
        except KeyError:
            names = ", ".join(self.signatures)
            return await _answer(send, 404, f"There is no endpoint {_short(call[2])}; use {names}.")

        async def again() -> dict[str, Any]:
            nonlocal body
            told, body = body, b""
            return {"type": "http.request", "body": told, "more_body": False} if told else await receive()

        headers = [(k, v) for k, v in scope["headers"] if k.lower() != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        return await self.app({**scope, "headers": [*headers, length]}, again, send)

    def _completed(self, name: str, by_name: bool, body: bytes) -> bytes:
        signature = self.signatures[name]
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise SettingsError(
                "The request is not JSON; give the arguments as a JSON object of names and values."
            ) from error
        if by_name:
            own = {key: asked.pop(key) for key in _GRADIO_OWN if isinstance(asked, dict) and key in asked}
            return json.dumps(complete(signature, asked) | own).encode()
        if not isinstance(asked, dict) or not isinstance(asked.get("data"), list):
            raise SettingsError('Give the arguments as {"data": [value, …]}, in their order.')
        return json.dumps(asked | {"data": list(complete(signature, asked["data"]).values())}).encode()


async def _read(receive: Any) -> bytes:
    pieces, more = [], True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


async def _answer(send: Any, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
