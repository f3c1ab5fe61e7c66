from wsgiref.util import setup_testing_defaults

from feed.config import load_config
from feed.service import create_service

PLAYER = "https://player.example"
STUDIO = "https://studio.example"


def ask(origin, method="GET"):
    config = load_config({"APP_ALLOWED_ORIGINS": f"{PLAYER}, {STUDIO}"})
    environ = {
        "PATH_INFO": "/episodes",
        "REQUEST_METHOD": method,
        "HTTP_ORIGIN": origin,
    }
    setup_testing_defaults(environ)
    answer = {}

    def start_response(status, headers):
        answer.update(status=status, headers=dict(headers))

    create_service(config)(environ, start_response)
    return answer["status"], answer["headers"]


def test_first_configured_origin_may_read_the_episodes():
    status, headers = ask(PLAYER)
    assert status == "200 OK"
    assert headers["Access-Control-Allow-Origin"] == PLAYER


def test_second_configured_origin_may_read_the_episodes():
    status, headers = ask(STUDIO)
    assert status == "200 OK"
    message = f"{STUDIO}, the second of the comma-separated origins, is not allowed"
    assert headers.get("Access-Control-Allow-Origin") == STUDIO, message


def test_preflight_of_the_second_configured_origin_is_allowed():
    status, headers = ask(STUDIO, method="OPTIONS")
    assert status == "204 No Content"
    message = f"no allowed methods in the preflight answer to {STUDIO}"
    assert headers.get("Access-Control-Allow-Methods") == "GET, OPTIONS", message


def test_origin_that_is_not_configured_gets_no_cors_header():
    status, headers = ask("https://elsewhere.example")
    assert status == "200 OK"
    assert "Access-Control-Allow-Origin" not in headers
