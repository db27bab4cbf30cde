"""Keys whose names would change where a command goes, or what runs: no command is given one."""

from __future__ import annotations

import pytest

from engine.requests.key_use import is_variable

STEERING = """
LD_PRELOAD DYLD_INSERT_LIBRARIES PATH HOME CLASSPATH JAVA_HOME HTTPS_PROXY https_proxy ALL_PROXY NO_PROXY
SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE JAVA_TOOL_OPTIONS _JAVA_OPTIONS NODE_OPTIONS
PYTHONSTARTUP PYTHONPATH PERL5LIB PERL5OPT RUBYOPT BASH_ENV ENV GIT_SSH_COMMAND GIT_CONFIG_COUNT
NPM_CONFIG_REGISTRY npm_config_script_shell AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 OPENAI_BASE_URL MAVEN_OPTS
DOCKER_HOST KUBECONFIG RUSTC_WRAPPER PIP_INDEX_URL
"""
PLAIN = """
STRIPE_KEY GITHUB_TOKEN GITLAB_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID DATABASE_URL OPENAI_API_KEY
NPM_TOKEN PYPI_TOKEN UV_PUBLISH_TOKEN CARGO_REGISTRY_TOKEN SSH_KEY SSL_KEY SENTRY_DSN SLACK_WEBHOOK_URL
HOMEBREW_GITHUB_API_TOKEN DOCKER_PASSWORD JAVA_KEYSTORE_PASSWORD
"""


@pytest.mark.parametrize("name", STEERING.split())
def test_no_command_is_given_a_key_that_steers_it(name: str) -> None:
    assert not is_variable(name)


@pytest.mark.parametrize("name", PLAIN.split())
def test_a_key_by_a_plain_name_may_be_given(name: str) -> None:
    assert is_variable(name)
