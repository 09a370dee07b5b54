"""Generates a collection for Postman (v2.1), which Bruno imports too, from the interface document."""

import json
from collections.abc import Iterator
from typing import Any

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_FORM = "application/x-www-form-urlencoded"
_NEW_KEY = "{{$guid}}"  # both programs replace it by a new UUID in each request
_BASIC = [("username", "{{clientId}}"), ("password", "{{clientSecret}}")]
_VARIABLES = {
    "apiKey": "Your API key.",
    "clientId": "Of an application; only for access tokens.",
    "clientSecret": "Of an application; only for access tokens.",
    "subjectToken": "A customer's consent, a JWT; only for access tokens.",
    "code": "From `/auth/authorize`; only for consent.",
    "codeVerifier": "The secret of the code; only for consent.",
    "refreshToken": "From the response to the code; only for consent.",
}
_FROM_VARIABLES = {
    "subject_token": "{{subjectToken}}",
    "code": "{{code}}",
    "code_verifier": "{{codeVerifier}}",
    "refresh_token": "{{refreshToken}}",
    "token": "{{refreshToken}}",
}
_DESCRIPTION = (
    "Set the variables `baseUrl` and `apiKey` first. The requests work with the demo data without changes. Enable the "
    "query parameters that you need."
)

Json = dict[str, Any]


def postman_collection(document: Json) -> Json:
    """Return the collection: a folder per tag, with a request for each operation and body example."""
    folders: dict[str, Json] = {
        tag["name"]: {"name": tag["name"], "description": tag["description"], "item": []} for tag in document["tags"]
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            folders[operation["tags"][0]]["item"] += _requests(path, method.upper(), operation)
    variables = [{"key": name, "value": "", "description": text} for name, text in _VARIABLES.items()]
    base_url = {"key": "baseUrl", "value": document["servers"][0]["url"], "description": "The API's URL."}
    return {
        "info": {"name": document["info"]["title"], "description": _DESCRIPTION, "schema": _SCHEMA},
        "item": list(folders.values()),
        "variable": [base_url, *variables],
    }


def _requests(path: str, method: str, operation: Json) -> Iterator[Json]:
    [(media_type, media)] = operation.get("requestBody", {"content": {"": {}}})["content"].items()
    examples = media.get("examples", {"": {"summary": "", "value": None}}).values()
    for number, example in enumerate(examples):
        more = f": {example['summary']}" if number else ""
        request: Json = {
            "method": method,
            "header": list(_headers(operation, media_type)),
            "url": _url(path, operation),
            "description": operation["description"],
        }
        if media_type:
            request["body"] = _body(media_type, example["value"])
        if media_type == _FORM:
            basic = [{"key": key, "value": value, "type": "string"} for key, value in _BASIC]
            request["auth"] = {"type": "basic", "basic": basic}
        yield {"name": operation["summary"] + more, "request": request, "response": []}


def _headers(operation: Json, media_type: str) -> Iterator[Json]:
    if "security" not in operation:
        yield {"key": "X-Api-Key", "value": "{{apiKey}}"}
    accepted = next(iter(next(iter(operation["responses"].values())).get("content", {})), None)
    if accepted is not None:
        yield {"key": "Accept", "value": accepted}
    if media_type:
        yield {"key": "Content-Type", "value": media_type}
    for parameter in _parameters(operation, "header"):
        if parameter["name"] == "Idempotency-Key":
            yield {"key": parameter["name"], "value": _NEW_KEY, "description": parameter["description"]}
        else:
            yield {**_pair(parameter), "disabled": True}


def _url(path: str, operation: Json) -> Json:
    parts = [f":{part[1:-1]}" if part.startswith("{") else part for part in path.split("/")[1:]]
    url: Json = {"raw": "/".join(["{{baseUrl}}", *parts]), "host": ["{{baseUrl}}"], "path": parts}
    if query := [{**_pair(parameter), "disabled": True} for parameter in _parameters(operation, "query")]:
        url["query"] = query
    if variables := [_pair(parameter) for parameter in _parameters(operation, "path")]:
        url["variable"] = variables
    return url


def _parameters(operation: Json, place: str) -> Iterator[Json]:
    return (parameter for parameter in operation.get("parameters", []) if parameter["in"] == place)


def _pair(parameter: Json) -> Json:
    example = parameter["example"]
    value = ",".join(example) if isinstance(example, list) else str(example)
    return {"key": parameter["name"], "value": value, "description": parameter["description"]}


def _body(media_type: str, example: Json) -> Json:
    if media_type == _FORM:
        fields = {name: _FROM_VARIABLES.get(name, value) for name, value in example.items()}
        return {"mode": "urlencoded", "urlencoded": [{"key": key, "value": value} for key, value in fields.items()]}
    text = json.dumps(example, indent=2, ensure_ascii=False)
    return {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}
